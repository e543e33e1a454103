// Variances, norms and logarithms of sums of exponentials.
#include "columns.cuh"
#include "exponentials.cuh"

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

template <class C> struct Sizes : AddUp<C> {
  double order;
  __device__ Sizes(double order) : order(order) {}
};
template <class T> struct Norm0 : Sizes<computed<T>> {
  using Norm0::Sizes::Sizes;
  __device__ __forceinline__ void take(computed<T>& few, computed<T> x, i64) const { few += x != 0; }
};
template <class T> struct Norm1 : Sizes<computed<T>> {
  using Norm1::Sizes::Sizes;
  __device__ __forceinline__ void take(computed<T>& few, computed<T> x, i64) const { few += fabs(x); }
};
template <class T> struct Norm2 : Sizes<computed<T>> {
  using Norm2::Sizes::Sizes;
  __device__ __forceinline__ void take(computed<T>& few, computed<T> x, i64) const { few += x * x; }
  static __device__ __forceinline__ double finish(double a) { return sqrt(a); }
};
template <class T> struct NormP : Sizes<computed<T>> {
  using NormP::Sizes::Sizes;
  __device__ __forceinline__ void take(computed<T>& few, computed<T> x, i64) const {
    few += pow(fabs(x), static_cast<computed<T>>(this->order));
  }
  __device__ __forceinline__ double finish(double a) const { return pow(a, 1 / this->order); }
};

template <class C, class Order> struct ExtremeSize {
  typedef C Few;
  typedef C Total;
  __device__ ExtremeSize(double) {}
  static __device__ __forceinline__ C none() { return Order::none(); }
  __device__ __forceinline__ void join(C& a, const C& b) const {
    if (Order::beats(b, a)) a = b;
  }
  __device__ __forceinline__ void take(C& few, C x, i64) const { join(few, fabs(x)); }
  static __device__ __forceinline__ C total(C few) { return few; }
  static __device__ __forceinline__ C finish(C a) { return a; }
};
template <class T> struct NormMax : ExtremeSize<computed<T>, Above<computed<T>>> { using NormMax::ExtremeSize::ExtremeSize; };
template <class T> struct NormMin : ExtremeSize<computed<T>, Below<computed<T>>> { using NormMin::ExtremeSize::ExtremeSize; };
