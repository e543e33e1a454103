// One loop for every function that works element by element.
//
// An operand is an Array<T>, a One<T> (a single element, read for all), a Number<C> (a number of
// the host) or a Rounded<T> (one that is rounded to the element type first, as a comparison wants
// it). A function F is an object called with one value of each, in the type that it is computed in;
// what it returns is rounded to the element type of the result.
#pragma once
#include "element.cuh"

// Functions of values of one type, by an expression in x, y and z.
#define FUNCTION_OF_X(Name, ...) \
  template <class C> struct Name { __device__ __forceinline__ C operator()(C x) const { return __VA_ARGS__; } }
#define FUNCTION_OF_XY(Name, ...) \
  template <class C> struct Name { __device__ __forceinline__ C operator()(C x, C y) const { return __VA_ARGS__; } }
#define FUNCTION_OF_XYZ(Name, ...) \
  template <class C> struct Name { __device__ __forceinline__ C operator()(C x, C y, C z) const { return __VA_ARGS__; } }

// at(a, n): the operand from its element n on.
template <class T> struct Array {
  typedef const T* slot;
  static __device__ __forceinline__ slot at(slot p, i64 n) { return p + n; }
};
template <class T> struct One : Array<T> {};
template <class C> struct Number {
  typedef typename Passed<C>::type slot;
  static __device__ __forceinline__ slot at(slot number, i64) { return number; }
};
template <class T> struct Rounded : Number<computed<T>> {};

// Of an operand, the V values that belong to pack i.
template <class A, int V> struct Values;
template <class T, int V> struct Values<Array<T>, V> {
  Pack<T, V> pack;
  __device__ __forceinline__ Values(const T* p, i64 i) : pack(reinterpret_cast<const Pack<T, V>*>(p)[i]) {}
  __device__ __forceinline__ computed<T> operator[](int k) const { return widen(pack.v[k]); }
};
template <class T, int V> struct Values<One<T>, V> {
  computed<T> value;
  __device__ __forceinline__ Values(const T* p, i64) : value(widen(*p)) {}
  __device__ __forceinline__ computed<T> operator[](int) const { return value; }
};
// Beside ints a number keeps its own width: a comparison needs it, arithmetic wraps around.
template <class C, int V> struct Values<Number<C>, V> {
  typedef typename Passed<C>::type slot;
  typedef typename Either<IsFloat<C>::value, C, slot>::type type;
  type value;
  __device__ __forceinline__ Values(slot number, i64) : value(static_cast<type>(number)) {}
  __device__ __forceinline__ type operator[](int) const { return value; }
};
template <class T, int V> struct Values<Rounded<T>, V> : Values<Number<computed<T>>, V> {
  typedef typename Passed<computed<T>>::type slot;
  __device__ __forceinline__ Values(slot number, i64 i) : Values<Number<computed<T>>, V>(rounded(number), i) {}
  static __device__ __forceinline__ slot rounded(slot number) {
    if constexpr (IsFloat<computed<T>>::value) return static_cast<slot>(widen(narrow<T>(number)));
    else return number;
  }
};

// The values of all operands for pack i; call(f, k) is f of the k-th ones.
template <int V, class... A> struct Loaded;
template <int V> struct Loaded<V> {
  __device__ __forceinline__ Loaded(i64) {}
  template <class F, class... X> __device__ __forceinline__ auto call(F f, int, X... x) const { return f(x...); }
};
template <int V, class A, class... More> struct Loaded<V, A, More...> {
  Values<A, V> first;
  Loaded<V, More...> rest;
  __device__ __forceinline__ Loaded(i64 i, typename A::slot a, typename More::slot... more) : first(a, i), rest(i, more...) {}
  template <class F, class... X> __device__ __forceinline__ auto call(F f, int k, X... x) const {
    return rest.call(f, k, x..., first[k]);
  }
};

