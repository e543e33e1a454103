// Losses of an input x and a label y, and their gradients by both; g is that of the result.
#include "elementwise.cuh"

template <class C> struct Logistic {
  __device__ C operator()(C x, C y) const { return (x > 0 ? x : C(0)) + log1p(exp(-fabs(x))) - x * y; }
};
FUNCTION_OF_XYZ(LogisticByInput, (1 / (1 + exp(-x)) - y) * z);
FUNCTION_OF_XYZ(LogisticByLabel, -x * z);

// log(0) counts as -100 and p (1 - p) as at least 1e-12, as in Paddle and PyTorch. NaN is kept: what
// is no probability has no logarithm.
template <class C> __device__ __forceinline__ C limited(C logarithm) { return logarithm < -100 ? C(-100) : logarithm; }
template <class C> struct Bernoulli {
  __device__ C operator()(C p, C y) const {
    C of_p = limited<C>(log(p)), of_rest = limited<C>(log1p(-p));
    return (of_rest - of_p) * y - of_rest;
  }
};
template <class C> struct BernoulliByInput {
  __device__ C operator()(C p, C y, C g) const {
    C spread = (1 - p) * p;
    return (p - y) / (spread < C(1e-12) ? C(1e-12) : spread) * g;
  }
};
FUNCTION_OF_XYZ(BernoulliByLabel, (limited<C>(log1p(-x)) - limited<C>(log(x))) * z);

template <class C> struct Huber {
  __device__ C operator()(C x, C y, C delta) const {
    C d = fabs(x - y), near = d > delta ? delta : d;
    return (d - near * C(0.5)) * near;
  }
};
template <class C> struct HuberByInput {
  __device__ C operator()(C x, C y, C g, C delta) const {
    C d = x - y;
    return (d > delta ? delta : d < -delta ? -delta : d) * g;
  }
};
template <class C> struct HuberByLabel {
  __device__ C operator()(C x, C y, C g, C delta) const { return -HuberByInput<C>()(x, y, g, delta); }
};

// y (log(y) - x), 0 where y is not positive; with Log the label is log(y).
FUNCTION_OF_XY(Divergence, y <= 0 ? C(0) : (log(y) - x) * y);
FUNCTION_OF_XYZ(DivergenceByInput, y <= 0 ? C(0) : -y * z);
FUNCTION_OF_XYZ(DivergenceByLabel, y <= 0 ? C(0) : (log(y) - x + 1) * z);
FUNCTION_OF_XY(LogDivergence, (y - x) * exp(y));
FUNCTION_OF_XYZ(LogDivergenceByInput, -exp(y) * z);
FUNCTION_OF_XYZ(LogDivergenceByLabel, (y - x + 1) * exp(y) * z);
