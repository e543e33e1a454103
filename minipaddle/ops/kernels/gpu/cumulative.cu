// All results on the way as elements are joined one after the other, in double or i64.
//
// A functor says what element j of a row, which is number `at` of the array, is as a State, how two
// are joined, the first of which is that of the earlier elements, and what the result is. x is the
// array; gradients also look at y, what came of x, and at g, the gradient of that. `step` leads to
// the next of a row.
#include "limits.cuh"

template <class S> struct Wide { typedef i64 type; };
template <> struct Wide<float> { typedef double type; };
template <> struct Wide<double> { typedef double type; };

// x as an element of type S would be.
template <class S, class T> __device__ __forceinline__ typename Wide<computed<S>>::type as_wide(T x) {
  return static_cast<typename Wide<computed<S>>::type>(widen(narrow<S>(widen(x))));
}

template <class S> struct Single {
  typedef typename Wide<computed<S>>::type State;
  template <class T, class U> static __device__ __forceinline__ State state(const T* x, const U*, const U*, i64 at, i64, i64, i64) {
    return as_wide<S>(x[at]);
  }
  template <class T, class U> static __device__ __forceinline__ State finish(State a, const T*, const U*, i64, i64, i64) { return a; }
};
template <class S> struct CumSum : Single<S> {
  typedef typename Single<S>::State State;
  static __device__ __forceinline__ State none() { return 0; }
  static __device__ __forceinline__ State join(State a, State b) { return a + b; }
};
template <class S> struct CumProd : Single<S> {
  typedef typename Single<S>::State State;
  static __device__ __forceinline__ State none() { return 1; }
  static __device__ __forceinline__ State join(State a, State b) { return a * b; }
};

// sum exp(x - top), where top is the largest, and finite.
struct Powers { double top, sum; };
template <class S> struct LogCumSumExp {
  typedef Powers State;
  static __device__ __forceinline__ State none() { return Powers{-Limits<double>::finite(), 0}; }
  template <class T, class U> static __device__ __forceinline__ State state(const T* values, const U*, const U*, i64 at, i64, i64, i64) {
    double x = as_wide<S>(values[at]), most = Limits<double>::finite(), top = fmax(fmin(x, most), -most);
    return Powers{top, exp(x - top)};
  }
  static __device__ __forceinline__ State join(const State& a, const State& b) {
    double scale = exp(-fabs(a.top - b.top));
    return b.top > a.top ? Powers{b.top, a.sum * scale + b.sum} : Powers{a.top, a.sum + b.sum * scale};
  }
  template <class T, class U> static __device__ __forceinline__ double finish(const State& a, const T*, const U*, i64, i64, i64) {
    return log(a.sum) + a.top;
  }
};

// Sums t of t[j] = g[j] + ratio[j] t[j + 1], from the end.
struct Carried { double ratio, sum; };
struct Recurrence {
  typedef Carried State;
  static __device__ __forceinline__ State none() { return Carried{1, 0}; }
  static __device__ __forceinline__ State join(const State& a, const State& b) {
    return Carried{b.ratio * a.ratio, b.sum + b.ratio * a.sum};
  }
};
// x[j] is in all products from the j-th on: that before j times the sum of g[i] x[j + 1] ... x[i].
template <class S> struct CumProdGrad : Recurrence {
  template <class T, class U> static __device__ __forceinline__ State state(const T* x, const U*, const U* g, i64 at, i64 j, i64 n, i64 step) {
    return Carried{j + 1 < n ? static_cast<double>(widen(x[at + step])) : 0, static_cast<double>(widen(g[at]))};
  }
  template <class T, class U> static __device__ __forceinline__ double finish(const State& a, const T*, const U* y, i64 at, i64 j, i64 step) {
    return j > 0 ? a.sum * widen(y[at - step]) : a.sum;
  }
};
// The sum of g[i] exp(x[j] - y[i]) over i >= j, by ratios that are at most 1 as y rises.
template <class S> struct LogCumSumExpGrad : Recurrence {
  template <class T, class U> static __device__ __forceinline__ State state(const T*, const U* y, const U* g, i64 at, i64 j, i64 n, i64 step) {
    double rise = j + 1 < n ? static_cast<double>(widen(y[at])) - widen(y[at + step]) : 0;
    return Carried{rise != rise ? 0 : exp(rise), static_cast<double>(widen(g[at]))};
  }
  template <class T, class U> static __device__ __forceinline__ double finish(const State& a, const T* x, const U* y, i64 at, i64, i64) {
    double total = widen(y[at]);
    return a.sum * exp(widen(x[at]) - (total == Limits<double>::low() ? 0 : total));
  }
};

