// What stands in a result before a product is added to it.
#include "element.cuh"

// Every row of `out`, of `packs` packs, becomes `row`.
template <class T, int V>
__global__ void __launch_bounds__(256) fill_rows(i64 n, i64 packs, const T* row, T* out) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  i64 at = n < (i64(1) << 31) ? static_cast<unsigned>(i) % static_cast<unsigned>(packs) : i % packs;
  reinterpret_cast<Pack<T, V>*>(out)[i] = reinterpret_cast<const Pack<T, V>*>(row)[at];
}
