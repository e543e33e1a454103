// Indices that users give, as row numbers.
#include "elementwise.cuh"

// Of each index the number counted from the front, times `step`, plus where g says that its line
// starts. One that is out of range is -1 and sets *wrong; whoever writes there writes the same.
template <class I, class N>
__global__ void __launch_bounds__(256)
number_rows(i64 n, i64 length, i64 step, const Geometry<1> g, const I* index, i64* out, int* wrong) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  i64 row = static_cast<i64>(index[i]);
  if (row < 0) row += length;
  if (row >= 0 && row < length) {
    out[i] = row * step + Offsets<N, 1, 0, i64>(g, static_cast<N>(i)).at[0];
  } else {
    out[i] = -1;
    *wrong = 1;
  }
}
