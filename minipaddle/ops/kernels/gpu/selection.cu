// One value or another.
#include "elementwise.cuh"

template <class C> struct Select {
  __device__ __forceinline__ C operator()(C x, C y, bool condition) const { return condition ? x : y; }
};
template <class C> struct MaskedFill {
  __device__ __forceinline__ C operator()(C x, bool mask, C value) const { return mask ? value : x; }
};
template <class C> struct MaskScale {
  __device__ __forceinline__ C operator()(C x, bool mask, C scale) const { return mask ? x * scale : C(0); }
};