// N packs, i and those that follow in steps: all are read before the first result is written.
template <int N, class F, class Out, int V, class... A> struct Batch {
  Loaded<V, A...> here;
  Batch<N - 1, F, Out, V, A...> others;
  __device__ __forceinline__ Batch(i64 i, i64 step, typename A::slot... a) : here(i, a...), others(i + step, step, a...) {}
  __device__ __forceinline__ void write(Out* out, i64 i, i64 step) const {
    Pack<Out, V> result;
#pragma unroll
    for (int k = 0; k < V; ++k) result.v[k] = narrow<Out>(here.call(F(), k));
    reinterpret_cast<Pack<Out, V>*>(out)[i] = result;
    others.write(out, i + step, step);
  }
};
template <class F, class Out, int V, class... A> struct Batch<0, F, Out, V, A...> {
  __device__ __forceinline__ Batch(i64, i64, typename A::slot...) {}
  __device__ __forceinline__ void write(Out*, i64, i64) const {}
};

// Packs that a thread works at a time.
template <int V> struct Packs { static const int value = V > 1 ? 2 : 4; };

// Packs i, i + step, ... below the end.
template <class F, class Out, int V, class... A>
__device__ __forceinline__ void walk(i64 i, i64 step, i64 end, Out* out, typename A::slot... a) {
  const int N = Packs<V>::value;
  for (; i + step * (N - 1) < end; i += step * N) Batch<N, F, Out, V, A...>(i, step, a...).write(out, i, step);
  for (; i < end; i += step) Batch<1, F, Out, V, A...>(i, step, a...).write(out, i, step);
}

// All arrays lie without gaps and in one order. A block works neighbouring packs, the last one also
// the elements that are left over.
template <class F, class Out, int V, class... A>
__global__ void __launch_bounds__(256) flat(i64 n, Out* out, typename A::slot... a) {
  i64 packs = n / V, first = static_cast<i64>(blockIdx.x) * (blockDim.x * Packs<V>::value);
  i64 end = first + blockDim.x * Packs<V>::value;
  walk<F, Out, V, A...>(first + threadIdx.x, blockDim.x, end < packs ? end : packs, out, a...);
  if (V > 1 && blockIdx.x == gridDim.x - 1) {
    i64 j = packs * V + threadIdx.x;
    if (j < n) Batch<1, F, Out, 1, A...>(j, 0, a...).write(out, j, 0);
  }
}

const int MAX_AXES = 10;

// Lengths of the axes, the last first, and of each array the steps between neighbours along them.
template <int ARRAYS> struct Geometry {
  i64 axes;
  i64 length[MAX_AXES];
  i64 step[ARRAYS][MAX_AXES];
};

// Where each array has element i of the axes from FIRST on.
template <class Index, int ARRAYS, int FIRST, class Step = Index> struct Offsets {
  Step at[ARRAYS];
  __device__ __forceinline__ Offsets(const Geometry<ARRAYS>& g, Index i) {
#pragma unroll
    for (int k = 0; k < ARRAYS; ++k) at[k] = 0;
    for (int axis = FIRST; axis < MAX_AXES; ++axis) {
      if (axis >= g.axes) break;
      Index length = static_cast<Index>(g.length[axis]);
      Index next = i / length, here = i - next * length;
#pragma unroll
      for (int k = 0; k < ARRAYS; ++k) at[k] += static_cast<Step>(here) * static_cast<Step>(g.step[k][axis]);
      i = next;
    }
  }
};

template <int... K> struct Indices {};
template <int N, int... K> struct Count : Count<N - 1, N - 1, K...> {};
template <int... K> struct Count<0, K...> { typedef Indices<K...> type; };

template <class F, class Out, int V, class Offset, class... A, int... K>
__device__ __forceinline__ void walk_at(const Offset& o, Indices<K...>, i64 i, i64 step, i64 end, Out* out, typename A::slot... a) {
  walk<F, Out, V, A...>(i, step, end, out + static_cast<i64>(o.at[0]), A::at(a, static_cast<i64>(o.at[K + 1]))...);
}

