// softmax and log_softmax, and their gradients.
#include "columns.cuh"
#include "exponentials.cuh"
#include "rows.cuh"
#include "spread.cuh"

// What rows share: the logarithm of their sum, as it is and as what has to be multiplied with.
template <class T, bool LOG> struct Normal {
  typedef computed<T> C;
  C top, rest;
  __device__ __forceinline__ Normal(const Exponentials<C>& total) : top(total.top) {
    C nan = total.sum - total.sum;  // where there was an infinity, else 0
    rest = LOG ? log(total.sum) + nan : 1 / total.sum + nan;
  }
  __device__ __forceinline__ Normal(const Beside& beside, i64 group)
      : Normal(static_cast<const Exponentials<C>*>(beside.p)[group]) {}
  __device__ __forceinline__ C operator()(C x, C, i64) const {
    return LOG ? (x - top) - rest : power<T>(x - top) * rest;
  }
};
template <class T> struct SoftmaxOf : Normal<T, false> { using SoftmaxOf::Normal::Normal; };
template <class T> struct LogSoftmaxOf : Normal<T, true> { using LogSoftmaxOf::Normal::Normal; };

template <class T, int V, int K, int LANES, bool LOG>
__global__ void __launch_bounds__(Threads<LANES>::value) softmax_rows(i64 rows, i64 n, const T* x, T* out) {
  typedef computed<T> C;
  i64 row = row_of_thread<LANES>();
  Rows<T, V, K, LANES, 1> held(n);
  held.p[0] = x;
  LogSumExp<T> f;
  Exponentials<C> total = f.none();
  if (row < rows) {
    held.load(row * n);
    held.each([&](const C(&v)[1][V], int) {
#pragma unroll
      for (int k = 0; k < V; ++k) total.top = fmax(total.top, v[0][k]);
    });
    total.top = fmin(total.top, Limits<C>::finite());
    held.each([&](const C(&v)[1][V], int) {
#pragma unroll
      for (int k = 0; k < V; ++k) total.sum += quick_exp(v[0][k] - total.top);
    });
  }
  row_join<LANES>(f, total);
  if (row >= rows) return;
  Normal<T, LOG> normal(total);
  held.each([&](const C(&v)[1][V], int at) {
    C result[V];
#pragma unroll
    for (int k = 0; k < V; ++k) result[k] = normal(v[0][k], v[0][k], 0);
    store(out + held.offset + at, result);
  });
}

// Sums that the gradients need: of out times out_grad, or of out_grad.
template <class T> struct RowSum : AddUp<computed<T>> { using RowSum::AddUp::AddUp; };

template <class T, bool LOG> struct NormalGrad {
  typedef computed<T> C;
  C total;
  __device__ __forceinline__ NormalGrad(C total) : total(total) {}
  __device__ __forceinline__ NormalGrad(const Beside& beside, i64 group) : total(static_cast<const C*>(beside.p)[group]) {}
  __device__ __forceinline__ C operator()(C out, C g, i64) const {
    return LOG ? g - power<T>(out) * total : (g - total) * out;
  }
};
template <class T> struct SoftmaxGradOf : NormalGrad<T, false> { using SoftmaxGradOf::NormalGrad::NormalGrad; };
template <class T> struct LogSoftmaxGradOf : NormalGrad<T, true> { using LogSoftmaxGradOf::NormalGrad::NormalGrad; };

template <class T, int V, int K, int LANES, bool LOG>
__global__ void __launch_bounds__(Threads<LANES>::value) softmax_rows_grad(i64 rows, i64 n, const T* out, const T* out_grad, T* x_grad) {
  typedef computed<T> C;
  i64 row = row_of_thread<LANES>();
  Rows<T, V, K, LANES, 2> held(n);
  held.p[0] = out;
  held.p[1] = out_grad;
  AddUp<C> f;
  C sum = 0;
  if (row < rows) {
    held.load(row * n);
    held.each([&](const C(&v)[2][V], int) {
#pragma unroll
      for (int k = 0; k < V; ++k) sum += LOG ? v[1][k] : v[0][k] * v[1][k];
    });
  }
  typename AddUp<C>::Total total = sum;
  row_join<LANES>(f, total);
  if (row >= rows) return;
  NormalGrad<T, LOG> normal(static_cast<C>(total));
  held.each([&](const C(&v)[2][V], int at) {
    C result[V];
#pragma unroll
    for (int k = 0; k < V; ++k) result[k] = normal(v[0][k], v[1][k], 0);
    store(x_grad + held.offset + at, result);
  });
}
