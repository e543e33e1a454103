// gated_square(x, y) = max(x, 0)^2 y, and its gradients; g is the gradient of the result.
#include "elementwise.cuh"

template <class C> __device__ __forceinline__ C positive(C x) { return x < C(0) ? C(0) : x; }

template <class C> struct GatedSquare {
  __device__ C operator()(C x, C y) const { return positive(x) * positive(x) * y; }
};
template <class C> struct GatedSquareGradX {
  __device__ C operator()(C x, C y, C g) const { return C(2) * positive(x) * y * g; }
};
template <class C> struct GatedSquareGradY {
  __device__ C operator()(C x, C y, C g) const { return positive(x) * positive(x) * g; }
};
