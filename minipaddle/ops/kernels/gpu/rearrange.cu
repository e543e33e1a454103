// Matrices cut along a diagonal.
#include "element.cuh"

// Keeps what is on or below a diagonal of the matrices in x, or on or above it.
template <class T, bool LOWER, class N>
__global__ void __launch_bounds__(256) triangle(i64 n, i64 rows, i64 columns, i64 diagonal, const T* x, T* out) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  N line = static_cast<N>(i) / static_cast<N>(columns);
  i64 column = i - static_cast<i64>(line) * columns, row = static_cast<i64>(line % static_cast<N>(rows));
  bool keep = LOWER ? column <= row + diagonal : column >= row + diagonal;
  T value;
  if (keep) value = x[i];  // what is cut off is not read
  else value = T(0);
  out[i] = value;
}
