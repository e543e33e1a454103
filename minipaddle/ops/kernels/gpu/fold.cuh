// Folds of an array [outer, n, inner] over its middle axis, in a fixed order.
//
// A functor F says what is folded. It is made from one number and has
//   Few, Total            what a thread makes of a few elements, and what is joined of these
//   none()                Few of no element
//   take(few, x, at)      takes element number at, whose value is x
//   join(a, b)            takes b into a: two Few or two Total
//   total(few)            Few as Total
//   finish(total)         the result
// Instead of take it may have take_all(few, values), for several at once of the type
// Together, with missing() among them for elements that are not there.
//
// A source S is where elements come from: Elements, Pairs, or the Totals of an earlier fold.
#pragma once
#include "limits.cuh"

template <class T, int V> struct Elements {
  typedef Pack<T, V> Some;
  static const int WIDTH = V;
  static const bool FINE = true;  // single elements, not totals
  const T* a;
  __device__ __forceinline__ Elements(const void* a, const void*) : a(static_cast<const T*>(a)) {}
  __device__ __forceinline__ Some some(i64 at) const { return *reinterpret_cast<const Some*>(a + at); }
  __device__ __forceinline__ computed<T> one(i64 at) const { return widen(a[at]); }
  static __device__ __forceinline__ computed<T> value(const Some& some, int k) { return widen(some.v[k]); }
  // How many elements stand before the next that can begin a pack.
  __device__ __forceinline__ int before(i64 at) const {
    return V - 1 - static_cast<int>((reinterpret_cast<u64>(a + at) / sizeof(T) + V - 1) % V);
  }
};

// What Op makes of the elements of two arrays that lie alike.
template <class Op, class T, int V> struct Pairs {
  struct Some { Pack<T, V> a, b; };
  static const int WIDTH = V;
  static const bool FINE = true;
  Elements<T, V> a, b;
  __device__ __forceinline__ Pairs(const void* x, const void* y) : a(x, x), b(y, y) {}
  __device__ __forceinline__ Some some(i64 at) const {
    Some found;
    found.a = a.some(at);
    found.b = b.some(at);
    return found;
  }
  __device__ __forceinline__ computed<T> one(i64 at) const { return Op::of(a.one(at), b.one(at)); }
  static __device__ __forceinline__ computed<T> value(const Some& some, int k) {
    return Op::of(widen(some.a.v[k]), widen(some.b.v[k]));
  }
  __device__ __forceinline__ int before(i64 at) const { return a.before(at); }
};
struct Product { template <class C> static __device__ __forceinline__ C of(C x, C y) { return x * y; } };
struct Difference { template <class C> static __device__ __forceinline__ C of(C x, C y) { return x - y; } };

template <class F> struct Totals {
  static const int WIDTH = 1;
  static const bool FINE = false;
  const typename F::Total* a;
  __device__ __forceinline__ Totals(const void* a, const void*) : a(static_cast<const typename F::Total*>(a)) {}
  __device__ __forceinline__ typename F::Total one(i64 at) const { return a[at]; }
};

// What is written: the result, or a total that another fold goes on with.
template <class Out> struct Final {
  typedef Out type;
  template <class F> static __device__ __forceinline__ void put(Out* out, i64 at, const F& f, const typename F::Total& total) {
    out[at] = narrow<Out>(f.finish(total));
  }
};
template <class F> struct Partial {
  typedef typename F::Total type;
  static __device__ __forceinline__ void put(type* out, i64 at, const F&, const type& total) { out[at] = total; }
};

template <bool LEFT, class A, class B> struct Choose { typedef A type; };
template <class A, class B> struct Choose<false, A, B> { typedef B type; };
template <class A, class B> struct Same { static const bool value = false; };
template <class A> struct Same<A, A> { static const bool value = true; };
// Chains of additions are short, so that float is good enough; their sums are added in double.
template <class C> struct WideSum { typedef i64 type; };
template <> struct WideSum<float> { typedef double type; };
template <> struct WideSum<double> { typedef double type; };

// Plain sums: of elements, and what several kernels join partial sums by.
template <class C> struct AddUp {
  typedef C Few;
  typedef typename WideSum<C>::type Total;
  __device__ AddUp(double = 0) {}
  static __device__ __forceinline__ Few none() { return Few(0); }
  __device__ __forceinline__ void take(Few& few, C x, i64) const { few += x; }
  template <class A> __device__ __forceinline__ void join(A& a, const A& b) const { a += b; }
  static __device__ __forceinline__ Total total(Few few) { return static_cast<Total>(few); }
  static __device__ __forceinline__ Total finish(Total a) { return a; }
};

template <class F, class = void> struct TakesAll { static const bool value = false; };
template <class... > struct Void { typedef void type; };
template <class F> struct TakesAll<F, typename Void<typename F::Together>::type> { static const bool value = true; };

const int UNROLL = 4;  // accesses under way at once
const int TURNS = 8;   // of the loop before what is folded joins the total

