// What follows a fold, element by element: gradients of statistics, and steps of a distance.
#include "elementwise.cuh"

template <class C> struct LogSumExpGrad {
  __device__ C operator()(C x, C total, C g) const { return exp(x - (isinf(total) && total < 0 ? C(0) : total)) * g; }
};
template <class C> struct VarianceGrad {
  __device__ C operator()(C x, C mean, C g, C factor) const { return (x - mean) * (g * factor); }
};
template <class C> struct DeviationGrad {
  __device__ C operator()(C x, C mean, C out, C g, C factor) const {
    return (x - mean) * (g * factor / (out == 0 ? C(1) : out));
  }
};

template <class C> struct Apart { __device__ C operator()(C x, C y) const { return fabs(x - y); } };
// A size beside the largest, by way of which no power is too large or too small.
template <class C> struct Beside {
  __device__ C operator()(C size, C largest) const { return largest == 0 || isinf(largest) ? C(0) : size / largest; }
};
template <class C> struct Scaled {
  __device__ C operator()(C norm, C largest) const { return largest == 0 || isinf(largest) ? largest : norm * largest; }
};
