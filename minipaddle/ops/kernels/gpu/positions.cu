// Rows of an array by their number: read, written, added to.
//
// The array is seen as [outer, count, inner], an index names K of the count rows, and what is read,
// written or added is [outer, K, inner]. A number that no row has reads as NaN or 0, and what would
// be written or added to it is left out.
#include "element.cuh"

// How an array lies: elements between neighbours along outer, count and inner.
struct Lie { i64 outer, row, inner; };

// What a row that is not there reads as.
template <class T> __device__ __forceinline__ T nothing() {
  if constexpr (IsFloat<computed<T>>::value) return narrow<T>(__int_as_float(0x7fc00000));
  else return T(0);
}

// Of pack number i of [outer, rows, inner]: where it stands along each.
template <class N> struct Place {
  N outer, row, inner;
  __device__ __forceinline__ Place(i64 i, i64 rows, i64 packs) {
    N at = static_cast<N>(i), line = at / static_cast<N>(packs);
    inner = at - line * static_cast<N>(packs);
    outer = line / static_cast<N>(rows);
    row = line - outer * static_cast<N>(rows);
  }
};

template <class T, int V, class N> __device__ __forceinline__ Pack<T, V>* pack_at(T* x, const Lie& lie, const Place<N>& p, i64 row) {
  return reinterpret_cast<Pack<T, V>*>(x + p.outer * lie.outer + row * lie.row + static_cast<i64>(p.inner) * V * lie.inner);
}

// n packs of the result, of which `packs` make a row.
template <class T, int V, class Index, class N>
__global__ void __launch_bounds__(256) gather(i64 n, i64 rows, i64 packs, i64 count, const Lie lie, const Index* index, T* x, T* out) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Place<N> p(i, rows, packs);
  i64 row = static_cast<i64>(index[p.row]);
  Pack<T, V> found;
  if (row >= 0 && row < count) {
    found = *pack_at<T, V>(x, lie, p, row);
  } else {
#pragma unroll
    for (int k = 0; k < V; ++k) found.v[k] = nothing<T>();
  }
  reinterpret_cast<Pack<T, V>*>(out)[i] = found;
}

// As gather, the other way; `step` is 0 for a single value. Without `stays` all are written.
template <class T, int V, class Index, class N>
__global__ void __launch_bounds__(256)
put(i64 n, i64 rows, i64 packs, i64 count, const Lie lie, i64 step, const Index* index, const bool* stays, const T* value, T* x) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Place<N> p(i, rows, packs);
  i64 row = static_cast<i64>(index[p.row]);
  if (row < 0 || row >= count || (stays && !stays[p.row])) return;
  *pack_at<T, V>(x, lie, p, row) = reinterpret_cast<const Pack<T, V>*>(value)[i * step];
}

// Which positions are the last that name their row: by a look at all later ones,
template <class Index> __global__ void __launch_bounds__(256) last_of_few(i64 n, const Index* index, bool* stays) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool last = true;
  for (i64 later = i + 1; later < n; ++later) last = last && index[later] != index[i];
  stays[i] = last;
}

// or by a table of the last position of every row. A maximum is the same in whatever order.
template <class Index, class W> __global__ void __launch_bounds__(256) note_last(i64 n, i64 count, const Index* index, W* last) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  i64 row = static_cast<i64>(index[i]);
  if (row >= 0 && row < count) atomicMax(last + row, static_cast<W>(i));
}
template <class Index, class W> __global__ void __launch_bounds__(256) is_last(i64 n, i64 count, const Index* index, const W* last, bool* stays) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  i64 row = static_cast<i64>(index[i]);
  stays[i] = row >= 0 && row < count && last[row] == static_cast<W>(i);
}

// Sums in a fixed order. Items, each a row of `inner` values, are sorted by the number of the row
// that they belong to. A thread goes through CHUNK of them. A row all of whose items it has seen
// gets their sum; what it has of rows that reach over an end of its chunk is left as two items for
// the next round: same sums, fewer items. There a number n of a row that needs nothing more is ~n,
// so that the numbers still ascend.
const int CHUNK = 32;

// Numbers are row << shift | position in the first round, where the values stand unsorted.
struct Packed {
  i64 count, shift;
  __device__ __forceinline__ i64 raw(i64 key) const { return key >> shift; }
  __device__ __forceinline__ bool counts(i64 key) const { return raw(key) >= 0 && raw(key) < count; }
  __device__ __forceinline__ i64 row(i64 key) const { return raw(key) < 0 ? 0 : raw(key) < count ? raw(key) : count - 1; }
  __device__ __forceinline__ i64 at(i64 key, i64) const { return key & ((i64(1) << shift) - 1); }
};
struct Plain {
  i64 count, shift;
  __device__ __forceinline__ bool counts(i64 key) const { return key >= 0; }
  __device__ __forceinline__ i64 row(i64 key) const { return key < 0 ? ~key : key; }
  __device__ __forceinline__ i64 at(i64, i64 j) const { return j; }
};

template <class T, class V, class Keys>
__global__ void __launch_bounds__(256)
sum_runs(i64 n, i64 chunks, i64 items, i64 inner, const Keys read, const i64* keys, const V* values, T* out, i64* next_keys, computed<T>* next) {
  typedef computed<T> W;
  i64 thread = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= n) return;
  i64 i = thread % inner, chunk = thread / inner % chunks, outer = thread / inner / chunks;
  i64 first = chunk * CHUNK, end = first + CHUNK < items ? first + CHUNK : items;
  i64 row = read.row(keys[first]), last_row = read.row(keys[end - 1]);
  bool open = first > 0 && read.row(keys[first - 1]) == row;  // its first items are before the chunk
  i64 head_key = ~row, tail_key = ~last_row;
  W head = 0, tail = 0, sum = 0;
  bool any = false;
  for (i64 j = first; j <= end; ++j) {
    i64 key = j < items ? keys[j] : 0, here = j < items ? read.row(key) : -1;
    if (j == end || here != row) {  // the end of a run
      if (any && open) {
        head_key = row;
        head = sum;
      } else if (any && here == row) {
        tail_key = row;
        tail = sum;
      } else if (any) {
        T* to = out + (outer * read.count + row) * inner + i;
        *to = narrow<T>(static_cast<W>(widen(*to) + sum));
      }
      if (j == end) break;
      row = here;
      open = any = false;
      sum = 0;
    }
    if (read.counts(key)) {
      sum = static_cast<W>(sum + static_cast<W>(widen(values[(outer * items + read.at(key, j)) * inner + i])));
      any = true;
    }
  }
  if (chunks == 1) return;
  i64 to = (outer * chunks + chunk) * 2;
  next[to * inner + i] = head;
  next[(to + 1) * inner + i] = tail;
  if (outer == 0 && i == 0) {
    next_keys[2 * chunk] = head_key;
    next_keys[2 * chunk + 1] = tail_key;
  }
}
