// The squared error, and the cross entropy of labelled rows.
//
// A label that is no class makes the loss and the gradient of its row NaN: to refuse it, the host
// would have to wait for it.
#include "columns.cuh"
#include "exponentials.cuh"
#include "rows.cuh"
#include "spread.cuh"

// The sum of squares, divided by the number.
template <class T> struct Squares : AddUp<computed<T>> {
  double number;
  __device__ Squares(double number) : number(number) {}
  __device__ __forceinline__ void take(computed<T>& few, computed<T> x, i64) const { few += x * x; }
  __device__ __forceinline__ double finish(double a) const { return a / number; }
};

// How many labels are not the number, at least 1.
template <class L> struct Used {
  typedef int Few;
  typedef i64 Total;
  i64 ignored;
  __device__ Used(double number) : ignored(static_cast<i64>(number)) {}
  static __device__ __forceinline__ int none() { return 0; }
  __device__ __forceinline__ void take(int& few, L label, i64) const { few += static_cast<i64>(label) != ignored; }
  template <class A> __device__ __forceinline__ void join(A& a, const A& b) const { a += b; }
  static __device__ __forceinline__ i64 total(int few) { return few; }
  static __device__ __forceinline__ i64 finish(i64 a) { return a > 0 ? a : 1; }
};

// What a loss with smoothed labels is made of: the exponentials, and the plain sum.
template <class C, class Sum> struct ScoreSums {
  Exponentials<C> powers;
  Sum all;
};
template <class T> struct Scores {
  typedef computed<T> C;
  typedef ScoreSums<C, C> Few;
  typedef ScoreSums<C, double> Total;
  __device__ Scores(double = 0) {}
  static __device__ __forceinline__ Few none() { return Few{no_exponentials<C>(), 0}; }
  __device__ __forceinline__ void take(Few& few, C x, i64) const {
    raise_top(few.powers, x);
    few.powers.sum += quick_exp(x - few.powers.top);
    few.all += x;
  }
  template <class A> __device__ __forceinline__ void join(A& a, const A& b) const {
    join_exponentials(a.powers, b.powers);
    a.all += b.all;
  }
  static __device__ __forceinline__ Total total(const Few& few) { return Total{few.powers, few.all}; }
  static __device__ __forceinline__ C finish(const Total& a) { return log(a.powers.sum) + a.powers.top; }
};

template <class C> __device__ __forceinline__ Exponentials<C>& powers_of(Exponentials<C>& sums) { return sums; }
template <class C, class Sum> __device__ __forceinline__ Exponentials<C>& powers_of(ScoreSums<C, Sum>& sums) { return sums.powers; }
template <class C> __device__ __forceinline__ void add_score(Exponentials<C>&, C) {}
template <class C> __device__ __forceinline__ void add_score(ScoreSums<C, C>& sums, C x) { sums.all += x; }
template <class C> __device__ __forceinline__ double all_of(const Exponentials<C>&) { return 0; }
template <class C> __device__ __forceinline__ double all_of(const ScoreSums<C, double>& sums) { return sums.all; }

// Where labels, losses and the logarithms of the rows' sums stand, and what is done with labels.
template <class T, class L> struct Labelled {
  const T* x;
  const L* labels;
  T* loss;
  double* total;
  double smoothing;
  i64 ignored;

  // The loss of label i, whose row of n, with others `inner` apart, has these sums.
  template <class Sums> __device__ __forceinline__ void finish(i64 i, i64 n, i64 inner, Sums sums) const {
    typedef computed<T> C;
    i64 label = static_cast<i64>(labels[i]), outer = i / inner;
    const Exponentials<C>& powers = powers_of(sums);
    C logarithm = log(powers.sum), result = 0;
    if (label < 0 || label >= n) {
      result = Limits<C>::nan();
    } else {
      C target = widen(x[(outer * n + label) * inner + (i - outer * inner)]) - powers.top;
      if (smoothing != 0) target = static_cast<C>(1 - smoothing) * target + static_cast<C>(smoothing * (all_of(sums) / n - powers.top));
      result = logarithm - target;
    }
    loss[i] = narrow<T>(label == ignored ? C(0) : result);
    total[i] = static_cast<double>(logarithm) + powers.top;
  }
};

