// relu and its kin, which bend at one or two points, and their gradients; g is that of the result.
#include "elementwise.cuh"

FUNCTION_OF_X(Relu, x < C(0) ? C(0) : x);  // NaN is kept
FUNCTION_OF_XY(ReluGrad, x > 0 ? y : 0 * x);

FUNCTION_OF_XY(LeakyRelu, x > 0 ? x : x * y);
FUNCTION_OF_XYZ(LeakyReluGrad, x > 0 ? y : y * z);

FUNCTION_OF_XY(Elu, x > 0 ? x : expm1(x) * y);
FUNCTION_OF_XYZ(EluGrad, x > 0 ? y : (x + z) * y);

FUNCTION_OF_XYZ(Hardtanh, x < y ? y : x > z ? z : x);
template <class C> struct HardtanhGrad {
  __device__ C operator()(C out, C g, C low, C high) const { return out > low && out < high ? g : C(0); }
};

template <class C> __device__ __forceinline__ C unit(C x) { return x < 0 ? C(0) : x > 1 ? C(1) : x; }
FUNCTION_OF_XYZ(Hardsigmoid, unit<C>(x * y + z));
FUNCTION_OF_XYZ(HardsigmoidGrad, x > 0 && x < 1 ? y * z : C(0));

// relu6(x + 3) / 6
template <class C> __device__ __forceinline__ C gate(C x) { return unit<C>((x + 3) * C(1.0 / 6)); }
FUNCTION_OF_X(Hardswish, x * gate<C>(x));
template <class C> struct HardswishGrad {
  __device__ C operator()(C x, C g) const {
    C open = gate<C>(x);
    return (open > 0 && open < 1 ? x * C(1.0 / 6) + open : open) * g;
  }
};

// An infinite threshold counts as the largest number, as nothing is above infinity.
template <class C> __device__ __forceinline__ bool is_above(C x, C threshold) {
  const C largest = sizeof(C) == 4 ? C(3.402823466385288598e+38) : C(1.797693134862315708e+308);
  return x > (threshold > largest ? largest : threshold < -largest ? -largest : threshold);
}
FUNCTION_OF_XYZ(ThresholdedRelu, x != x || is_above<C>(x, y) ? x : z);
FUNCTION_OF_XYZ(ThresholdedReluGrad, is_above<C>(x, z) ? y : C(0));

FUNCTION_OF_XY(Hardshrink, x != x || fabs(x) > y ? x : C(0));
FUNCTION_OF_XY(Softshrink, x < -y ? x + y : x > y ? x - y : x - x);
FUNCTION_OF_XY(NotZeroGrad, fabs(x) > 0 ? y : C(0));
