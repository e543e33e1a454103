// Arithmetic of two operands.
#include "elementwise.cuh"

template <class C> struct Add { __device__ C operator()(C x, C y) const { return x + y; } };
template <class C> struct Subtract { __device__ C operator()(C x, C y) const { return x - y; } };
template <class C> struct Multiply { __device__ C operator()(C x, C y) const { return x * y; } };
template <class C> struct Divide { __device__ C operator()(C x, C y) const { return x / y; } };
