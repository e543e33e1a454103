// Sums, products, extremes and counts.
#include "columns.cuh"

// What elements of type T are added or multiplied up in, as elements of type S.
template <class T, class S> struct Adding {
  static const bool FLOAT = IsFloat<computed<S>>::value;
  static const bool SHORT = !IsFloat<computed<T>>::value && sizeof(T) <= 2;  // few fit into 32 bits
  typedef typename Choose<FLOAT, computed<S>, typename Choose<SHORT, int, i64>::type>::type Few;
  typedef typename Choose<FLOAT, double, i64>::type Total;
  static __device__ __forceinline__ computed<S> cast(computed<T> x) {
    if constexpr (Same<T, S>::value) return x;
    else return widen(narrow<S>(x));
  }
};

template <class T, class S> struct Sum {
  typedef typename Adding<T, S>::Few Few;
  typedef typename Adding<T, S>::Total Total;
  double number;
  __device__ Sum(double number) : number(number) {}
  static __device__ __forceinline__ Few none() { return Few(0); }
  __device__ __forceinline__ void take(Few& few, computed<T> x, i64) const { few += Adding<T, S>::cast(x); }
  template <class A> __device__ __forceinline__ void join(A& a, const A& b) const { a += b; }
  static __device__ __forceinline__ Total total(Few few) { return static_cast<Total>(few); }
  __device__ __forceinline__ Total finish(Total a) const { return a; }
};

template <class T, class S> struct Mean : Sum<T, S> {
  __device__ Mean(double count) : Sum<T, S>(count) {}
  __device__ __forceinline__ double finish(double a) const { return a / this->number; }
};

template <class T, class S> struct NanSum : Sum<T, S> {
  __device__ NanSum(double number) : Sum<T, S>(number) {}
  __device__ __forceinline__ void take(typename Sum<T, S>::Few& few, computed<T> x, i64) const {
    if (x == x) few += Adding<T, S>::cast(x);
  }
};

template <class T, class S> struct Prod {
  typedef typename Choose<Adding<T, S>::FLOAT, computed<S>, i64>::type Few;
  typedef typename Adding<T, S>::Total Total;
  __device__ Prod(double) {}
  static __device__ __forceinline__ Few none() { return Few(1); }
  __device__ __forceinline__ void take(Few& few, computed<T> x, i64) const { few *= Adding<T, S>::cast(x); }
  template <class A> __device__ __forceinline__ void join(A& a, const A& b) const { a *= b; }
  static __device__ __forceinline__ Total total(Few few) { return static_cast<Total>(few); }
  static __device__ __forceinline__ Total finish(Total a) { return a; }
};

template <class Sum, class Number> struct Counted { Sum sum; Number count; };

template <class T> struct NanMean {
  typedef Counted<computed<T>, int> Few;
  typedef Counted<double, i64> Total;
  __device__ NanMean(double) {}
  static __device__ __forceinline__ Few none() { return Few{0, 0}; }
  __device__ __forceinline__ void take(Few& few, computed<T> x, i64) const {
    if (x == x) {
      few.sum += x;
      ++few.count;
    }
  }
  template <class A> __device__ __forceinline__ void join(A& a, const A& b) const {
    a.sum += b.sum;
    a.count += b.count;
  }
  static __device__ __forceinline__ Total total(const Few& few) { return Total{few.sum, few.count}; }
  static __device__ __forceinline__ double finish(const Total& a) { return a.sum / static_cast<double>(a.count); }
};

template <class C, class Order> struct Extreme {
  typedef C Few;
  typedef C Total;
  __device__ Extreme(double) {}
  static __device__ __forceinline__ C none() { return Order::none(); }
  __device__ __forceinline__ void take(C& few, C x, i64) const {
    if (Order::beats(x, few)) few = x;
  }
  __device__ __forceinline__ void join(C& a, const C& b) const { take(a, b, 0); }
  static __device__ __forceinline__ C total(C few) { return few; }
  static __device__ __forceinline__ C finish(C a) { return a; }
};
template <class T> struct Max : Extreme<computed<T>, Above<computed<T>>> { using Max::Extreme::Extreme; };
template <class T> struct Min : Extreme<computed<T>, Below<computed<T>>> { using Min::Extreme::Extreme; };

