// layer_norm and rms_norm of rows, and their gradients.
#include "rows.cuh"

// A mean that float cannot hold well enough, in two numbers.
template <class C> struct Center {
  C high, low;
  __device__ __forceinline__ Center(double mean) : high(static_cast<C>(mean)), low(static_cast<C>(mean - high)) {}
  __device__ __forceinline__ C operator()(C x) const { return (x - high) - low; }
};

template <class T, int V, int K, int LANES, bool CENTER>
__global__ void __launch_bounds__(Threads<LANES>::value)
norm_rows(i64 rows, i64 n, const T* x, const T* weight, const T* bias, T* out, double* mean, computed<T>* rstd, double epsilon) {
  typedef computed<T> C;
  typedef Rows<T, V, K, LANES, 1> Held;
  typedef typename Held::Index Index;
  i64 row = row_of_thread<LANES>();
  double inverse = 1.0 / n;
  Held held(n);
  held.p[0] = x;
  AddUp<double> f;
  double total = 0, pivot = 0;
  if (row < rows) held.load(row * n);
  if (CENTER) {
    // Sums of differences from one element: those of elements themselves lose digits if all are far
    // from 0.
    C first = row < rows ? widen(x[row * n]) : C(0);
    pivot = first;
    if (row < rows) held.each([&](const C(&v)[1][V], Index) {
      C sum = 0;
#pragma unroll
      for (int k = 0; k < V; ++k) sum += v[0][k] - first;
      total += sum;
    });
    row_join<LANES>(f, total);
  }
  double middle = pivot + total * inverse;
  Center<C> center(middle);
  double squares = 0;
  if (row < rows) held.each([&](const C(&v)[1][V], Index) {
    C sum = 0;
#pragma unroll
    for (int k = 0; k < V; ++k) {
      C c = center(v[0][k]);
      sum += c * c;
    }
    squares += sum;
  });
  row_join<LANES>(f, squares);
  if (row >= rows) return;
  C r = 1 / sqrt(static_cast<C>(squares * inverse) + static_cast<C>(epsilon));
  if (held.lane == 0) {
    if (CENTER) mean[row] = middle;
    rstd[row] = r;
  }
  held.each([&](const C(&v)[1][V], Index at) {
    C result[V], factor[V];
#pragma unroll
    for (int k = 0; k < V; ++k) result[k] = center(v[0][k]) * r;
    if (weight) {
      fetch(weight + at, factor);
#pragma unroll
      for (int k = 0; k < V; ++k) result[k] *= factor[k];
    }
    if (bias) {
      fetch(bias + at, factor);
#pragma unroll
      for (int k = 0; k < V; ++k) result[k] += factor[k];
    }
    store(out + held.offset + at, result);
  });
}

// Of c = x - mean, r = rstd, g = out_grad and u = g weight: the gradient by x,
// r u - c r^3 mean(u c) - r mean(u), where the last term belongs to a mean. A block works rows that
// are gridDim.x blocks apart, and adds up r g c and g of these for the gradients by weight and
// bias, as far as `sums` asks for them by bits 1 and 2. partial is [number of sums, blocks, n].
template <class T, int V, int K, int LANES, bool CENTER>
__global__ void __launch_bounds__(Threads<LANES>::value)
norm_rows_grad(i64 rows, i64 n, const T* x, const T* out_grad, const T* weight, const double* mean, const computed<T>* rstd, T* x_grad, computed<T>* partial, i64 sums) {
  typedef computed<T> C;
  typedef Rows<T, V, K, LANES, 2> Held;
  typedef typename Held::Index Index;
  extern __shared__ double storage[];
  const int THREADS = Threads<LANES>::value, GROUPS = THREADS / LANES;
  int count = (sums & 1) + (sums >> 1 & 1);
  // A thread adds up K V elements of each sum: number i is at i THREADS + threadIdx.x.
  C* by_weight = reinterpret_cast<C*>(storage) + threadIdx.x;
  C* by_bias = by_weight + (sums & 1) * K * V * THREADS;
  Held held(n);
  held.p[0] = x;
  held.p[1] = out_grad;
  for (int i = 0; i < count * K * V; ++i) by_weight[i * THREADS] = 0;
  double inverse = 1.0 / n;
  AddPair f;
  for (i64 first = static_cast<i64>(blockIdx.x) * GROUPS; first < rows; first += static_cast<i64>(gridDim.x) * GROUPS) {
    i64 row = first + threadIdx.x / LANES;
    Pair total = f.none();
    Center<C> center(CENTER && row < rows ? mean[row] : 0);
    C r = row < rows ? rstd[row] : C(0);
    if (row < rows) {
      held.load(row * n);
      held.each([&](const C(&v)[2][V], Index at) {
        C factor[V], product = 0, sum = 0;
        if (weight) fetch(weight + at, factor);
#pragma unroll
        for (int k = 0; k < V; ++k) {
          C u = weight ? v[1][k] * factor[k] : v[1][k];
          product += u * center(v[0][k]);
          sum += u;
        }
        total.a += product;
        total.b += sum;
      });
    }
    row_join<LANES>(f, total);
    if (row >= rows) continue;
    C slope = static_cast<C>(total.a * inverse) * r * r, level = CENTER ? static_cast<C>(total.b * inverse) : C(0);
    held.each([&](const C(&v)[2][V], Index at) {
      C result[V], factor[V];
      if (weight) fetch(weight + at, factor);
      int slot = static_cast<int>(at / V / LANES) * V * THREADS;
#pragma unroll
      for (int k = 0; k < V; ++k) {
        C c = center(v[0][k]), g = v[1][k], u = weight ? g * factor[k] : g;
        result[k] = (u - c * slope - level) * r;
        if (sums & 1) by_weight[slot + k * THREADS] += r * g * c;
        if (sums & 2) by_bias[slot + k * THREADS] += g;
      }
      store(x_grad + held.offset + at, result);
    });
  }
  if (!sums) return;
  __syncthreads();
  for (int s = 0; s < count; ++s) {
    for (int j = threadIdx.x; j < n; j += THREADS) {
      C sum = 0;
      int pack = j / V, at = (s * K * V + pack / LANES * V + j % V) * THREADS + pack % LANES;
      for (int i = 0; i < GROUPS; ++i) sum += reinterpret_cast<C*>(storage)[at + i * LANES];
      partial[(static_cast<i64>(s) * gridDim.x + blockIdx.x) * n + j] = sum;
    }
  }
}
