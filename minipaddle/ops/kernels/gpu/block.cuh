// Sums over the threads of a block, in a fixed order.
#pragma once
#include "element.cuh"

__device__ __forceinline__ int thread_number() { return threadIdx.y * blockDim.x + threadIdx.x; }

// The sum over all threads of the block, whose number is a multiple of 32; right in thread 0.
template <class C> __device__ C block_sum(C value) {
  __shared__ C of_warp[32];
  int thread = thread_number(), warps = blockDim.x * blockDim.y / 32;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  __syncthreads();  // the last sum has been read
  if (thread % 32 == 0) of_warp[thread / 32] = value;
  __syncthreads();
  if (thread < 32) {
    value = thread < warps ? of_warp[thread] : C(0);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  }
  return value;
}

// Sums of V values each over the threads of one x; true where they are right, in row 0.
template <class C, int V, int THREADS = 256> __device__ bool column_sums(C* values) {
  __shared__ C held[THREADS * V];
  if (blockDim.y == 1) return true;
  int mine = thread_number() * V, row = blockDim.x * V;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < V; ++k) held[mine + k] = values[k];
  for (int half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) {
#pragma unroll
      for (int k = 0; k < V; ++k) held[mine + k] += held[mine + half * row + k];
    }
  }
  if (threadIdx.y > 0) return false;
#pragma unroll
  for (int k = 0; k < V; ++k) values[k] = held[mine + k];
  return true;
}