// The loss of each label and the logarithm of its row's sum of exponentials, of the rows' sums. F is
// LogSumExp or, for smoothed labels, Scores.
template <class F, class T, class L>
__global__ void __launch_bounds__(256)
cross_entropy(i64 count, i64 n, i64 inner, const typename F::Total* sums, const T* x, const L* labels, T* loss, double* total, double smoothing, i64 ignored) {
  i64 i = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (i < count) Labelled<T, L>{x, labels, loss, total, smoothing, ignored}.finish(i, n, inner, sums[i]);
}

// The same of rows that are held in registers.
template <class F, class T, class L, int V, int K, int LANES>
__global__ void __launch_bounds__(Threads<LANES>::value)
cross_entropy_rows(i64 rows, i64 n, const T* x, const L* labels, T* loss, double* total, double smoothing, i64 ignored) {
  typedef computed<T> C;
  i64 row = row_of_thread<LANES>();
  Rows<T, V, K, LANES, 1> held(n);
  held.p[0] = x;
  F f;
  typename F::Few few = f.none();
  if (row < rows) {
    Exponentials<C>& powers = powers_of(few);
    held.load(row * n);
    held.each([&](const C(&v)[1][V], int) {
#pragma unroll
      for (int k = 0; k < V; ++k) powers.top = fmax(powers.top, v[0][k]);
    });
    powers.top = fmin(powers.top, Limits<C>::finite());
    held.each([&](const C(&v)[1][V], int) {
#pragma unroll
      for (int k = 0; k < V; ++k) {
        powers.sum += quick_exp(v[0][k] - powers.top);
        add_score(few, v[0][k]);
      }
    });
  }
  typename F::Total sums = f.total(few);
  row_join<LANES>(f, sums);
  if (row < rows && held.lane == 0) Labelled<T, L>{x, labels, loss, total, smoothing, ignored}.finish(row, n, 1, sums);
}

// The softmax less the labelled element's 1, times the gradient of the loss.
template <class T, class L> struct CrossEntropyGrad {
  typedef computed<T> C;
  C high, scale, even, marked;
  i64 label;
  bool ignored;
  __device__ __forceinline__ CrossEntropyGrad(const Beside& beside, i64 group) {
    label = static_cast<i64>(static_cast<const L*>(beside.p)[group]);
    double total = static_cast<const double*>(beside.q)[group];
    C g = widen(static_cast<const T*>(beside.r)[group]);
    ignored = label == beside.integer;
    if (label < 0 || label >= static_cast<i64>(beside.second)) g = Limits<C>::nan();
    high = static_cast<C>(total);
    // What float32 cannot hold of the logarithm is taken off the factor.
    scale = g * exp(-static_cast<C>(total - high));
    even = g * static_cast<C>(beside.number / beside.second);
    marked = g * static_cast<C>(1 - beside.number);
  }
  __device__ __forceinline__ C operator()(C x, C, i64 j) const {
    C slope = power<T>(x - high) * scale - even;
    if (j == label) slope -= marked;
    return ignored ? C(0) : slope;
  }
};

// The labelled element of each row: 0 if it is ignored, NaN if there is none.
template <class T, class L>
__global__ void __launch_bounds__(256) take_class(i64 count, i64 n, i64 inner, const T* x, const L* labels, T* out, i64 ignored) {
  i64 i = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= count) return;
  i64 label = static_cast<i64>(labels[i]), outer = i / inner;
  T found = narrow<T>(Limits<computed<T>>::nan());
  if (label == ignored) found = narrow<T>(computed<T>(0));
  else if (label >= 0 && label < n) found = x[(outer * n + label) * inner + (i - outer * inner)];
  out[i] = found;
}

// Puts x at the labelled places; out is 0 elsewhere.
template <class T, class L>
__global__ void __launch_bounds__(256) put_class(i64 count, i64 n, i64 inner, const T* x, const L* labels, T* out, i64 ignored) {
  i64 i = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= count) return;
  i64 label = static_cast<i64>(labels[i]), outer = i / inner;
  if (label != ignored && label >= 0 && label < n) out[(outer * n + label) * inner + (i - outer * inner)] = x[i];
}
