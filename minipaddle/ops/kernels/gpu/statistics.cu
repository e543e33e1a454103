// Variances; and what norms and logarithms of sums of exponentials need.
#include "columns.cuh"
#include "exponentials.cuh"
#include "norms.cuh"

// Sums of deviations from one of the elements, and of their squares: nothing large is subtracted.
template <class C> struct Moments { C shift, sum, squares, count; };

template <class T> struct Variance {
  typedef Moments<computed<T>> Few;
  typedef Moments<double> Total;
  double divisor;
  __device__ Variance(double divisor) : divisor(divisor) {}
  static __device__ __forceinline__ Few none() { return Few{0, 0, 0, 0}; }
  __device__ __forceinline__ void take(Few& few, computed<T> x, i64) const {
    few.shift = few.count == 0 ? x : few.shift;
    computed<T> d = x - few.shift;
    few.sum += d;
    few.squares += d * d;
    few.count += 1;
  }
  template <class C> __device__ __forceinline__ void join(Moments<C>& a, const Moments<C>& b) const {
    if (b.count == 0) return;
    if (a.count == 0) {
      a = b;
      return;
    }
    C d = b.shift - a.shift;
    a.squares += b.squares + d * (2 * b.sum + b.count * d);
    a.sum += b.sum + b.count * d;
    a.count += b.count;
  }
  static __device__ __forceinline__ Total total(const Few& few) {
    return Total{few.shift, few.sum, few.squares, few.count};
  }
  __device__ __forceinline__ double finish(const Total& a) const {
    double squares = a.squares - a.sum * a.sum / a.count;
    return divisor > 0 ? (squares < 0 ? 0 : squares) / divisor : Limits<double>::nan();
  }
};
template <class T> struct Deviation : Variance<T> {
  __device__ Deviation(double divisor) : Variance<T>(divisor) {}
  __device__ __forceinline__ double finish(const Moments<double>& a) const { return sqrt(Variance<T>::finish(a)); }
};

// The sum of squares, in double: the squares of large floats fit only there.
template <class T> struct SquaredNorm {
  typedef double Few;
  typedef double Total;
  __device__ SquaredNorm(double) {}
  static __device__ __forceinline__ double none() { return 0; }
  __device__ __forceinline__ void take(double& few, computed<T> x, i64) const {
    double wide = x;
    few += wide * wide;
  }
  __device__ __forceinline__ void join(double& a, double b) const { a += b; }
  static __device__ __forceinline__ double total(double few) { return few; }
  static __device__ __forceinline__ double finish(double a) { return a; }
};
