// Folds over an axis that has others behind it: threads stand side by side along these.
#pragma once
#include "fold.cuh"

template <class F, class S, int V>
__device__ __forceinline__ void walk_down(const F& f, const S& s, typename F::Total* total, i64 base, i64 step, i64 begin, i64 end, int y, int high) {
#pragma unroll
  for (int k = 0; k < V; ++k) total[k] = f.total(f.none());
  i64 j = begin + y;
  if constexpr (!S::FINE) {
    for (; j < end; j += high) f.join(total[0], s.one(base + j * step));
  } else {
    while (j < end) {
      typename F::Few few[V];
#pragma unroll
      for (int k = 0; k < V; ++k) few[k] = f.none();
#pragma unroll 1
      for (int turn = 0; turn < TURNS && j < end; ++turn, j += UNROLL * high) {
        typename S::Some some[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
          if (j + u * high < end) some[u] = s.some(base + (j + u * high) * step);
#pragma unroll
        for (int k = 0; k < V; ++k) {
          if constexpr (TakesAll<F>::value) {
            typename F::Together values[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) values[u] = j + u * high < end ? S::value(some[u], k) : f.missing();
            f.take_all(few[k], values);
          } else {
#pragma unroll
            for (int u = 0; u < UNROLL; ++u)
              if (j + u * high < end) f.take(few[k], S::value(some[u], k), j + u * high);
          }
        }
      }
#pragma unroll
      for (int k = 0; k < V; ++k) f.join(total[k], f.total(few[k]));
    }
  }
}

// Joins, for each of the columns that stand side by side, the totals of the threads below.
template <class F> __device__ __forceinline__ void join_down(const F& f, typename F::Total& total, int wide) {
  __shared__ typename F::Total held[256];
  int y = threadIdx.x / wide;
  __syncthreads();  // an earlier call may still be read
  held[threadIdx.x] = total;
  for (int step = blockDim.x / wide / 2; step > 0; step /= 2) {
    __syncthreads();
    if (y < step) f.join(held[threadIdx.x], held[threadIdx.x + step * wide]);
  }
  total = held[threadIdx.x];  // of use to those with y = 0, which wrote it
}

// A block folds a chunk of n of some packs of columns; blockIdx.y counts the chunks. The packs of
// all outer are numbered one after the other; inner counts those of one.
template <class F, class S, class R>
__global__ void __launch_bounds__(256)
fold_columns(i64 packs, i64 n, i64 inner, i64 outer_step, i64 step, i64 inner_step, i64 chunk, i64 wide, const void* a, const void* b, typename R::type* out, double number) {
  const int V = S::WIDTH;
  F f(number);
  S s(a, b);
  int across = static_cast<int>(wide), x = threadIdx.x % across, y = threadIdx.x / across;
  i64 pack = static_cast<i64>(blockIdx.x) * across + x;
  i64 outer = pack / inner, column = (pack - outer * inner) * V;
  i64 begin = blockIdx.y * chunk, end = begin + chunk < n ? begin + chunk : n;
  if (pack >= packs) end = begin;
  typename F::Total total[V];
  walk_down<F, S, V>(f, s, total, outer * outer_step + column * inner_step, step, begin, end, y, blockDim.x / across);
  i64 at = (outer * gridDim.y + blockIdx.y) * inner * V + column;
#pragma unroll
  for (int k = 0; k < V; ++k) {
    join_down(f, total[k], across);
    if (y == 0 && pack < packs) R::put(out, at + k, f, total[k]);
  }
}
