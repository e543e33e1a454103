// Rows of a table by their number, the sum of rows that have one number, and rows scaled down.
//
// A number that no row has reads as NaN, and what would be added to it is left out: to refuse it,
// the host would have to wait for it.
#include "norms.cuh"
#include "rows.cuh"

// wide counts the packs of a row, packs those of the result; a row of number `padding` is zero.
template <class T, class L, int V>
__global__ void __launch_bounds__(256) lookup(i64 packs, i64 wide, i64 height, i64 padding, const T* table, const L* ids, T* out) {
  typedef computed<T> C;
  i64 i = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= packs) return;
  i64 line = i / wide, id = static_cast<i64>(ids[line]);
  Pack<T, V> pack;
  if (id >= 0 && id < height && id != padding) {
    pack = *reinterpret_cast<const Pack<T, V>*>(table + (id * wide + (i - line * wide)) * V);
  } else {
    T value = narrow<T>(id >= 0 && id == padding ? C(0) : Limits<C>::nan());
#pragma unroll
    for (int k = 0; k < V; ++k) pack.v[k] = value;
  }
  reinterpret_cast<Pack<T, V>*>(out)[i] = pack;
}

// Keys in whose order those of one number follow each other as they stood: the number, height for
// those that are left out, and below it the place.
template <class L>
__global__ void __launch_bounds__(256) make_keys(i64 count, i64 height, i64 padding, i64 shift, const L* ids, i64* keys) {
  i64 i = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= count) return;
  i64 id = static_cast<i64>(ids[i]);
  if (id < 0 || id >= height || id == padding) id = height;
  keys[i] = (id << shift) | i;
}

const int PIECE = 32;  // keys in a row that a thread adds up the rows of
const int AHEAD = 8;   // rows that are read at once

template <class C, int V> struct Line { C v[V]; };

// What keys in their order stand for.
struct Order {
  const i64* keys;
  i64 count, shift;
  __device__ __forceinline__ i64 id(i64 at) const { return keys[at] >> shift; }
  __device__ __forceinline__ bool same(i64 a, i64 b) const { return a >= 0 && b < count && id(a) == id(b); }
  // Where the first key stands that is not below `key`.
  __device__ __forceinline__ i64 find(i64 key) const {
    i64 low = 0, high = count;
    while (low < high) {
      i64 middle = (low + high) / 2;
      if (keys[middle] < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
};

template <class T, int V>
__device__ __forceinline__ void put_sum(T* out, const Line<computed<T>, V>& sum, i64 often) {
  computed<T> result[V];
#pragma unroll
  for (int k = 0; k < V; ++k) result[k] = often > 0 ? sum.v[k] / static_cast<computed<T>>(often) : sum.v[k];
  store(out, result);
}

// Adds up the rows of each number among the keys of a piece. The sum of one that has no key in
// another piece is a result; of the others the first of the piece and the last are left in `heads`
// and `tails`. by_count divides a sum by the number of its rows.
template <class T, int V>
__global__ void __launch_bounds__(256)
sum_pieces(i64 threads, i64 wide, i64 height, i64 by_count, i64 count, i64 shift, const i64* keys, const T* rows, T* out, computed<T>* heads, computed<T>* tails) {
  typedef computed<T> C;
  i64 thread = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (thread >= threads) return;
  Order order{keys, count, shift};
  i64 piece = thread / wide, column = (thread - piece * wide) * V;
  i64 begin = piece * PIECE, end = begin + PIECE < count ? begin + PIECE : count, mask = (1LL << shift) - 1;
  i64 start = begin;  // of the number at hand
  Line<C, V> sum = {};
  for (i64 first = begin; first < end; first += AHEAD) {
    i64 key[AHEAD];
    Pack<T, V> row[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) key[i] = first + i < end ? keys[first + i] : 0;
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (first + i < end) row[i] = *reinterpret_cast<const Pack<T, V>*>(rows + (key[i] & mask) * wide * V + column);
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      i64 at = first + i;
      if (at >= end) break;
#pragma unroll
      for (int k = 0; k < V; ++k) sum.v[k] += widen(row[i].v[k]);
      if (at + 1 < end && order.same(at, at + 1)) continue;
      i64 id = key[i] >> shift, place = piece * wide * V + column;
      if (start == begin && order.same(begin - 1, begin)) store(heads + place, sum.v);
      else if (at + 1 == end && order.same(at, end)) store(tails + place, sum.v);
      else if (id < height) put_sum(out + id * wide * V + column, sum, by_count ? at + 1 - start : 0);
      start = at + 1;
      sum = Line<C, V>{};
    }
  }
}

// Joins the sums of a number that has keys in several pieces; the thread of the first of these does.
template <class T, int V>
__global__ void __launch_bounds__(256)
join_pieces(i64 threads, i64 wide, i64 height, i64 by_count, i64 count, i64 shift, const i64* keys, T* out, const computed<T>* heads, const computed<T>* tails) {
  typedef computed<T> C;
  i64 thread = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (thread >= threads) return;
  Order order{keys, count, shift};
  i64 piece = thread / wide, column = (thread - piece * wide) * V;
  i64 begin = piece * PIECE, end = begin + PIECE;
  if (end >= count || !order.same(end - 1, end)) return;
  i64 id = order.id(end - 1);
  if (id >= height || (order.id(begin) == id && order.same(begin - 1, begin))) return;
  i64 stop = order.find((id + 1) << shift), last = (stop - 1) / PIECE;
  Line<C, V> sum;
  fetch(tails + piece * wide * V + column, sum.v);
#pragma unroll 4
  for (i64 other = piece + 1; other <= last; ++other) {
    C part[V];
    fetch(heads + other * wide * V + column, part);
#pragma unroll
    for (int k = 0; k < V; ++k) sum.v[k] += part[k];
  }
  put_sum(out + id * wide * V + column, sum, by_count ? stop - order.find(id << shift) : 0);
}

// Scales each row that has a key, once, down to a norm of at most `most`. F is a functor of norms.cuh.
template <class F, class T, int V>
__global__ void __launch_bounds__(256) renorm(i64 wide, i64 height, i64 count, i64 shift, const i64* keys, T* table, double most, double kind) {
  typedef computed<T> C;
  Order order{keys, count, shift};
  i64 at = blockIdx.x, id = order.id(at);
  if (id >= height || order.same(at - 1, at)) return;
  F f(kind);
  T* row = table + id * wide;
  typename F::Total total = walk(f, Elements<T, V>(row, row), 0, 1, 0, wide, threadIdx.x, blockDim.x);
  block_join(f, total);
  C norm = static_cast<C>(f.finish(total));
  if (!(norm > static_cast<C>(most))) return;
  C factor = static_cast<C>(most) / (norm + static_cast<C>(1e-7));
  for (i64 j = threadIdx.x; j < wide; j += blockDim.x) row[j] = narrow<T>(widen(row[j]) * factor);
}
