// Norms of any order.
#pragma once
#include "fold.cuh"

template <class C> struct Sizes : AddUp<C> {
  double order;
  __device__ Sizes(double order) : order(order) {}
};
template <class T> struct Norm0 : Sizes<computed<T>> {
  using Norm0::Sizes::Sizes;
  __device__ __forceinline__ void take(computed<T>& few, computed<T> x, i64) const { few += x != 0; }
};
template <class T> struct Norm1 : Sizes<computed<T>> {
  using Norm1::Sizes::Sizes;
  __device__ __forceinline__ void take(computed<T>& few, computed<T> x, i64) const { few += fabs(x); }
};
template <class T> struct Norm2 : Sizes<computed<T>> {
  using Norm2::Sizes::Sizes;
  __device__ __forceinline__ void take(computed<T>& few, computed<T> x, i64) const { few += x * x; }
  static __device__ __forceinline__ double finish(double a) { return sqrt(a); }
};
template <class T> struct NormP : Sizes<computed<T>> {
  using NormP::Sizes::Sizes;
  __device__ __forceinline__ void take(computed<T>& few, computed<T> x, i64) const {
    few += pow(fabs(x), static_cast<computed<T>>(this->order));
  }
  __device__ __forceinline__ double finish(double a) const { return pow(a, 1 / this->order); }
};

template <class C, class Order> struct ExtremeSize {
  typedef C Few;
  typedef C Total;
  __device__ ExtremeSize(double) {}
  static __device__ __forceinline__ C none() { return Order::none(); }
  __device__ __forceinline__ void join(C& a, const C& b) const {
    if (Order::beats(b, a)) a = b;
  }
  __device__ __forceinline__ void take(C& few, C x, i64) const { join(few, fabs(x)); }
  static __device__ __forceinline__ C total(C few) { return few; }
  static __device__ __forceinline__ C finish(C a) { return a; }
};
template <class T> struct NormMax : ExtremeSize<computed<T>, Above<computed<T>>> { using NormMax::ExtremeSize::ExtremeSize; };
template <class T> struct NormMin : ExtremeSize<computed<T>, Below<computed<T>>> { using NormMin::ExtremeSize::ExtremeSize; };
