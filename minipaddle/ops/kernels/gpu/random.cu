// Random numbers, each a function of a key and of the number of its element.
#include "random.cuh"

// In [min, min + range), and not above `top`, the largest number of type T below the end.
template <class T> struct Uniform {
  typedef computed<T> C;
  double min, range, top;
  static const int PER_BLOCK = Unit<C>::PER_BLOCK;
  __device__ void draw(const Bits& bits, T* out) const {
#pragma unroll
    for (int i = 0; i < PER_BLOCK; ++i) {
      C x = Unit<C>::from(bits, i) * static_cast<C>(range) + static_cast<C>(min);
      out[i] = narrow<T>(x);
      if (widen(out[i]) > static_cast<C>(top)) out[i] = narrow<T>(static_cast<C>(top));
    }
  }
};

template <class T> struct Gaussian {
  typedef computed<T> C;
  double mean, deviation;
  static const int PER_BLOCK = Unit<C>::PER_BLOCK;
  __device__ void draw(const Bits& bits, T* out) const {
    C z[PER_BLOCK];
    fill(bits, z);
#pragma unroll
    for (int i = 0; i < PER_BLOCK; ++i) out[i] = narrow<T>(z[i] * static_cast<C>(deviation) + static_cast<C>(mean));
  }
  static __device__ __forceinline__ void fill(const Bits& bits, float* z) {
    box_muller(bits.word[0], bits.word[1], z);
    box_muller(bits.word[2], bits.word[3], z + 2);
  }
  static __device__ __forceinline__ void fill(const Bits& bits, double* z) { box_muller(bits.pair(0), bits.pair(1), z); }
};

// From `low` on, one of `count` ints; 0 stands for 2^64. The most likely is so by 2^-64 times count.
template <class T> struct Whole {
  i64 low;
  u64 count;
  static const int PER_BLOCK = 2;
  __device__ void draw(const Bits& bits, T* out) const {
#pragma unroll
    for (int i = 0; i < PER_BLOCK; ++i) {
      u64 found = count ? __umul64hi(bits.pair(i), count) : bits.pair(i);
      out[i] = static_cast<T>(static_cast<u64>(low) + found);
    }
  }
};

// True with the probability limit / 2^32.
template <class T> struct Kept {
  u64 limit;
  static const int PER_BLOCK = 4;
  __device__ void draw(const Bits& bits, bool* out) const {
#pragma unroll
    for (int i = 0; i < PER_BLOCK; ++i) out[i] = bits.word[i] < limit;
  }
};

// One thread a block of bits, whose elements are written by one access.
template <class T, class F> __global__ void __launch_bounds__(256) fill(i64 n, u64 key, const F f, T* out) {
  const int N = F::PER_BLOCK;
  i64 block = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x, first = block * N;
  if (first >= n) return;
  Pack<T, N> drawn;
  f.draw(philox(key, block), drawn.v);
  if (first + N <= n) {
    reinterpret_cast<Pack<T, N>*>(out)[block] = drawn;
    return;
  }
  for (int i = 0; first + i < n; ++i) out[first + i] = drawn.v[i];
}

// V elements of x, of which element number i is kept if word i of the sequence is below the limit.
template <class T, int V> __device__ __forceinline__ void drop(i64 pack, u64 key, u64 limit, computed<T> scale, const T* x, T* out, bool* mask) {
  Pack<T, V> values = reinterpret_cast<const Pack<T, V>*>(x)[pack];
  Pack<bool, V> kept;
  Bits bits;
#pragma unroll
  for (int i = 0; i < V; ++i) {
    i64 element = pack * V + i;
    if (i % 4 == 0) bits = philox(key, element / 4);
    kept.v[i] = (V < 4 ? bits.word[element % 4] : bits.word[i % 4]) < limit;
    values.v[i] = kept.v[i] ? narrow<T>(widen(values.v[i]) * scale) : narrow<T>(computed<T>(0));
  }
  reinterpret_cast<Pack<T, V>*>(out)[pack] = values;
  reinterpret_cast<Pack<bool, V>*>(mask)[pack] = kept;
}
template <class T, int V>
__global__ void __launch_bounds__(256) dropout(i64 n, u64 key, u64 limit, double scale, const T* x, T* out, bool* mask) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x, packs = n / V;
  if (i < packs) {
    drop<T, V>(i, key, limit, static_cast<computed<T>>(scale), x, out, mask);
  } else if (V > 1 && i - packs < n - packs * V) {
    drop<T, 1>(packs * V + i - packs, key, limit, static_cast<computed<T>>(scale), x, out, mask);
  }
}

template <class T> __global__ void __launch_bounds__(256) bernoulli(i64 n, u64 key, const T* x, T* out, int* wrong) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  typedef computed<T> C;
  const int N = Unit<C>::PER_BLOCK;
  C p = widen(x[i]), drawn = Unit<C>::from(philox(key, i / N), static_cast<int>(i % N));
  if (!(p >= 0 && p <= 1)) *wrong = 1;  // whoever writes there writes the same
  out[i] = narrow<T>(C(drawn < p));
}

