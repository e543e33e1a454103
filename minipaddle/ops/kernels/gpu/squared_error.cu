// The squared error element by element, and its gradient.
#include "elementwise.cuh"

template <class C> struct SquaredError {
  __device__ C operator()(C x, C y) const { return (x - y) * (x - y); }
};
template <class C> struct SquaredErrorGrad {
  __device__ C operator()(C x, C y, C g, C factor) const { return (x - y) * (g * factor); }
};