template <class A> __device__ __forceinline__ A shuffled(const A& a, int mask) {
  const int WORDS = (sizeof(A) + 3) / 4;
  int words[WORDS] = {};
  memcpy(words, &a, sizeof(A));
#pragma unroll
  for (int i = 0; i < WORDS; ++i) words[i] = __shfl_xor_sync(0xffffffffu, words[i], mask);
  A other;
  memcpy(&other, words, sizeof(A));
  return other;
}

// Joins the totals of a group of threads, a power of 2 of at most 32; its first has them all.
template <class F> __device__ __forceinline__ void group_join(const F& f, typename F::Total& total, int group) {
  for (int step = group / 2; step > 0; step /= 2) f.join(total, shuffled(total, step));
}

// Joins the totals of a block; every thread has them all, where join is symmetric bit for bit.
template <class F> __device__ __forceinline__ void block_join(const F& f, typename F::Total& total) {
  __shared__ typename F::Total held[32];
  int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  group_join(f, total, 32);
  __syncthreads();  // an earlier call may still be read
  if (lane == 0) held[threadIdx.x / 32] = total;
  __syncthreads();
  total = lane < warps ? held[lane] : f.total(f.none());
  group_join(f, total, 32);
}

template <class F, class S, int V>
__device__ __forceinline__ void take_packs(const F& f, typename F::Few* few, const typename S::Some* some, i64 i, i64 lanes, i64 packs, i64 first) {
  if constexpr (TakesAll<F>::value) {
    typename F::Together values[UNROLL * V];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
#pragma unroll
      for (int k = 0; k < V; ++k) values[u * V + k] = i + u * lanes < packs ? S::value(some[u], k) : f.missing();
    f.take_all(few[0], values);
  } else {
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
      if (i + u * lanes < packs)
#pragma unroll
        for (int k = 0; k < V; ++k) f.take(few[k], S::value(some[u], k), first + (i + u * lanes) * V + k);
  }
}

template <class F, class C> __device__ __forceinline__ void take_one(const F& f, typename F::Few& few, C x, i64 at) {
  if constexpr (TakesAll<F>::value) {
    C values[1] = {x};
    f.take_all(few, values);
  } else {
    f.take(few, x, at);
  }
}

// Of elements begin to end, which lie step apart from base on, the share of one of several lanes.
template <class F, class S>
__device__ __forceinline__ typename F::Total walk(const F& f, const S& s, i64 base, i64 step, i64 begin, i64 end, int lane, int lanes) {
  const int V = S::WIDTH;
  typename F::Total total = f.total(f.none());
  if constexpr (!S::FINE) {
    for (i64 j = begin + lane; j < end; j += lanes) f.join(total, s.one(base + j * step));
  } else {
    i64 head = V > 1 ? s.before(base + begin) : 0;
    if (head > end - begin) head = end - begin;
    i64 first = begin + head, packs = (end - first) / V, i = lane;
    while (i < packs) {
      typename F::Few few[V];
#pragma unroll
      for (int k = 0; k < V; ++k) few[k] = f.none();
#pragma unroll 1
      for (int turn = 0; turn < TURNS && i < packs; ++turn, i += UNROLL * lanes) {
        typename S::Some some[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
          if (i + u * lanes < packs) some[u] = s.some(base + (first + (i + u * lanes) * V) * step);
        take_packs<F, S, V>(f, few, some, i, lanes, packs, first);
      }
#pragma unroll
      for (int k = 1; k < V; ++k) f.join(few[0], few[k]);
      f.join(total, f.total(few[0]));
    }
    i64 rest = end - begin - packs * V;  // before and behind the packs
    for (i64 r = lane; r < rest; r += lanes) {
      i64 j = r < head ? begin + r : first + packs * V + (r - head);
      typename F::Few few = f.none();
      take_one(f, few, s.one(base + j * step), j);
      f.join(total, f.total(few));
    }
  }
  return total;
}

// A row is folded by a group of threads.
template <class F, class S, class R>
__global__ void __launch_bounds__(256)
fold_groups(i64 rows, i64 n, i64 row_step, i64 step, i64 group, const void* a, const void* b, typename R::type* out, double number) {
  F f(number);
  S s(a, b);
  i64 row = (static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x) / static_cast<int>(group);
  int lane = threadIdx.x % static_cast<int>(group);
  typename F::Total total = f.total(f.none());
  if (row < rows) total = walk(f, s, row * row_step, step, 0, n, lane, static_cast<int>(group));
  group_join(f, total, static_cast<int>(group));
  if (lane == 0 && row < rows) R::put(out, row, f, total);
}

// A chunk of a row is folded by a block; out has one place a chunk.
template <class F, class S, class R>
__global__ void __launch_bounds__(256)
fold_blocks(i64 splits, i64 n, i64 row_step, i64 step, i64 chunk, const void* a, const void* b, typename R::type* out, double number) {
  F f(number);
  S s(a, b);
  i64 row = blockIdx.x / splits, begin = (blockIdx.x - row * splits) * chunk;
  i64 end = begin + chunk < n ? begin + chunk : n;
  typename F::Total total = f.total(f.none());
  if (begin < end) total = walk(f, s, row * row_step, step, begin, end, threadIdx.x, blockDim.x);
  block_join(f, total);
  if (threadIdx.x == 0) R::put(out, blockIdx.x, f, total);
}