// The logarithm of k!, less Stirling's formula for it.
__device__ inline double stirling_rest(double k) {
  if (k < 10) {
    const double exact[10] = {0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509,
                              0.01664469118982119, 0.01387612882307075, 0.01189670994589177, 0.01041126526197209,
                              0.009255462182712733, 0.008330563433362871};
    return exact[static_cast<int>(k)];
  }
  double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Few events are counted one by one. Of many the number is drawn under a hat and accepted or not:
// algorithm PTRS of Hoermann (1993), The transformed rejection method for generating Poisson random
// variables.
__device__ inline double draw_poisson(Stream& stream, double rate) {
  if (rate < 10) {
    double limit = exp(-rate), product = stream.above_zero();
    double count = 0;
    while (product > limit) {
      product *= stream.above_zero();
      count += 1;
    }
    return count;
  }
  double slope = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * slope;
  double inverse = 1.1239 + 1.1328 / (slope - 3.4), sure = 0.9277 - 3.6224 / (slope - 2);
  double log_rate = log(rate);
  while (true) {
    double u = stream.unit() - 0.5, v = stream.above_zero(), side = 0.5 - fabs(u);
    double k = floor((2 * a / side + slope) * u + rate + 0.43);
    if (side >= 0.07 && v <= sure) return k;
    if (k < 0 || (side < 0.013 && v > side)) continue;
    double density = k * log_rate - rate - lgamma(k + 1);
    if (log(v * inverse / (a / (side * side) + slope)) <= density) return k;
  }
}

// Marsaglia and Tsang (2000), A simple method for generating gamma variables.
__device__ inline double draw_gamma(Stream& stream, double shape) {
  if (shape == 0 || isinf(shape)) return shape;
  double boost = shape < 1 ? pow(stream.above_zero(), 1 / shape) : 1;
  double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d);
  while (true) {
    double x = stream.normal(), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    if (log(stream.above_zero()) < 0.5 * x * x + d * (1 - v + log(v))) return d * v * boost;
  }
}

// Few successes by going up the distribution; many by algorithm BTRS of Hoermann (1993), The
// generation of binomial random variates.
__device__ inline double few_successes(Stream& stream, double n, double p) {
  double odds = p / (1 - p), chance = exp(n * log1p(-p)), u = stream.unit();
  double k = 0;
  while (u >= chance && k < n) {
    u -= chance;
    k += 1;
    chance *= odds * (n - k + 1) / k;
    if (chance < 1e-300) break;
  }
  return k;
}
__device__ inline double many_successes(Stream& stream, double n, double p) {
  double spread = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spread;
  double a = -0.0873 + 0.0248 * b + 0.01 * p, center = n * p + 0.5, sure = 0.92 - 4.2 / b;
  double odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread, mode = floor((n + 1) * p);
  while (true) {
    double u = stream.unit() - 0.5, v = stream.above_zero(), side = 0.5 - fabs(u);
    double k = floor((2 * a / side + b) * u + center);
    if (side >= 0.07 && v <= sure) return k;
    if (k < 0 || k > n) continue;
    double density = (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1))) + stirling_rest(mode) + stirling_rest(n - mode) +
                     (n + 1) * log((n - mode + 1) / (n - k + 1)) + (k + 0.5) * log(odds * (n - k + 1) / (k + 1)) -
                     stirling_rest(k) - stirling_rest(n - k);
    if (log(v * alpha / (a / (side * side) + b)) <= density) return k;
  }
}
__device__ inline double draw_binomial(Stream& stream, double n, double p) {
  double rare = p <= 0.5 ? p : 1 - p;
  double k = n * rare < 10 ? few_successes(stream, n, rare) : many_successes(stream, n, rare);
  return p <= 0.5 ? k : n - k;
}

struct Poisson {
  static __device__ double draw(Stream& stream, double rate) { return rate >= 0 && rate <= 1e18 ? draw_poisson(stream, rate) : not_a_number(); }
};
struct Gamma {
  static __device__ double draw(Stream& stream, double shape) { return shape >= 0 ? draw_gamma(stream, shape) : not_a_number(); }
};

template <class T, class F> __global__ void __launch_bounds__(256) by_element(i64 n, u64 key, const T* x, T* out, int* wrong) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Stream stream(key, i);
  double drawn = F::draw(stream, static_cast<double>(widen(x[i])));
  if (isnan(drawn)) *wrong = 1;
  out[i] = narrow<T>(static_cast<computed<T>>(drawn));
}

template <class T> __global__ void __launch_bounds__(256) binomial(i64 n, u64 key, const i64* count, const T* prob, i64* out, int* wrong) {
  i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double trials = static_cast<double>(count[i]), p = static_cast<double>(widen(prob[i]));
  Stream stream(key, i);
  bool fine = trials >= 0 && p >= 0 && p <= 1;
  if (!fine) *wrong = 1;
  out[i] = fine ? static_cast<i64>(draw_binomial(stream, trials, p)) : -1;
}
