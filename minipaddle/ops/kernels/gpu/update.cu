// Optimizer updates of many parameters in one launch.
//
// A rule is made from the numbers that the host hands over, and called as rule(g, s) with a
// gradient and the state beside it, an array of STATES; it changes s and gives the step, which is
// taken from the parameter. What becomes of a gradient before, and the parameter, is not its business.
#include "rows.cuh"

struct Numbers { double scale, lowest, highest, l1, l2, keep, v[8]; };

template <class C> __device__ __forceinline__ C average(C mean, C fresh, C keep, C rest) { return mean * keep + fresh * rest; }
template <class C> __device__ __forceinline__ C larger(C a, C b) { return b > a || b != b ? b : a; }  // nan stays

template <class C> struct Sgd {
  static const int STATES = 0;
  C rate;
  __device__ Sgd(const Numbers& n) : rate(n.v[0]) {}
  __device__ __forceinline__ C operator()(C g, C*) const { return g * rate; }
};

template <class C> struct Momentum {
  static const int STATES = 1;
  C rate, momentum;
  bool nesterov;
  __device__ Momentum(const Numbers& n) : rate(n.v[0]), momentum(n.v[1]), nesterov(n.v[2] != 0) {}
  __device__ __forceinline__ C operator()(C g, C* s) const {
    s[0] = s[0] * momentum + g;
    return (nesterov ? s[0] * momentum + g : s[0]) * rate;
  }
};

// Kingma and Ba (2015), algorithm 1, with the bias corrections drawn into rate and epsilon.
template <class C> struct Adam {
  static const int STATES = 2;
  C beta1, rest1, beta2, rest2, rate, epsilon;
  __device__ Adam(const Numbers& n)
      : beta1(n.v[0]), rest1(1 - n.v[0]), beta2(n.v[1]), rest2(1 - n.v[1]), rate(n.v[2]), epsilon(n.v[3]) {}
  __device__ __forceinline__ void moments(C g, C* s) const {
    s[0] = average(s[0], g, beta1, rest1);
    s[1] = average(s[1], g * g, beta2, rest2);
  }
  __device__ __forceinline__ C operator()(C g, C* s) const {
    moments(g, s);
    return s[0] / (sqrt(s[1]) + epsilon) * rate;
  }
};

// Reddi et al. (2018), algorithm 2.
template <class C> struct AmsGrad : Adam<C> {
  static const int STATES = 3;
  __device__ AmsGrad(const Numbers& n) : Adam<C>(n) {}
  __device__ __forceinline__ C operator()(C g, C* s) const {
    this->moments(g, s);
    s[2] = larger(s[2], s[1]);
    return s[0] / (sqrt(s[2]) + this->epsilon) * this->rate;
  }
};

// Kingma and Ba (2015), algorithm 2, with the bias correction drawn into the rate.
template <class C> struct Adamax {
  static const int STATES = 2;
  C beta1, rest1, beta2, rate, epsilon;
  __device__ Adamax(const Numbers& n)
      : beta1(n.v[0]), rest1(1 - n.v[0]), beta2(n.v[1]), rate(n.v[2]), epsilon(n.v[3]) {}
  __device__ __forceinline__ C operator()(C g, C* s) const {
    s[0] = average(s[0], g, beta1, rest1);
    s[1] = larger(s[1] * beta2 + epsilon, g < 0 ? -g : g);
    return s[0] / s[1] * rate;
  }
};

// Duchi et al. (2011), figure 1, the diagonal form.
template <class C> struct Adagrad {
  static const int STATES = 1;
  C rate, epsilon;
  __device__ Adagrad(const Numbers& n) : rate(n.v[0]), epsilon(n.v[1]) {}
  __device__ __forceinline__ C operator()(C g, C* s) const {
    s[0] += g * g;
    return g / (sqrt(s[0]) + epsilon) * rate;
  }
};

// Zeiler (2012), algorithm 1.
template <class C> struct Adadelta {
  static const int STATES = 2;
  C rate, rho, rest, epsilon;
  __device__ Adadelta(const Numbers& n) : rate(n.v[0]), rho(n.v[1]), rest(1 - n.v[1]), epsilon(n.v[2]) {}
  __device__ __forceinline__ C operator()(C g, C* s) const {
    s[0] = average(s[0], g * g, rho, rest);
    C step = sqrt((s[1] + epsilon) / (s[0] + epsilon)) * g;
    s[1] = average(s[1], step * step, rho, rest);
    return step * rate;
  }
};

// The state is what is taken off, the mean square and, if it is centered, the mean.
template <class C, bool CENTERED> struct RmspropOf {
  static const int STATES = CENTERED ? 3 : 2;
  C rate, rho, rest, epsilon, momentum;
  __device__ RmspropOf(const Numbers& n)
      : rate(n.v[0]), rho(n.v[1]), rest(1 - n.v[1]), epsilon(n.v[2]), momentum(n.v[3]) {}
  __device__ __forceinline__ C operator()(C g, C* s) const {
    s[1] = average(s[1], g * g, rho, rest);
    C square = s[1];
    if constexpr (CENTERED) {
      s[2] = average(s[2], g, rho, rest);
      square -= s[2] * s[2];
    }
    s[0] = s[0] * momentum + g / sqrt(square + epsilon) * rate;
    return s[0];
  }
};
template <class C> struct Rmsprop : RmspropOf<C, false> { using RmspropOf<C, false>::RmspropOf; };
template <class C> struct CenteredRmsprop : RmspropOf<C, true> { using RmspropOf<C, true>::RmspropOf; };

