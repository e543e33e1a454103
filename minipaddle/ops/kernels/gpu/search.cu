// Where values belong among sorted ones.
#include "element.cuh"

// NaN comes after all others.
template <class C> __device__ __forceinline__ bool before(C a, C b) {
  if constexpr (IsFloat<C>::value) return a < b || (b != b && a == a);
  else return a < b;
}

// `values` are n, of which `per_row` belong to each row of `length` edges. Finds how many edges come
// before a value; with RIGHT also those that are equal.
template <class T, class Out, bool RIGHT>
__global__ void __launch_bounds__(256) search(i64 n, i64 length, i64 per_row, const T* edges, const T* values, Out* out) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T* row = edges + i / per_row * length;
  computed<T> value = widen(values[i]);
  i64 low = 0, high = length;
  while (low < high) {
    i64 middle = low + (high - low) / 2;
    computed<T> edge = widen(row[middle]);
    if (RIGHT ? !before(value, edge) : before(edge, value)) low = middle + 1;
    else high = middle;
  }
  out[i] = static_cast<Out>(low);
}
