// Sums of exponentials, kept as exp(x - top) where top is the largest element so far.
#pragma once
#include "fold.cuh"

// Of a half type float's quick exponential is exact enough.
template <class T> __device__ __forceinline__ computed<T> power(computed<T> x) {
  if constexpr (sizeof(T) == 2) return quick_exp(x);
  else return exp(x);
}

template <class C> struct Exponentials { C top, sum; };

// No element, -inf and inf need no thought: top is always finite.
template <class C> __device__ __forceinline__ Exponentials<C> no_exponentials() {
  return Exponentials<C>{-Limits<C>::finite(), C(0)};
}

template <class C> __device__ __forceinline__ void raise_top(Exponentials<C>& a, C x) {
  C top = fmin(fmax(a.top, x), Limits<C>::finite());
  if (top > a.top) {
    a.sum *= quick_exp(a.top - top);
    a.top = top;
  }
}

template <class C> __device__ __forceinline__ void join_exponentials(Exponentials<C>& a, const Exponentials<C>& b) {
  C scale = quick_exp(-fabs(a.top - b.top));
  if (b.top > a.top) {
    a.sum = a.sum * scale + b.sum;
    a.top = b.top;
  } else {
    a.sum += b.sum * scale;
  }
}

template <class T> struct LogSumExp {
  typedef computed<T> Together;
  typedef Exponentials<computed<T>> Few;
  typedef Few Total;
  __device__ LogSumExp(double = 0) {}
  static __device__ __forceinline__ Few none() { return no_exponentials<computed<T>>(); }
  static __device__ __forceinline__ computed<T> missing() { return Limits<computed<T>>::low(); }
  template <int N> __device__ __forceinline__ void take_all(Few& few, const computed<T> (&x)[N]) const {
    computed<T> most = x[0];
#pragma unroll
    for (int i = 1; i < N; ++i) most = fmax(most, x[i]);
    raise_top(few, most);
    computed<T> sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) sum += quick_exp(x[i] - few.top);
    few.sum += sum;
  }
  __device__ __forceinline__ void join(Few& a, const Few& b) const { join_exponentials(a, b); }
  static __device__ __forceinline__ Total total(const Few& few) { return few; }
  static __device__ __forceinline__ computed<T> finish(const Total& a) { return log(a.sum) + a.top; }
};