// Rows: along the last axis neighbours lie side by side, or it is the same element all along (One).
// The threads of a block stand in lines, one line a row; y of the grid cuts long rows.
template <class F, class Out, int V, class Index, class... A>
__global__ void __launch_bounds__(256)
rows(i64 count, const Geometry<sizeof...(A) + 1> g, Out* out, typename A::slot... a) {
  const int ARRAYS = sizeof...(A) + 1;
  i64 row = static_cast<i64>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (row >= count) return;
  Offsets<Index, ARRAYS, 1> o(g, static_cast<Index>(row));
  i64 i = static_cast<i64>(blockIdx.y) * (blockDim.x * Packs<V>::value) + threadIdx.x;
  i64 packs = g.length[0] / V, jump = static_cast<i64>(gridDim.y) * (blockDim.x * Packs<V>::value);
  for (; i < packs; i += jump) {
    i64 end = i - threadIdx.x + blockDim.x * Packs<V>::value;
    walk_at<F, Out, V, Offsets<Index, ARRAYS, 1>, A...>(
        o, typename Count<sizeof...(A)>::type(), i, blockDim.x, end < packs ? end : packs, out, a...);
  }
}

// Result and operands of any strides; a number has a place in the geometry that is not used.
template <class F, class Out, class Index, class... A>
__global__ void __launch_bounds__(256)
strided(i64 n, const Geometry<sizeof...(A) + 1> g, Out* out, typename A::slot... a) {
  const int ARRAYS = sizeof...(A) + 1;
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Offsets<Index, ARRAYS, 0> o(g, static_cast<Index>(i));
  walk_at<F, Out, 1, Offsets<Index, ARRAYS, 0>, A...>(o, typename Count<sizeof...(A)>::type(), 0, 1, 1, out, a...);
}

// A function of one array that runs along the result's last axis but one in memory: axis 0 of the
// geometry are neighbours in the result, axis 1 neighbours in x. A tile is read along one of them
// and written along the other, so that both accesses are whole lines.
template <class F, class Out, class T, class Index>
__global__ void __launch_bounds__(256) transposed(const Geometry<2> g, Out* out, const T* x) {
  const int SIDE = sizeof(T) > 2 ? 32 : 64;
  // Rows of an odd number of words: a column then lies in as many banks as it has elements.
  __shared__ T tile[SIDE][SIDE + (sizeof(T) < 4 ? 4 / sizeof(T) : 1)];
  i64 across = (g.length[0] + SIDE - 1) / SIDE, down = (g.length[1] + SIDE - 1) / SIDE;
  Index block = blockIdx.x, group = block / static_cast<Index>(across);
  i64 first = static_cast<i64>(block - group * static_cast<Index>(across)) * SIDE;
  Index rest = group / static_cast<Index>(down);
  i64 second = static_cast<i64>(group - rest * static_cast<Index>(down)) * SIDE;
  Offsets<Index, 2, 2> o(g, rest);
  x += static_cast<i64>(o.at[1]) + first * g.step[1][0] + second;
  out += static_cast<i64>(o.at[0]) + second * g.step[0][1] + first;
  i64 width = g.length[0] - first, height = g.length[1] - second;
#pragma unroll
  for (int i = threadIdx.y; i < SIDE; i += 8)
#pragma unroll
    for (int j = threadIdx.x; j < SIDE; j += 32)
      if (i < width && j < height) tile[i][j] = x[i * g.step[1][0] + j];
  __syncthreads();
#pragma unroll
  for (int j = threadIdx.y; j < SIDE; j += 8)
#pragma unroll
    for (int i = threadIdx.x; i < SIDE; i += 32)
      if (i < width && j < height) out[j * g.step[0][1] + i] = narrow<Out>(F()(widen(tile[i][j])));
}
