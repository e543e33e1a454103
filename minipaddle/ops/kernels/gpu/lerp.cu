// lerp, and its three gradients in one pass over the gradient of the result.
#include "block.cuh"
#include "elementwise.cuh"

// Products that are rounded before they are added to, as on the CPU.
__device__ __forceinline__ float product(float x, float y) { return __fmul_rn(x, y); }
__device__ __forceinline__ double product(double x, double y) { return __dmul_rn(x, y); }

// As the CPU's kernel, bit for bit: exact at both ends, finite for finite ends.
template <class C> __device__ __forceinline__ C between(C x, C y, C w, C rest) {
  C d = y - x;
  if (isinf(d) && isfinite(x) && isfinite(y)) return product(rest, x) + product(w, y);
  return w < C(0.5) ? x + product(w, d) : y - product(rest, d);
}
template <class C> struct Lerp {
  __device__ C operator()(C x, C y, C w) const { return between(x, y, w, C(1) - w); }
};
// With a number for a weight, 1 - w is formed in double by the host.
template <class C> struct LerpByNumber {
  __device__ C operator()(C x, C y, C w, C rest) const { return between(x, y, w, rest); }
};

// How many blocks a processor should have room for; lerp.py plans for as many.
const int BLOCKS_AT_ONCE = 4;

// How the gradient of an operand comes out of the elements' gradients.
const int NONE = 0;     // not wanted
const int WHOLE = 1;    // one for each element
const int COLUMNS = 2;  // summed over rows, one for each column
const int ROWS = 3;     // summed over columns

// A weight: a number, one element, an element a row, or one for each element of a row.
template <class C> struct NumberWeight {
  typedef double slot;
  C w, rest;
  __device__ NumberWeight(double number) : w(C(number)), rest(C(1.0 - number)) {}
  __device__ __forceinline__ void row(double, i64) {}
  template <int V> __device__ __forceinline__ void pack(double, i64) {}
  __device__ C at(int) const { return w; }
  __device__ C rest_at(int) const { return rest; }
};
template <class T> struct RowWeight {
  typedef const T* slot;
  computed<T> w;
  __device__ RowWeight(const T*) : w(0) {}
  __device__ __forceinline__ void row(const T* p, i64 offset) { w = widen(p[offset]); }
  template <int V> __device__ __forceinline__ void pack(const T*, i64) {}
  __device__ computed<T> at(int) const { return w; }
  __device__ computed<T> rest_at(int) const { return 1 - w; }
};
template <class T> struct ElementWeight {
  typedef const T* slot;
  Pack<T, 16 / sizeof(T)> w;
  i64 start;
  __device__ ElementWeight(const T*) : start(0) {}
  __device__ __forceinline__ void row(const T*, i64 offset) { start = offset; }
  template <int V> __device__ __forceinline__ void pack(const T* p, i64 column) {
    *reinterpret_cast<Pack<T, V>*>(&w) = *reinterpret_cast<const Pack<T, V>*>(p + start + column);
  }
  __device__ computed<T> at(int k) const { return widen(w.v[k]); }
  __device__ computed<T> rest_at(int k) const { return 1 - widen(w.v[k]); }
};

// What a thread has summed up of one gradient.
template <class C, int MODE, int V> struct Sum {
  C total[MODE == COLUMNS ? V : 1];
  __device__ Sum() {
#pragma unroll
    for (int k = 0; k < (MODE == COLUMNS ? V : 1); ++k) total[k] = C(0);
  }
  __device__ __forceinline__ void add(int k, C value) {
    if (MODE == COLUMNS) total[k] += value;
    if (MODE == ROWS) total[0] += value;
  }
};

// The elements are rows of n columns. `suffix` neighbouring rows share all sums; a block takes
// `height` of them, and a tile of columns: neighbouring rows, or if `woven` every so many-th, so
// that all blocks together read and write one stretch of memory at a time. Where the operands'
// elements stand is told by the geometry of the rows and by whether they change from column to
// column.
struct Task {
  i64 n, suffix, height, chunks, tiles, woven;
};

template <class T, int MODE> struct Target { typedef computed<T>* slot; };
template <class T> struct Target<T, WHOLE> { typedef T* slot; };

