// Random bits that are a function of a key and of a number: no thread waits for another, and what
// element i gets does not depend on how the work is cut.
//
// Philox4x32-10: Salmon, Moraes, Dror and Shaw (2011), Parallel random numbers: as easy as 1, 2, 3.
#pragma once
#include "element.cuh"

typedef unsigned int u32;

struct Bits {
  u32 word[4];
  __device__ __forceinline__ u64 pair(int i) const { return static_cast<u64>(word[2 * i + 1]) << 32 | word[2 * i]; }
};

// Block `number` of the sequence that belongs to `key`; `series` counts sequences of one number.
__device__ __forceinline__ Bits philox(u64 key, u64 number, u32 series = 0) {
  u32 a = static_cast<u32>(number), b = static_cast<u32>(number >> 32), c = series, d = 0;
  u32 first = static_cast<u32>(key), second = static_cast<u32>(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    u64 left = static_cast<u64>(0xD2511F53u) * a, right = static_cast<u64>(0xCD9E8D57u) * c;
    a = static_cast<u32>(right >> 32) ^ b ^ first;
    c = static_cast<u32>(left >> 32) ^ d ^ second;
    b = static_cast<u32>(right);
    d = static_cast<u32>(left);
    first += 0x9E3779B9u;
    second += 0xBB67AE85u;
  }
  return Bits{{a, b, c, d}};
}

// In [0, 1): all multiples of 2^-24 or 2^-53.
template <class C> struct Unit;
template <> struct Unit<float> {
  static const int PER_BLOCK = 4;
  static __device__ __forceinline__ float from(const Bits& bits, int i) { return static_cast<float>(bits.word[i] >> 8) * 0x1p-24f; }
};
template <> struct Unit<double> {
  static const int PER_BLOCK = 2;
  static __device__ __forceinline__ double from(const Bits& bits, int i) { return static_cast<double>(bits.pair(i) >> 11) * 0x1p-53; }
};

// Two independent standard normal numbers of two in (0, 1] and [0, 1): Box and Muller (1958), A note
// on the generation of random normal deviates.
__device__ __forceinline__ void box_muller(u32 radius, u32 angle, float* out) {
  float r = sqrtf(-2.0f * logf(fmaf(static_cast<float>(radius), 0x1p-32f, 0x1p-33f)));
  float s, c;
  sincospif(static_cast<float>(angle) * 0x1p-31f, &s, &c);
  out[0] = r * c;
  out[1] = r * s;
}
__device__ __forceinline__ void box_muller(u64 radius, u64 angle, double* out) {
  double r = sqrt(-2.0 * log(static_cast<double>((radius >> 11) + 1) * 0x1p-53));
  double s, c;
  sincospi(static_cast<double>(angle >> 11) * 0x1p-52, &s, &c);
  out[0] = r * c;
  out[1] = r * s;
}

__device__ __forceinline__ double not_a_number() { return __longlong_as_double(0x7ff8000000000000LL); }

// As many random numbers as are wanted for one element.
class Stream {
 public:
  __device__ __forceinline__ Stream(u64 key, u64 element) : key(key), element(element), series(0), used(2) {}
  // In [0, 1).
  __device__ double unit() {
    if (used == 2) next();
    return Unit<double>::from(bits, used++);
  }
  // In (0, 1].
  __device__ double above_zero() { return 1.0 - unit(); }
  __device__ double normal() {
    double pair[2];
    next();
    used = 2;
    box_muller(bits.pair(0), bits.pair(1), pair);
    return pair[0];
  }

 private:
  __device__ __forceinline__ void next() {
    bits = philox(key, element, ++series);
    used = 0;
  }
  u64 key, element;
  u32 series;
  int used;
  Bits bits;
};