// Of states that other blocks have found.
template <class F> struct Again {
  typedef typename F::State State;
  static __device__ __forceinline__ State none() { return F::none(); }
  static __device__ __forceinline__ State state(const State* x, const State*, const State*, i64 at, i64, i64, i64) { return x[at]; }
  static __device__ __forceinline__ State join(const State& a, const State& b) { return F::join(a, b); }
  static __device__ __forceinline__ State finish(const State& a, const State*, const State*, i64, i64, i64) { return a; }
};
template <class Out, class R> __device__ __forceinline__ void write(Out* out, const R& x) { *out = narrow<Out>(x); }
__device__ __forceinline__ void write(Powers* out, const Powers& x) { *out = x; }
__device__ __forceinline__ void write(Carried* out, const Carried& x) { *out = x; }

const int ITEMS = 8;  // neighbours that a thread joins

// A block goes through a chunk of a row. Without `out` it leaves in `found` what all of the chunk
// makes together; else found, where there is one, holds that up to the end of each chunk.
template <class F, class T, class U, class Out>
__global__ void __launch_bounds__(256) scan(i64 splits, i64 n, i64 chunk, i64 backwards, const T* x, const U* y, const U* g, Out* out, typename F::State* found) {
  typedef typename F::State State;
  __shared__ State held[256];
  i64 row = blockIdx.x / splits, part = blockIdx.x - row * splits;
  i64 begin = part * chunk, end = begin + chunk < n ? begin + chunk : n, base = row * n;
  State before = out && found && part > 0 ? found[blockIdx.x - 1] : F::none();
  for (i64 tile = begin; tile < end; tile += 256 * ITEMS) {
    i64 first = tile + static_cast<i64>(threadIdx.x) * ITEMS;
    State state[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      i64 j = backwards ? n - 1 - (first + k) : first + k;
      state[k] = first + k < end ? F::state(x, y, g, base + j, j, n, 1) : F::none();
      if (k > 0) state[k] = F::join(state[k - 1], state[k]);
    }
    State all = state[ITEMS - 1];
    held[threadIdx.x] = all;
    for (int step = 1; step < 256; step *= 2) {
      __syncthreads();
      if (threadIdx.x >= step) all = F::join(held[threadIdx.x - step], all);
      __syncthreads();
      held[threadIdx.x] = all;
    }
    __syncthreads();
    if (out) {
      State earlier = threadIdx.x > 0 ? F::join(before, held[threadIdx.x - 1]) : before;
#pragma unroll
      for (int k = 0; k < ITEMS; ++k) {
        i64 j = backwards ? n - 1 - (first + k) : first + k;
        if (first + k < end) write(out + base + j, F::finish(F::join(earlier, state[k]), x, y, base + j, j, 1));
      }
    }
    before = F::join(before, held[255]);
    __syncthreads();
  }
  if (!out && threadIdx.x == 0) found[blockIdx.x] = before;
}

// Many or short rows, whose elements lie inner apart: a thread goes through one of them.
template <class F, class T, class U, class Out>
__global__ void __launch_bounds__(256) scan_lines(i64 lines, i64 n, i64 inner, i64 backwards, const T* x, const U* y, const U* g, Out* out) {
  i64 line = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (line >= lines) return;
  i64 outer = line / inner, base = outer * n * inner + (line - outer * inner);
  typename F::State state = F::none();
  for (i64 i = 0; i < n; ++i) {
    i64 j = backwards ? n - 1 - i : i, at = base + j * inner;
    state = F::join(state, F::state(x, y, g, at, j, n, inner));
    write(out + at, F::finish(state, x, y, at, j, inner));
  }
}