// What becomes of a gradient before a rule gets it, and of the parameter after.
template <class C, class Rule> struct Treated {
  Rule rule;
  C scale, lowest, highest, l1, l2, keep;
  __device__ Treated(const Numbers& n)
      : rule(n), scale(n.scale), lowest(n.lowest), highest(n.highest), l1(n.l1), l2(n.l2), keep(n.keep) {}
  __device__ __forceinline__ void operator()(C& p, C g, C* s) const {
    g = g < lowest ? lowest : g;  // nan stays
    g = (g > highest ? highest : g) * scale;
    if (l2 != 0) g += p * l2;  // not with 0: p may be infinite
    if (l1 != 0) g += p > 0 ? l1 : p < 0 ? -l1 : p * l1;
    p = p * keep - rule(g, s);
  }
};

// A stretch of one parameter: where it lies, and where its gradient and state begin in the flat
// arrays of these.
struct Chunk { i64 param, start, length; };

// The parameter and its state at one place, its gradient at another. M is the type of the master
// weights, which then are what is updated and which the parameter rounds; void where there are none.
template <class Rule, class T, class M, class G, class S, int V>
__device__ __forceinline__ void update_pack(const Treated<computed<T>, Rule>& rule, T* param, M* master, const G* grad, S* const* states, i64 at, i64 from) {
  typedef computed<T> C;
  const bool MASTER = !SameType<M, void>::value;
  const int STATES = Rule::STATES;
  C p[V], s[STATES > 0 ? STATES : 1][V];
  if constexpr (MASTER) {
    computed<M> wide[V];
    fetch(master + at, wide);
#pragma unroll
    for (int k = 0; k < V; ++k) p[k] = static_cast<C>(wide[k]);
  } else {
    fetch(param + at, p);
  }
  computed<G> g[V];
  fetch(grad + from, g);
#pragma unroll
  for (int i = 0; i < STATES; ++i) {
    computed<S> found[V];
    fetch(states[i] + at, found);
#pragma unroll
    for (int k = 0; k < V; ++k) s[i][k] = static_cast<C>(found[k]);
  }
#pragma unroll
  for (int k = 0; k < V; ++k) {
    C mine[STATES > 0 ? STATES : 1];
#pragma unroll
    for (int i = 0; i < STATES; ++i) mine[i] = s[i][k];
    rule(p[k], static_cast<C>(g[k]), mine);
#pragma unroll
    for (int i = 0; i < STATES; ++i) s[i][k] = mine[i];
  }
  if constexpr (MASTER) store(master + at, p);
  store(param + at, p);
#pragma unroll
  for (int i = 0; i < STATES; ++i) store(states[i] + at, s[i]);
}

template <int V, class T> __device__ __forceinline__ bool begins_pack(const T* p) {
  return reinterpret_cast<u64>(p) % (sizeof(T) * V) == 0;
}

// A block updates a chunk. T is the type of parameters, G that of the gradient, S that of state.
template <class Rule, class T, class M, class G, class S, int V>
__global__ void __launch_bounds__(256) update(const Chunk* chunks, M* master, const G* grad, S* state0, S* state1, S* state2, const Numbers numbers) {
  Chunk chunk = chunks[blockIdx.x];
  Treated<computed<T>, Rule> rule(numbers);
  T* param = reinterpret_cast<T*>(chunk.param);
  grad += chunk.start;
  S* states[3] = {state0 + chunk.start, state1 + chunk.start, state2 + chunk.start};
  bool whole = begins_pack<V>(param) && begins_pack<V>(grad);
  if constexpr (!SameType<M, void>::value) {
    master += chunk.start;
    whole = whole && begins_pack<V>(master);
  }
#pragma unroll
  for (int i = 0; i < Rule::STATES; ++i) whole = whole && begins_pack<V>(states[i]);
  i64 packs = whole ? chunk.length / V : 0;
  for (i64 i = threadIdx.x; i < packs; i += 256) update_pack<Rule, T, M, G, S, V>(rule, param, master, grad, states, i * V, i * V);
  for (i64 i = packs * V + threadIdx.x; i < chunk.length; i += 256) update_pack<Rule, T, M, G, S, 1>(rule, param, master, grad, states, i, i);
}

// Rows of a parameter by their numbers, each at most once; wide counts the packs of a row.
template <class Rule, class T, class L, class G, class S, int V>
__global__ void __launch_bounds__(256) update_rows(i64 packs, i64 wide, i64 height, T* param, const L* rows, const G* grad, S* state0, S* state1, S* state2, const Numbers numbers) {
  i64 i = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= packs) return;
  i64 line = i / wide, row = static_cast<i64>(rows[line]);
  if (row < 0) row += height;
  if (row < 0 || row >= height) return;
  Treated<computed<T>, Rule> rule(numbers);
  S* states[3] = {state0, state1, state2};
  i64 at = (row * wide + (i - line * wide)) * V;
  update_pack<Rule, T, void, G, S, V>(rule, param, static_cast<void*>(nullptr), grad, states, at, i * V);
}
