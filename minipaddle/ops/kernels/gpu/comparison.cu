// Comparisons, logic and bits. Beside ints a number is an i64, whatever their width.
#include "elementwise.cuh"

#define COMPARISON(Name, ...)                                                     \
  template <class C> struct Name {                                                \
    template <class X, class Y> __device__ __forceinline__ bool operator()(X x, Y y) const { return __VA_ARGS__; } \
  }
COMPARISON(Equal, x == y);
COMPARISON(NotEqual, x != y);
COMPARISON(LessThan, x < y);
COMPARISON(LessEqual, x <= y);
COMPARISON(GreaterThan, x > y);
COMPARISON(GreaterEqual, x >= y);
COMPARISON(LogicalAnd, x != 0 && y != 0);
COMPARISON(LogicalOr, x != 0 || y != 0);
COMPARISON(LogicalXor, (x != 0) != (y != 0));

#define TEST(Name, ...) \
  template <class C> struct Name { __device__ __forceinline__ bool operator()(C x) const { return __VA_ARGS__; } }
TEST(LogicalNot, x == 0);
TEST(IsNan, x != x);
TEST(IsInf, x == x && x - x != 0);
TEST(IsFinite, x - x == 0);
template <class C> struct SignBit {
  __device__ bool operator()(C x) const {
    if constexpr (IsFloat<C>::value) return signbit(x);
    else return x < 0;
  }
};

// The tolerance beside an infinity is infinite, and does not count.
template <class C> struct IsClose {
  __device__ bool operator()(C x, C y, C rtol, C atol, C equal_nan) const {
    if (x == y) return true;
    if (x != x && y != y) return equal_nan != 0;
    return y - y == 0 && fabs(x - y) <= fabs(y) * rtol + atol;
  }
};

FUNCTION_OF_XY(BitwiseAnd, x & y);
FUNCTION_OF_XY(BitwiseOr, x | y);
FUNCTION_OF_XY(BitwiseXor, x ^ y);
template <class C> struct BitwiseNot {
  __device__ C operator()(C x) const {
    if constexpr (SameType<C, bool>::value) return !x;
    else return ~x;
  }
};

// By as many places as there are bits, or by a negative number of them, all bits are shifted out.
template <class C> __device__ __forceinline__ bool is_place(C y) { return y >= 0 && y < static_cast<int>(8 * sizeof(C)); }
template <class C> struct ShiftLeft {
  __device__ C operator()(C x, C y) const {
    return is_place<C>(y) ? static_cast<C>(static_cast<u64>(x) << static_cast<int>(y)) : C(0);
  }
};
template <class C> struct ShiftRight {
  __device__ C operator()(C x, C y) const { return is_place<C>(y) ? C(x >> static_cast<int>(y)) : C(x < 0 ? -1 : 0); }
};
template <class C> struct ShiftBitsRight {
  __device__ C operator()(C x, C y) const {
    typedef typename Unsigned<C>::type U;
    return is_place<C>(y) ? static_cast<C>(static_cast<U>(x) >> static_cast<int>(y)) : C(0);
  }
};
