// One loop for every function that works element by element.
//
// An operand is an Array<T>, a One<T> (an array of a single element, read for all) or a Number<C>
// (a number of the host). A function F is an object called with one value of each, in the type
// that it is computed in; what it returns is rounded to the element type of the result.
#pragma once
#include "element.cuh"

template <class T> struct Array { typedef const T* slot; };
template <class T> struct One { typedef const T* slot; };
template <class C> struct Number { typedef typename Passed<C>::type slot; };

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
template <class C, int V> struct Values<Number<C>, V> {
  C value;
  __device__ __forceinline__ Values(typename Passed<C>::type number, i64) : value(static_cast<C>(number)) {}
  __device__ __forceinline__ C operator[](int) const { return value; }
};

template <class F, class Out, int V, class... A>
__device__ __forceinline__ void apply(Out* out, i64 i, A... a) {
  F f;
  Pack<Out, V> result;
#pragma unroll
  for (int k = 0; k < V; ++k) result.v[k] = narrow<Out>(f(a[k]...));
  reinterpret_cast<Pack<Out, V>*>(out)[i] = result;
}

// All arrays lie without gaps and in one order. A thread works one pack, the last ones what is left.
template <class F, class Out, int V, class... A>
__global__ void __launch_bounds__(256) flat(i64 n, Out* out, typename A::slot... a) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  i64 packs = n / V;
  if (i < packs) {
    apply<F, Out, V>(out, i, Values<A, V>(a, i)...);
  } else if (V > 1) {
    i64 j = packs * V + (i - packs);
    if (j < n) apply<F, Out, 1>(out, j, Values<A, 1>(a, j)...);
  }
}

const int MAX_AXES = 10;

// Lengths of the axes, the last first, and of each array the steps between neighbours along them.
template <int ARRAYS> struct Geometry {
  i64 axes;
  i64 length[MAX_AXES];
  i64 step[ARRAYS][MAX_AXES];
};

// Where element i of each array stands; Index is what i is counted in.
template <class Index, int ARRAYS, class Step = Index> struct Offsets {
  Step at[ARRAYS];
  __device__ __forceinline__ Offsets(const Geometry<ARRAYS>& g, Index i) {
#pragma unroll
    for (int k = 0; k < ARRAYS; ++k) at[k] = 0;
    for (int axis = 0; axis < MAX_AXES; ++axis) {
      if (axis >= g.axes) break;
      Index length = static_cast<Index>(g.length[axis]);
      Index next = i / length, here = i - next * length;
#pragma unroll
      for (int k = 0; k < ARRAYS; ++k) at[k] += static_cast<Step>(here) * static_cast<Step>(g.step[k][axis]);
      i = next;
    }
  }
};

template <class A> struct At;
template <class T> struct At<Array<T>> {
  static __device__ __forceinline__ computed<T> get(const T* p, i64 i) { return widen(p[i]); }
};
template <class T> struct At<One<T>> {
  static __device__ __forceinline__ computed<T> get(const T* p, i64) { return widen(*p); }
};
template <class C> struct At<Number<C>> {
  static __device__ __forceinline__ C get(typename Passed<C>::type number, i64) { return static_cast<C>(number); }
};

template <int... K> struct Indices {};
template <int N, int... K> struct Count : Count<N - 1, N - 1, K...> {};
template <int... K> struct Count<0, K...> { typedef Indices<K...> type; };

template <class F, class Out, class Offset, class... A, int... K>
__device__ __forceinline__ void apply_at(const Offset& o, Indices<K...>, Out* out, typename A::slot... a) {
  F f;
  out[static_cast<i64>(o.at[0])] = narrow<Out>(f(At<A>::get(a, static_cast<i64>(o.at[K + 1]))...));
}

// Result and operands of any strides; a number has a place in the geometry that is not used.
template <class F, class Out, class Index, class... A>
__global__ void __launch_bounds__(256)
strided(i64 n, const Geometry<sizeof...(A) + 1> g, Out* out, typename A::slot... a) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Offsets<Index, sizeof...(A) + 1> o(g, static_cast<Index>(i));
  apply_at<F, Out, Offsets<Index, sizeof...(A) + 1>, A...>(o, typename Count<sizeof...(A)>::type(), out, a...);
}