// How many elements are equal to the extreme.
template <class C, class Order> struct Ties {
  typedef Counted<C, i64> Few;
  typedef Few Total;
  __device__ Ties(double) {}
  static __device__ __forceinline__ Few none() { return Few{Order::none(), 0}; }
  __device__ __forceinline__ void join(Few& a, const Few& b) const {
    if (Order::beats(b.sum, a.sum)) a = b;
    else if (b.sum == a.sum) a.count += b.count;
  }
  __device__ __forceinline__ void take(Few& few, C x, i64) const { join(few, Few{x, 1}); }
  static __device__ __forceinline__ Total total(const Few& few) { return few; }
  static __device__ __forceinline__ i64 finish(const Total& a) { return a.count > 0 ? a.count : 1; }
};
template <class T> struct MaxTies : Ties<computed<T>, Above<computed<T>>> { using MaxTies::Ties::Ties; };
template <class T> struct MinTies : Ties<computed<T>, Below<computed<T>>> { using MinTies::Ties::Ties; };

template <class C> struct Place { C value; i64 at; };

// The number of the first extreme; -1 while there is none.
template <class C, class Order> struct First {
  typedef Place<C> Few;
  typedef Few Total;
  __device__ First(double) {}
  static __device__ __forceinline__ Few none() { return Few{Order::none(), -1}; }
  __device__ __forceinline__ void take(Few& few, C x, i64 at) const {
    if (few.at < 0 || Order::beats(x, few.value)) few = Few{x, at};
  }
  __device__ __forceinline__ void join(Few& a, const Few& b) const {
    if (b.at < 0) return;
    bool level = !Order::beats(a.value, b.value) && !Order::beats(b.value, a.value);
    if (a.at < 0 || (level ? b.at < a.at : Order::beats(b.value, a.value))) a = b;
  }
  static __device__ __forceinline__ Total total(const Few& few) { return few; }
  static __device__ __forceinline__ i64 finish(const Total& a) { return a.at; }
};
template <class T> struct Argmax : First<computed<T>, Above<computed<T>>> { using Argmax::First::First; };
template <class T> struct Argmin : First<computed<T>, Below<computed<T>>> { using Argmin::First::First; };

template <class T> struct All {
  typedef int Few;
  typedef int Total;
  __device__ All(double) {}
  static __device__ __forceinline__ int none() { return 1; }
  __device__ __forceinline__ void take(int& few, computed<T> x, i64) const { few &= x != computed<T>(0); }
  __device__ __forceinline__ void join(int& a, int b) const { a &= b; }
  static __device__ __forceinline__ int total(int few) { return few; }
  static __device__ __forceinline__ int finish(int a) { return a; }
};
template <class T> struct Any : All<T> {
  __device__ Any(double) : All<T>(0) {}
  static __device__ __forceinline__ int none() { return 0; }
  __device__ __forceinline__ void take(int& few, computed<T> x, i64) const { few |= x != computed<T>(0); }
  __device__ __forceinline__ void join(int& a, int b) const { a |= b; }
};

template <class T> struct NonZero {
  typedef int Few;
  typedef i64 Total;
  __device__ NonZero(double) {}
  static __device__ __forceinline__ int none() { return 0; }
  __device__ __forceinline__ void take(int& few, computed<T> x, i64) const { few += x != computed<T>(0); }
  template <class A> __device__ __forceinline__ void join(A& a, const A& b) const { a += b; }
  static __device__ __forceinline__ i64 total(int few) { return few; }
  static __device__ __forceinline__ i64 finish(i64 a) { return a; }
};
