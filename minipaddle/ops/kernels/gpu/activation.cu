// Smooth activations, and their gradients; g is the gradient of the result.
#include "elementwise.cuh"

template <class C> __device__ __forceinline__ C sigmoid(C x) { return 1 / (1 + exp(-x)); }

FUNCTION_OF_X(Erf, erf(x));
FUNCTION_OF_XY(ErfGrad, y * (exp(-x * x) * C(1.1283791670955126)));

FUNCTION_OF_X(Sigmoid, sigmoid<C>(x));
FUNCTION_OF_XY(SigmoidGrad, (1 - x) * x * y);

FUNCTION_OF_X(Silu, x * sigmoid<C>(x));
template <class C> struct SiluGrad {
  __device__ C operator()(C x, C g) const {
    C s = sigmoid<C>(x);
    return ((1 - s) * x + 1) * s * g;
  }
};

// The probability that a normal variable is below x. In float by erf, to a unit in the last place of
// 1 where that is what counts; in double the left tail keeps its relative accuracy.
__device__ __forceinline__ float below(float x) { return 0.5f * (1 + erf(x * 0.70710678118654752f)); }
__device__ __forceinline__ double below(double x) { return normcdf(x); }

// Beyond here the probability is 0.
template <class C> struct Last { static constexpr C value = sizeof(C) == 4 ? -6 : -39; };

template <class C> struct Gelu {
  __device__ C operator()(C x) const { return x < Last<C>::value ? C(0) : x * below(x); }
};
template <class C> struct GeluGrad {
  __device__ C operator()(C x, C g) const {
    C density = exp(C(-0.5) * x * x) * C(0.39894228040143268);
    return (x * density + below(x)) * g;
  }
};

// x (1 + tanh(u)) / 2 = x sigmoid(v), v = 2 u = x (LINEAR + CUBIC x^2).
template <class C> struct Tanh2 {
  static constexpr C LINEAR = 1.5957691216057308, CUBIC = 0.071354816272600248;
};
template <class C> struct TanhGelu {
  __device__ C operator()(C x) const { return x * sigmoid<C>(x * (x * x * Tanh2<C>::CUBIC + Tanh2<C>::LINEAR)); }
};
template <class C> struct TanhGeluGrad {
  __device__ C operator()(C x, C g) const {
    x = x > 30 ? C(30) : x < -30 ? C(-30) : x;  // beyond, the sigmoid is 0 or 1
    C s = sigmoid<C>(x * (x * x * Tanh2<C>::CUBIC + Tanh2<C>::LINEAR));
    C slope = x * (x * x * (3 * Tanh2<C>::CUBIC) + Tanh2<C>::LINEAR);
    return ((1 - s) * slope + 1) * s * g;
  }
};

template <class C> struct Softplus {
  __device__ C operator()(C x, C beta, C threshold) const {
    C z = x * beta;
    return z > threshold ? x : ((z > 0 ? z : C(0)) + log1p(exp(-fabs(z)))) / beta;
  }
};
template <class C> struct SoftplusGrad {
  __device__ C operator()(C x, C g, C beta, C threshold) const {
    C z = x * beta;
    return z > threshold ? g : sigmoid<C>(z) * g;
  }
};
