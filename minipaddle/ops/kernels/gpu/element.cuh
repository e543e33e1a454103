// Element types: what each is computed in, and how a value comes from memory and goes back.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef long long i64;
typedef unsigned long long u64;

typedef signed char int8;
typedef short int16;
typedef int int32;
typedef unsigned char uint8;
typedef __half float16;
typedef __nv_bfloat16 bfloat16;

template <class A, class B> struct SameType { static const bool value = false; };
template <class A> struct SameType<A, A> { static const bool value = true; };

template <bool YES, class A, class B> struct Either { typedef A type; };
template <class A, class B> struct Either<false, A, B> { typedef B type; };

// Half types are computed in float and rounded once.
template <class T> struct Computed { typedef T type; };
template <> struct Computed<float16> { typedef float type; };
template <> struct Computed<bfloat16> { typedef float type; };
template <class T> using computed = typename Computed<T>::type;

template <class T> __device__ __forceinline__ computed<T> widen(T x) { return x; }
template <> __device__ __forceinline__ float widen(float16 x) { return __half2float(x); }
template <> __device__ __forceinline__ float widen(bfloat16 x) { return __bfloat162float(x); }

template <class T> struct IsFloat { static const bool value = false; };
template <> struct IsFloat<float> { static const bool value = true; };
template <> struct IsFloat<double> { static const bool value = true; };

// narrow<T>(x): x as an element of type T. A float that a short int cannot hold keeps its last bits,
// as on the host, and does not become the nearest int that there is.
template <class T> struct Narrow {
  template <class C> static __device__ __forceinline__ T from(C x) {
    if constexpr (IsFloat<C>::value && !IsFloat<T>::value && !SameType<T, bool>::value)
      return static_cast<T>(static_cast<i64>(x));
    else
      return static_cast<T>(x);
  }
};
template <> struct Narrow<float16> {
  static __device__ __forceinline__ float16 from(double x) { return __double2half(x); }
  static __device__ __forceinline__ float16 from(float x) { return __float2half_rn(x); }
  template <class C> static __device__ __forceinline__ float16 from(C x) { return from(static_cast<float>(x)); }
};
template <> struct Narrow<bfloat16> {
  static __device__ __forceinline__ bfloat16 from(float x) { return __float2bfloat16_rn(x); }
  template <class C> static __device__ __forceinline__ bfloat16 from(C x) { return from(static_cast<float>(x)); }
};
template <class T, class C> __device__ __forceinline__ T narrow(C x) { return Narrow<T>::from(x); }

// V neighbours that are read or written by one access.
template <class T, int V> struct alignas(sizeof(T) * V) Pack { T v[V]; };

// Reads and writes of what is used once: it leaves the cache to others.
template <class P> __device__ __forceinline__ P read_once(const P* p) {
  P pack;
  if (sizeof(P) == 16) *reinterpret_cast<float4*>(&pack) = __ldcs(reinterpret_cast<const float4*>(p));
  else pack = *p;
  return pack;
}
template <class P> __device__ __forceinline__ void write_once(P* p, P pack) {
  if (sizeof(P) == 16) __stcs(reinterpret_cast<float4*>(p), *reinterpret_cast<float4*>(&pack));
  else *p = pack;
}
// The unsigned type of the same width: its arithmetic wraps around.
template <class C> struct Unsigned { typedef C type; };
template <> struct Unsigned<int8> { typedef uint8 type; };
template <> struct Unsigned<int16> { typedef unsigned short type; };
template <> struct Unsigned<int32> { typedef unsigned int type; };
template <> struct Unsigned<i64> { typedef u64 type; };

// What a number of the host is handed over as.
template <class C> struct Passed { typedef i64 type; };
template <> struct Passed<float> { typedef double type; };
template <> struct Passed<double> { typedef double type; };
