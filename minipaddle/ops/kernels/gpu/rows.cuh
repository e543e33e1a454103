// Rows that a group of threads holds in registers from one pass over them to the next.
#pragma once
#include "fold.cuh"

template <int V, class T> __device__ __forceinline__ void fetch(const T* p, computed<T> (&v)[V]) {
  Pack<T, V> pack = *reinterpret_cast<const Pack<T, V>*>(p);
#pragma unroll
  for (int k = 0; k < V; ++k) v[k] = widen(pack.v[k]);
}
template <int V, class T, class C> __device__ __forceinline__ void store(T* p, const C (&v)[V]) {
  Pack<T, V> pack;
#pragma unroll
  for (int k = 0; k < V; ++k) pack.v[k] = narrow<T>(v[k]);
  *reinterpret_cast<Pack<T, V>*>(p) = pack;
}

// N rows of n elements that lie alike, shared by LANES threads. Each holds K packs of every row; with
// K = 0 they are read again in every pass. V divides n, and packs may begin where rows do.
template <class T, int V, int K, int LANES, int N> struct Rows {
  typedef computed<T> C;
  typedef typename Choose<(K > 0), int, i64>::type Index;
  const T* p[N];
  Index n;
  int lane;
  i64 offset;
  Pack<T, V> held[N][K > 0 ? K : 1];

  __device__ __forceinline__ Rows(i64 n) : n(static_cast<Index>(n)), lane(threadIdx.x % LANES) {}

  // Reads the row that begins so far behind the beginning of each array.
  __device__ __forceinline__ void load(i64 begin) {
    offset = begin;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      Index at = (lane + k * LANES) * V;
#pragma unroll
      for (int a = 0; a < N; ++a)
        if (at < n) held[a][k] = *reinterpret_cast<const Pack<T, V>*>(p[a] + begin + at);
    }
  }

  // Calls f(values of N rows, number of the first) for each pack.
  template <class Fn> __device__ __forceinline__ void each(Fn f) const {
    if constexpr (K > 0) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        Index at = (lane + k * LANES) * V;
        C values[N][V];
#pragma unroll
        for (int a = 0; a < N; ++a)
#pragma unroll
          for (int v = 0; v < V; ++v) values[a][v] = widen(held[a][k].v[v]);
        if (at < n) f(values, at);
      }
    } else {
      for (Index at = static_cast<Index>(lane) * V; at < n; at += LANES * V) {
        C values[N][V];
#pragma unroll
        for (int a = 0; a < N; ++a) fetch(p[a] + offset + at, values[a]);
        f(values, at);
      }
    }
  }
};

// Joins the totals of the threads that share a row.
template <int LANES, class F> __device__ __forceinline__ void row_join(const F& f, typename F::Total& total) {
  if constexpr (LANES <= 32) group_join(f, total, LANES);
  else block_join(f, total);
}

// A row has a block of its own, or blocks have 256 threads.
template <int LANES> struct Threads { static const int value = LANES > 32 ? LANES : 256; };
template <int LANES> __device__ __forceinline__ i64 row_of_thread() {
  return static_cast<i64>(blockIdx.x) * (Threads<LANES>::value / LANES) + threadIdx.x / LANES;
}

struct Pair { double a, b; };
struct AddPair {
  typedef Pair Few;
  typedef Pair Total;
  static __device__ __forceinline__ Pair none() { return Pair{0, 0}; }
  static __device__ __forceinline__ Pair total(const Pair& few) { return few; }
  __device__ __forceinline__ void join(Pair& a, const Pair& b) const {
    a.a += b.a;
    a.b += b.b;
  }
};