// V neighbours of a row, or one element for all of them, or nothing.
const int NOTHING = 0, ROW = 1, ELEMENTS = 2;
template <class T, int V, int KIND> struct Few {
  Pack<T, KIND == ELEMENTS ? V : 1> pack;
  __device__ __forceinline__ void read(const T* p, i64 row, i64 column) {
    if (KIND == ELEMENTS) pack = read_once(reinterpret_cast<const Pack<T, KIND == ELEMENTS ? V : 1>*>(p + row + column));
    if (KIND == ROW) pack.v[0] = p[row];
  }
  __device__ __forceinline__ computed<T> at(int k) const { return widen(pack.v[KIND == ELEMENTS ? k : 0]); }
};

template <class T, int V> __device__ __forceinline__ void write(T* p, i64 at, const computed<T>* values) {
  Pack<T, V> made;
#pragma unroll
  for (int k = 0; k < V; ++k) made.v[k] = narrow<T>(values[k]);
  write_once(reinterpret_cast<Pack<T, V>*>(p + at), made);
}

// What is read of V neighbours, all of it before any result is written.
template <class T, int V, int X, int Y> struct Inputs {
  Few<T, V, ELEMENTS> g;
  Few<T, V, X> x;
  Few<T, V, Y> y;
  __device__ __forceinline__ void read(const Offsets<unsigned int, 3, 0, i64>& at, i64 row, i64 column, const T* grad, const T* from,
                       const T* to) {
    g.read(grad, row, column);
    x.read(from, at.at[1], column);
    y.read(to, at.at[2], column);
  }
};

template <class T, int V, int X, int Y, int DX, int DY, int DW, class W, class SX, class SY, class SW>
__device__ __forceinline__ void gradients(
    i64 row, i64 column, const Inputs<T, V, X, Y>& in, typename W::slot weight, W& w, typename Target<T, DX>::slot dx,
    typename Target<T, DY>::slot dy, typename Target<T, DW>::slot dw, SX& sum_x, SY& sum_y, SW& sum_w) {
  typedef computed<T> C;
  C of_x[V], of_y[V], of_w[V];
  w.template pack<V>(weight, column);
#pragma unroll
  for (int k = 0; k < V; ++k) {
    C g = in.g.at(k);
    of_x[k] = w.rest_at(k) * g;
    of_y[k] = w.at(k) * g;
    if (DW != NONE) of_w[k] = g * (in.y.at(k) - in.x.at(k));
    if (DX > WHOLE) sum_x.add(k, of_x[k]);
    if (DY > WHOLE) sum_y.add(k, of_y[k]);
    if (DW > WHOLE) sum_w.add(k, of_w[k]);
  }
  if (DX == WHOLE) write<T, V>(reinterpret_cast<T*>(dx), row + column, of_x);
  if (DY == WHOLE) write<T, V>(reinterpret_cast<T*>(dy), row + column, of_y);
  if (DW == WHOLE) write<T, V>(reinterpret_cast<T*>(dw), row + column, of_w);
}

template <class C, int MODE, int V>
__device__ __forceinline__ void finish(Sum<C, MODE, V>& sum, void* target, i64 n, i64 chunk, i64 column, i64 block) {
  C* out = static_cast<C*>(target);
  if (MODE == ROWS) {
    C total = block_sum(sum.total[0]);
    if (threadIdx.x == 0 && threadIdx.y == 0) out[block] = total;
  }
  if (MODE == COLUMNS) {
    bool mine = column_sums<C, V>(sum.total);
    if (mine && column < n) {
#pragma unroll
      for (int k = 0; k < V; ++k) out[chunk * n + column + k] = sum.total[k];
    }
  }
}

// The packs that a thread has under way: K of one long row, or one each of K rows.
template <class T, int V, int K, int X, int Y> struct Under {
  Inputs<T, V, X, Y> in[K];
  i64 weight[K];
  __device__ __forceinline__ void read(const Task& task, const Geometry<3>& geometry, int stride, i64 row, i64 end,
                                       i64 column, const T* grad, const T* x, const T* y) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      i64 r = row + k * stride;
      if (r < end) {
        Offsets<unsigned int, 3, 0, i64> at(geometry, static_cast<unsigned int>(r));
        weight[k] = at.at[0];
        in[k].read(at, r * task.n, column, grad, x, y);
      }
    }
  }
};

