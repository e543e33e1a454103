// Mathematical functions of one array, and gradients g times the derivative. Ints wrap around.
#include "elementwise.cuh"

FUNCTION_OF_X(Acos, acos(x));
FUNCTION_OF_X(Acosh, acosh(x));
FUNCTION_OF_X(Asin, asin(x));
FUNCTION_OF_X(Asinh, asinh(x));
FUNCTION_OF_X(Atan, atan(x));
FUNCTION_OF_X(Atanh, atanh(x));
FUNCTION_OF_X(Ceil, ceil(x));
FUNCTION_OF_X(Cos, cos(x));
FUNCTION_OF_X(Cosh, cosh(x));
FUNCTION_OF_X(Exp, exp(x));
FUNCTION_OF_X(Expm1, expm1(x));
FUNCTION_OF_X(Floor, floor(x));
FUNCTION_OF_X(Log, log(x));
FUNCTION_OF_X(Log10, log10(x));
FUNCTION_OF_X(Log1p, log1p(x));
FUNCTION_OF_X(Log2, log2(x));
FUNCTION_OF_X(Neg, -x);
FUNCTION_OF_X(Reciprocal, C(1) / x);
FUNCTION_OF_X(Rsqrt, rsqrt(x));
FUNCTION_OF_X(Sign, x > C(0) ? C(1) : x < C(0) ? C(-1) : x);
FUNCTION_OF_X(Sin, sin(x));
FUNCTION_OF_X(Sinh, sinh(x));
FUNCTION_OF_X(Sqrt, sqrt(x));
FUNCTION_OF_X(Square, x * x);
FUNCTION_OF_X(Tan, tan(x));
FUNCTION_OF_X(Tanh, tanh(x));

template <class C> struct Abs {
  __device__ C operator()(C x) const {
    if constexpr (IsFloat<C>::value) return fabs(x);
    else return x < 0 ? -x : x;
  }
};
template <class C> struct Trunc {
  __device__ C operator()(C x) const {
    if constexpr (IsFloat<C>::value) return trunc(x);
    else return x;
  }
};

// Halves to the even number. The power of ten is y.
FUNCTION_OF_X(Round, rint(x));
FUNCTION_OF_XY(RoundDecimals, rint(x * y) / y);
FUNCTION_OF_XY(RoundTens, rint(x / y) * y);

// NaN is kept: it is neither below y nor above z.
FUNCTION_OF_XYZ(Clip, x < y ? y : x > z ? z : x);
template <class C> struct NanToNum {
  __device__ C operator()(C x, C nan, C high, C low) const { return x != x ? nan : x - x == 0 ? x : x > 0 ? high : low; }
};
template <class C> struct Logit {
  __device__ C operator()(C x, C low, C high) const {
    x = x < low ? low : x > high ? high : x;
    return log(x / (1 - x));
  }
};
FUNCTION_OF_XY(SignedPower, x == 0 ? x : copysign(pow(fabs(x), y), x));

// Gradients of x, or of the function's result x, and g = y.
FUNCTION_OF_XY(AbsGrad, x > 0 ? y : x < 0 ? -y : x * y);
FUNCTION_OF_XY(CosGrad, -y * sin(x));
FUNCTION_OF_XY(ReciprocalGrad, -y * (x * x));
FUNCTION_OF_XY(RsqrtGrad, C(-0.5) * y * (x * x * x));
FUNCTION_OF_XY(SinGrad, y * cos(x));
FUNCTION_OF_XY(SqrtGrad, C(0.5) * y / x);
FUNCTION_OF_XY(SquareGrad, y * (x * 2));
FUNCTION_OF_XY(TanGrad, y * (x * x + 1));
FUNCTION_OF_XY(TanhGrad, y * (1 - x * x));
template <class C> struct ClipGrad {
  __device__ C operator()(C x, C g, C low, C high) const { return low <= x && x <= high ? g : C(0); }
};
template <class C> struct LogitGrad {
  __device__ C operator()(C x, C g, C low, C high) const { return x < low || x > high ? C(0) : g / ((1 - x) * x); }
};
