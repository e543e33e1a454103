// Arithmetic of two operands, and gradients; z is the gradient of the result.
#include "elementwise.cuh"

FUNCTION_OF_XY(Add, x + y);
FUNCTION_OF_XY(Subtract, x - y);
FUNCTION_OF_XY(Multiply, x * y);
FUNCTION_OF_XY(Divide, x / y);
FUNCTION_OF_XY(Atan2, atan2(x, y));

FUNCTION_OF_XYZ(DivideGradX, z / y);
FUNCTION_OF_XYZ(DivideGradY, -(z * x) / (y * y));
FUNCTION_OF_XYZ(Atan2GradX, z / (x * x + y * y) * y);
FUNCTION_OF_XYZ(Atan2GradY, -z / (x * x + y * y) * x);

// ---- the larger and the smaller: maximum and minimum keep NaN, fmax and fmin do not ----

template <class C> __device__ __forceinline__ C maximum(C x, C y) { return x >= y || x != x ? x : y; }
template <class C> __device__ __forceinline__ C minimum(C x, C y) { return x <= y || x != x ? x : y; }
template <class C> __device__ __forceinline__ C larger(C x, C y) { return x >= y || y != y ? x : y; }
template <class C> __device__ __forceinline__ C smaller(C x, C y) { return x <= y || y != y ? x : y; }

FUNCTION_OF_XY(Maximum, maximum<C>(x, y));
FUNCTION_OF_XY(Minimum, minimum<C>(x, y));
FUNCTION_OF_XY(Fmax, larger<C>(x, y));
FUNCTION_OF_XY(Fmin, smaller<C>(x, y));

// Of two equal ones the second has the gradient, and of fmax and fmin the first.
FUNCTION_OF_XYZ(MaximumGradX, maximum<C>(x, y) == y ? C(0) : z);
FUNCTION_OF_XYZ(MaximumGradY, maximum<C>(x, y) == y ? z : C(0));
FUNCTION_OF_XYZ(MinimumGradX, minimum<C>(x, y) == y ? C(0) : z);
FUNCTION_OF_XYZ(MinimumGradY, minimum<C>(x, y) == y ? z : C(0));
FUNCTION_OF_XYZ(FmaxGradX, larger<C>(x, y) == x ? z : C(0));
FUNCTION_OF_XYZ(FmaxGradY, larger<C>(x, y) == x ? C(0) : z);
FUNCTION_OF_XYZ(FminGradX, smaller<C>(x, y) == x ? z : C(0));
FUNCTION_OF_XYZ(FminGradY, smaller<C>(x, y) == x ? C(0) : z);

// ---- division with remainder: the quotient is rounded down ----

// Of two ints 0 where the divisor is 0, as NumPy has it; -1 apart, as the least int has no negative.
template <class C> __device__ __forceinline__ C whole_quotient(C x, C y) {
  if (y == 0) return 0;
  if (y == C(-1) && y < 0) return -x;
  C q = x / y;
  return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}
template <class C> __device__ __forceinline__ C whole_remainder(C x, C y) {
  if (y == 0 || (y == C(-1) && y < 0)) return 0;
  C r = x % y;
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

// The remainder that fmod gives is exact, and so is the nearest whole quotient.
template <class C> struct FloorDivide {
  __device__ C operator()(C x, C y) const {
    if constexpr (IsFloat<C>::value) {
      if (y == 0) return x / y;
      C r = fmod(x, y), q = (x - r) / y;
      if (r != 0 && (r < 0) != (y < 0)) q -= 1;
      if (q == 0) return copysign(C(0), x / y);
      C down = floor(q);
      return q - down > C(0.5) ? down + 1 : down;
    } else {
      return whole_quotient<C>(x, y);
    }
  }
};
template <class C> struct Remainder {
  __device__ C operator()(C x, C y) const {
    if constexpr (IsFloat<C>::value) {
      C r = fmod(x, y);
      if (r == 0) return copysign(C(0), y);
      return (r < 0) != (y < 0) ? r + y : r;
    } else {
      return whole_remainder<C>(x, y);
    }
  }
};

// ---- powers ----

// An int to a negative power is 0, but for 1 and -1.
template <class C> struct Pow {
  __device__ C operator()(C x, C y) const {
    if constexpr (IsFloat<C>::value) {
      return pow(x, y);
    } else {
      if (y < 0) return x == 1 ? C(1) : x == C(-1) ? C(y % 2 ? -1 : 1) : C(0);
      u64 result = 1, factor = static_cast<u64>(x);
      for (u64 left = static_cast<u64>(y); left; left >>= 1, factor *= factor)
        if (left & 1) result *= factor;
      return static_cast<C>(result);
    }
  }
};
FUNCTION_OF_X(Squared, x * x);
FUNCTION_OF_X(Cubed, x * x * x);

// The factors y x^(y - 1) and x^y log(x), where 0 times infinity is 0.
FUNCTION_OF_XYZ(PowGradX, y == 0 ? C(0) : y == 2 ? x * 2 * z : pow(x, y - 1) * y * z);
FUNCTION_OF_XYZ(PowGradY, x == 0 ? C(0) : pow(x, y) * log(x) * z);

// ---- divisors ----

template <class C> struct Size { typedef typename Either<sizeof(C) == 8, u64, unsigned int>::type type; };
template <class C> __device__ __forceinline__ typename Size<C>::type size(C x) {
  typedef typename Size<C>::type U;
  return x < 0 ? U(0) - static_cast<U>(x) : static_cast<U>(x);
}
template <class U> __device__ __forceinline__ U common_divisor(U x, U y) {
  while (y != 0) {
    U rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}
FUNCTION_OF_XY(Gcd, static_cast<C>(common_divisor(size<C>(x), size<C>(y))));
FUNCTION_OF_XY(Lcm, x == 0 || y == 0 ? C(0) : static_cast<C>(size<C>(x) / common_divisor(size<C>(x), size<C>(y)) * size<C>(y)));