template <class T, int V, int K, bool LONG, int X, int Y, int DX, int DY, int DW, class W>
__global__ void __launch_bounds__(256, BLOCKS_AT_ONCE)
lerp_grad(const Task task, const Geometry<3> geometry, const T* __restrict__ grad, typename W::slot weight,
          const T* __restrict__ x, const T* __restrict__ y, typename Target<T, DX>::slot dx,
          typename Target<T, DY>::slot dy, typename Target<T, DW>::slot dw) {
  typedef computed<T> C;
  const unsigned int tiles = static_cast<unsigned int>(task.tiles), chunks = static_cast<unsigned int>(task.chunks);
  const unsigned int chunk = blockIdx.x / tiles, tile = blockIdx.x - chunk * tiles;
  const unsigned int group = chunk / chunks, part = chunk - group * chunks;
  const bool woven = task.woven;
  const int stride = woven ? chunks * blockDim.y : blockDim.y;
  const i64 first = group * task.suffix + part * (woven ? blockDim.y : task.height);
  const i64 end = woven ? (group + 1) * task.suffix : min(first + task.height, (group + 1) * task.suffix);
  const int wide = blockDim.x * V;
  i64 column = static_cast<i64>(tile) * wide * (LONG ? K : 1) + threadIdx.x * V;
  W w(weight);
  Sum<C, DX, V> sum_x;
  Sum<C, DY, V> sum_y;
  Sum<C, DW, V> sum_w;
  if (LONG) {  // the block has one row
    Offsets<unsigned int, 3, 0, i64> at(geometry, static_cast<unsigned int>(first));
    const i64 row = first * task.n;
    w.row(weight, at.at[0]);
    Inputs<T, V, X, Y> in[K];
#pragma unroll
    for (int k = 0; k < K; ++k)
      if (column + k * wide + V <= task.n) in[k].read(at, row, column + k * wide, grad, x, y);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      i64 c = column + k * wide;
      if (c + V <= task.n)
        gradients<T, V, X, Y, DX, DY, DW>(row, c, in[k], weight, w, dx, dy, dw, sum_x, sum_y, sum_w);
      else
        for (i64 stop = min(c + V, task.n); c < stop; ++c) {
          Inputs<T, 1, X, Y> last;
          last.read(at, row, c, grad, x, y);
          gradients<T, 1, X, Y, DX, DY, DW>(row, c, last, weight, w, dx, dy, dw, sum_x, sum_y, sum_w);
        }
    }
  } else if (column < task.n) {
    Under<T, V, K, X, Y> now, next;
    i64 row = first + threadIdx.y;
    const int step = K * stride;
    now.read(task, geometry, stride, row, end, column, grad, x, y);
    for (; row < end; row += step) {
      next.read(task, geometry, stride, row + step, end, column, grad, x, y);
#pragma unroll
      for (int k = 0; k < K; ++k) {
        i64 r = row + k * stride;
        if (r < end) {
          w.row(weight, now.weight[k]);
          gradients<T, V, X, Y, DX, DY, DW>(r * task.n, column, now.in[k], weight, w, dx, dy, dw, sum_x, sum_y, sum_w);
        }
      }
      now = next;
    }
  }
  finish(sum_x, dx, task.n, chunk, column, blockIdx.x);
  finish(sum_y, dy, task.n, chunk, column, blockIdx.x);
  finish(sum_w, dw, task.n, chunk, column, blockIdx.x);
}

// Adds up partial sums, in a fixed order: out[e] is the sum over k of partial[kept(e) + folded(k)].
// Threads along x take neighbouring results, threads along y share the terms of one.
template <class T>
__global__ void __launch_bounds__(1024)
add_partials(i64 results, i64 terms, const Geometry<1> kept, const Geometry<1> folded, const computed<T>* __restrict__ partial, T* out) {
  typedef computed<T> C;
  const i64 e = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  C total[1] = {C(0)};
  if (e < results) {
    partial += Offsets<unsigned int, 1, 0, i64>(kept, static_cast<unsigned int>(e)).at[0];
    if (folded.axes == 1) {
      const i64 step = folded.step[0][0];
#pragma unroll 4
      for (i64 k = threadIdx.y; k < terms; k += blockDim.y) total[0] += partial[k * step];
    } else {
      for (i64 k = threadIdx.y; k < terms; k += blockDim.y)
        total[0] += partial[Offsets<unsigned int, 1, 0, i64>(folded, static_cast<unsigned int>(k)).at[0]];
    }
  }
  if (blockDim.x == 1) {
    C sum = block_sum(total[0]);
    if (threadIdx.y == 0) out[e] = narrow<T>(sum);
  } else if (column_sums<C, 1, 1024>(total) && e < results) {
    out[e] = narrow<T>(total[0]);
  }
}
