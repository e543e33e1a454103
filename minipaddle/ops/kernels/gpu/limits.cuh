// Ends of number types, comparisons in which NaN wins, and a quick exponential.
#pragma once
#include "element.cuh"

template <class C> struct Limits {
  static __device__ __forceinline__ C low() {
    return C(-1) < C(0) ? static_cast<C>(u64(1) << (8 * sizeof(C) - 1)) : C(0);
  }
  static __device__ __forceinline__ C high() { return static_cast<C>(~low()); }
};
template <> struct Limits<float> {
  static __device__ __forceinline__ float high() { return __int_as_float(0x7f800000); }
  static __device__ __forceinline__ float low() { return -high(); }
  static __device__ __forceinline__ float finite() { return __int_as_float(0x7f7fffff); }
  static __device__ __forceinline__ float nan() { return __int_as_float(0x7fc00000); }
};
template <> struct Limits<double> {
  static __device__ __forceinline__ double high() { return __longlong_as_double(0x7ff0000000000000LL); }
  static __device__ __forceinline__ double low() { return -high(); }
  static __device__ __forceinline__ double finite() { return __longlong_as_double(0x7fefffffffffffffLL); }
  static __device__ __forceinline__ double nan() { return __longlong_as_double(0x7ff8000000000000LL); }
};

// Whether x takes the place of y: it is beyond it, or the first NaN.
template <class C> struct Above {
  static __device__ __forceinline__ C none() { return Limits<C>::low(); }
  static __device__ __forceinline__ bool beats(C x, C y) { return x > y || (x != x && y == y); }
};
template <class C> struct Below {
  static __device__ __forceinline__ C none() { return Limits<C>::high(); }
  static __device__ __forceinline__ bool beats(C x, C y) { return x < y || (x != x && y == y); }
};

// exp(x) for x <= 0, good to 3 units and as many as half of |x|; what is not normal is 0.
__device__ __forceinline__ float quick_exp(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 1.4426950408889634f));
  return power;
}
__device__ __forceinline__ double quick_exp(double x) { return exp(x); }
