// Optimizer updates of many parameters in one launch.
//
// A rule is made from the numbers that the host hands over, and called as rule(p, g, s) with one
// parameter, its gradient and its state, an array of STATES; it changes p and s.
#include "rows.cuh"

struct Numbers { double v[12]; };

// What becomes of a gradient before it is used: clipped, scaled, and decayed towards 0.
template <class C> struct Treatment {
  C scale, lowest, highest, l1, l2;
  bool clips;
  __device__ Treatment(const Numbers& n)
      : scale(n.v[0]), lowest(n.v[1]), highest(n.v[2]), l1(n.v[3]), l2(n.v[4]), clips(isfinite(n.v[1]) || isfinite(n.v[2])) {}
  __device__ __forceinline__ C operator()(C p, C g) const {
    if (clips) g = g < lowest ? lowest : g > highest ? highest : g;
    g = g * scale + p * l2;
    if (l1 != C(0)) g += p > C(0) ? l1 : p < C(0) ? -l1 : C(0);
    return g;
  }
};

// Kingma and Ba (2015), algorithm 1, with the bias corrections drawn into rate and epsilon, and the
// decay of Loshchilov and Hutter (2019), algorithm 2.
template <class C> struct Adam {
  static const int STATES = 2;
  C beta1, rest1, beta2, rest2, rate, epsilon, keep;
  __device__ Adam(const Numbers& n)
      : beta1(n.v[5]), rest1(1 - n.v[5]), beta2(n.v[6]), rest2(1 - n.v[6]), rate(n.v[7]), epsilon(n.v[8]), keep(n.v[9]) {}
  __device__ __forceinline__ void operator()(C& p, C g, C* s) const {
    s[0] = s[0] * beta1 + g * rest1;
    s[1] = s[1] * beta2 + g * g * rest2;
    p = p * keep - s[0] / (sqrt(s[1]) + epsilon) * rate;
  }
};

// Reddi et al. (2018): the largest mean square so far.
template <class C> struct AmsGrad : Adam<C> {
  static const int STATES = 3;
  __device__ AmsGrad(const Numbers& n) : Adam<C>(n) {}
  __device__ __forceinline__ void operator()(C& p, C g, C* s) const {
    s[0] = s[0] * this->beta1 + g * this->rest1;
    s[1] = s[1] * this->beta2 + g * g * this->rest2;
    s[2] = s[1] > s[2] ? s[1] : s[2];
    p = p * this->keep - s[0] / (sqrt(s[2]) + this->epsilon) * this->rate;
  }
};

template <class C> struct Sgd {
  static const int STATES = 0;
  C rate;
  __device__ Sgd(const Numbers& n) : rate(n.v[5]) {}
  __device__ __forceinline__ void operator()(C& p, C g, C*) const { p -= g * rate; }
};

template <class C> struct Momentum {
  static const int STATES = 1;
  C rate, momentum;
  bool nesterov;
  __device__ Momentum(const Numbers& n) : rate(n.v[5]), momentum(n.v[6]), nesterov(n.v[7] != 0) {}
  __device__ __forceinline__ void operator()(C& p, C g, C* s) const {
    s[0] = s[0] * momentum + g;
    p -= (nesterov ? s[0] * momentum + g : s[0]) * rate;
  }
};

// A stretch of one parameter: where it lies, and where its gradient and state begin in the flat
// arrays of these.
struct Chunk { i64 param, start, length; };

template <class Rule, class T, class G, class S, int V>
__device__ __forceinline__ void update_pack(const Rule& rule, const Treatment<computed<T>>& treated, T* param, const G* grad, S* const* states, i64 at) {
  typedef computed<T> C;
  const int STATES = Rule::STATES;
  C p[V], s[STATES > 0 ? STATES : 1][V];
  fetch(param + at, p);
  computed<G> g[V];
  fetch(grad + at, g);
#pragma unroll
  for (int i = 0; i < STATES; ++i) {
    Pack<S, V> pack = *reinterpret_cast<const Pack<S, V>*>(states[i] + at);
#pragma unroll
    for (int k = 0; k < V; ++k) s[i][k] = static_cast<C>(widen(pack.v[k]));
  }
#pragma unroll
  for (int k = 0; k < V; ++k) {
    C mine[STATES > 0 ? STATES : 1];
#pragma unroll
    for (int i = 0; i < STATES; ++i) mine[i] = s[i][k];
    rule(p[k], treated(p[k], static_cast<C>(g[k])), mine);
#pragma unroll
    for (int i = 0; i < STATES; ++i) s[i][k] = mine[i];
  }
  store(param + at, p);
#pragma unroll
  for (int i = 0; i < STATES; ++i) store(states[i] + at, s[i]);
}

// A block updates a chunk. T is the type of parameters, G that of the gradient, S that of state.
template <class Rule, class T, class G, class S, int V>
__global__ void __launch_bounds__(256) update(const Chunk* chunks, const G* grad, S* state0, S* state1, S* state2, const Numbers numbers) {
  Chunk chunk = chunks[blockIdx.x];
  Rule rule(numbers);
  Treatment<computed<T>> treated(numbers);
  T* param = reinterpret_cast<T*>(chunk.param);
  grad += chunk.start;
  S* states[3] = {state0 + chunk.start, state1 + chunk.start, state2 + chunk.start};
  bool whole = reinterpret_cast<u64>(param) % (sizeof(T) * V) == 0 && reinterpret_cast<u64>(grad) % (sizeof(G) * V) == 0;
#pragma unroll
  for (int i = 0; i < Rule::STATES; ++i) whole = whole && reinterpret_cast<u64>(states[i]) % (sizeof(S) * V) == 0;
  i64 packs = whole ? chunk.length / V : 0;
  for (i64 i = threadIdx.x; i < packs; i += 256) update_pack<Rule, T, G, S, V>(rule, treated, param, grad, states, i * V);
  for (i64 i = packs * V + threadIdx.x; i < chunk.length; i += 256) update_pack<Rule, T, G, S, 1>(rule, treated, param, grad, states, i);
}
