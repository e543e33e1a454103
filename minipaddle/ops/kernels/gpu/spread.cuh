// What comes of each element of [outer, n, inner] and of something that its group over n shares.
//
// A functor G is made from a Beside and the number of a group, and called as g(a, b, j) with the
// values of one or two arrays and the element's number along n.
#pragma once
#include "limits.cuh"

// Arrays and numbers that groups have something in, as the functor at hand knows.
struct Beside {
  const void *p, *q, *r;
  double number, second;
  i64 integer;
};

template <class G, class T, int V>
__device__ __forceinline__ void spread_pack(const G& g, const Pack<T, V>& x, const Pack<T, V>& y, T* out, i64 j) {
  Pack<T, V> result;
#pragma unroll
  for (int k = 0; k < V; ++k) result.v[k] = narrow<T>(g(widen(x.v[k]), widen(y.v[k]), j + k));
  *reinterpret_cast<Pack<T, V>*>(out) = result;
}

const int PACKS = 4;  // that are read before one is written: out may be a, and a read waits for a write

// Long rows: a block works a chunk of one. The arrays begin alike where a pack may begin.
template <class G, class T, int V, bool TWO>
__global__ void __launch_bounds__(256)
spread_rows(i64 splits, i64 n, i64 chunk, const T* a, const T* b, T* out, const void* p, const void* q, const void* r, double number, double second, i64 integer) {
  i64 row = blockIdx.x / splits, begin = (blockIdx.x - row * splits) * chunk;
  i64 end = begin + chunk < n ? begin + chunk : n;
  G g(Beside{p, q, r, number, second, integer}, row);
  i64 base = row * n, head = V - 1 - (base + begin + V - 1) % V;
  if (head > end - begin) head = end - begin;
  i64 first = begin + head, packs = (end - first) / V;
  for (i64 i = threadIdx.x; i < packs; i += PACKS * 256) {
    Pack<T, V> x[PACKS], y[PACKS];
#pragma unroll
    for (int u = 0; u < PACKS; ++u) {
      i64 at = base + first + (i + u * 256) * V;
      if (i + u * 256 >= packs) break;
      x[u] = *reinterpret_cast<const Pack<T, V>*>(a + at);
      y[u] = TWO ? *reinterpret_cast<const Pack<T, V>*>(b + at) : x[u];
    }
#pragma unroll
    for (int u = 0; u < PACKS; ++u) {
      i64 j = first + (i + u * 256) * V;
      if (i + u * 256 >= packs) break;
      spread_pack(g, x[u], y[u], out + base + j, j);
    }
  }
  i64 rest = end - begin - packs * V;
  for (i64 i = threadIdx.x; i < rest; i += 256) {
    i64 j = i < head ? begin + i : first + packs * V + (i - head);
    Pack<T, 1> x = {a[base + j]}, y = {TWO ? b[base + j] : a[base + j]};
    spread_pack(g, x, y, out + base + j, j);
  }
}

// Any other: a thread works V neighbours, wherever rows end.
template <class G, class T, int V, bool TWO, class Index>
__global__ void __launch_bounds__(256)
spread_flat(i64 size, i64 n, i64 inner, const T* a, const T* b, T* out, const void* p, const void* q, const void* r, double number, double second, i64 integer) {
  i64 at = (static_cast<i64>(blockIdx.x) * 256 + threadIdx.x) * V;
  if (at >= size) return;
  Index length = static_cast<Index>(n), deep = static_cast<Index>(inner), i = static_cast<Index>(at);
  Index line = i / deep, c = i - line * deep, outer = line / length, j = line - outer * length;
  Beside beside{p, q, r, number, second, integer};
  bool whole = at + V <= size;
  Pack<T, V> x, y, result;
  if (whole) {
    x = *reinterpret_cast<const Pack<T, V>*>(a + at);
    y = TWO ? *reinterpret_cast<const Pack<T, V>*>(b + at) : x;
  }
  i64 group = static_cast<i64>(outer) * inner + c;
  G g(beside, group);
#pragma unroll
  for (int k = 0; k < V; ++k) {
    if (at + k >= size) break;
    if (!whole) {
      x.v[k] = a[at + k];
      y.v[k] = TWO ? b[at + k] : x.v[k];
    }
    i64 here = static_cast<i64>(outer) * inner + c;
    if (here != group) g = G(beside, group = here);
    result.v[k] = narrow<T>(g(widen(x.v[k]), widen(y.v[k]), j));
    if (!whole) out[at + k] = result.v[k];
    if (++c == deep) {
      c = 0;
      if (++j == length) {
        j = 0;
        ++outer;
      }
    }
  }
  if (whole) *reinterpret_cast<Pack<T, V>*>(out + at) = result;
}
