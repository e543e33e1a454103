// Gradients of maximum and minimum: to every element that reaches it, whole or shared among them.
#include "elementwise.cuh"

template <class C> struct ToExtreme {
  __device__ C operator()(C x, C extreme, C g) const { return x == extreme ? g : C(0); }
};
template <class C> struct ShareOfExtreme {
  template <class N> __device__ C operator()(C x, C extreme, C g, N count) const {
    return x == extreme ? g / static_cast<C>(count) : C(0);
  }
};
