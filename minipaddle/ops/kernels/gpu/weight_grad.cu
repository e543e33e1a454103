// What the gradient by weight sums over rows that are too long to be held.
#include "elementwise.cuh"

template <class C> struct WeightGradTerm {
  __device__ C operator()(C x, double mean, C rstd, C g) const { return static_cast<C>(x - mean) * rstd * g; }
};
