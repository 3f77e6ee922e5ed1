// The formulas, one functor per rule. F is the type computed in, float or double; V a vector of F, or F.
//
// Included by the per-ISA files only, inside their anonymous namespace (so no include guard's namespace
// here and no symbol escapes). Compiled without FMA contraction: scalar, AVX2 and AVX-512 then give the
// same bits, and the same as TensorFlow's kernels wherever those use the same order of operations.
//
// operator()(g, w, s0, s1, s2): g gradient, w variable, s* slots in the order of Rule. Scalars act on all
// elements.

// w -= lr * g
template <class F>
struct GradientDescentRule {
  static constexpr int kSlots = 0;
  explicit GradientDescentRule(const Hyper& h) : lr(F(h.lr)) {}
  template <class V>
  inline void operator()(V g, V& w, V&, V&, V&) const {
    w -= lr * g;
  }
  F lr;
};

// a += g^2;  w -= lr * g / (sqrt(a) + epsilon)                    (Duchi et al., 2011)
template <class F>
struct AdagradRule {
  static constexpr int kSlots = 1;
  explicit AdagradRule(const Hyper& h)
      : lr(F(h.lr)), epsilon(F(h.epsilon)), update_slots(h.update_slots) {}
  template <class V>
  inline void operator()(V g, V& w, V& a, V&, V&) const {
    if (update_slots) a += g * g;
    w -= (lr * g) / (Sqrt(a) + epsilon);
  }
  F lr, epsilon;
  bool update_slots;
};

// a = momentum * a + g;  w -= lr * a, with Nesterov w -= lr * g + lr * momentum * a
template <class F, bool kNesterov>
struct MomentumRule {
  static constexpr int kSlots = 1;
  explicit MomentumRule(const Hyper& h) : lr(F(h.lr)), momentum(F(h.momentum)) {}
  template <class V>
  inline void operator()(V g, V& w, V& a, V&, V&) const {
    a = a * momentum + g;
    if (kNesterov) {
      w -= g * lr + a * momentum * lr;
    } else {
      w -= a * lr;
    }
  }
  F lr, momentum;
};

// a = momentum * a - lr * g;  w += a, with Nesterov w += momentum * a - lr * g
template <class F, bool kNesterov>
struct KerasMomentumRule {
  static constexpr int kSlots = 1;
  explicit KerasMomentumRule(const Hyper& h) : lr(F(h.lr)), momentum(F(h.momentum)) {}
  template <class V>
  inline void operator()(V g, V& w, V& a, V&, V&) const {
    a = a * momentum - g * lr;
    if (kNesterov) {
      w += a * momentum - g * lr;
    } else {
      w += a;
    }
  }
  F lr, momentum;
};

// FTRL-proximal (McMahan et al., 2013). With p = -lr_power and g' = g + 2 * l2_shrinkage * w:
//   a' = a + g^2;  linear += g' - (a'^p - a^p) / lr * w
//   w = (clip(linear, -l1, l1) - linear) / (a'^p / lr + 2 * l2)
// multiply_linear_by_lr keeps lr * linear in the slot instead: each term above times lr.
template <class F, bool kSqrt>
struct FtrlRule {
  static constexpr int kSlots = 2;
  explicit FtrlRule(const Hyper& h)
      : lr(F(h.lr)),
        l1(h.multiply_linear_by_lr ? F(h.l1) * F(h.lr) : F(h.l1)),
        l2(F(2) * F(h.l2)),
        shrinkage(F(2) * F(h.l2_shrinkage)),
        power(-F(h.lr_power)),
        has_shrinkage(h.has_l2_shrinkage),
        multiply_by_lr(h.multiply_linear_by_lr) {}
  template <class V>
  inline V Power(V a) const {
    if constexpr (kSqrt) return Sqrt(a);
    return Pow(a, power);
  }
  template <class V>
  inline void operator()(V g, V& w, V& accum, V& linear, V&) const {
    const V g_shrunk = has_shrinkage ? g + shrinkage * w : g;
    const V new_accum = accum + g * g;
    const V new_power = Power(new_accum);
    const V delta = new_power - Power(accum);
    V quadratic;
    if (multiply_by_lr) {
      linear += g_shrunk * lr - delta * w;
      quadratic = new_power + l2 * lr;
    } else {
      linear += g_shrunk - delta / lr * w;
      quadratic = new_power / lr + l2;
    }
    const V bound = V{} + l1;
    const V low = linear < bound ? linear : bound;
    const V clipped = low > -bound ? low : -bound;
    w = (clipped - linear) / quadratic;
    accum = new_accum;
  }
  F lr, l1, l2, shrinkage, power;
  bool has_shrinkage, multiply_by_lr;
};

// ms = rho * ms + (1 - rho) * g^2;  mom = momentum * mom + lr * g / sqrt(ms + epsilon);  w -= mom
template <class F>
struct RmsPropRule {
  static constexpr int kSlots = 2;
  explicit RmsPropRule(const Hyper& h)
      : lr(F(h.lr)),
        rho(F(h.rho)),
        one_minus_rho(F(1) - F(h.rho)),
        momentum(F(h.momentum)),
        epsilon(F(h.epsilon)) {}
  template <class V>
  inline void operator()(V g, V& w, V& ms, V& mom, V&) const {
    ms = ms * rho + g * g * one_minus_rho;
    mom = mom * momentum + (lr * g) / Sqrt(ms + epsilon);
    w -= mom;
  }
  F lr, rho, one_minus_rho, momentum, epsilon;
};

// As RmsProp, with mg = rho * mg + (1 - rho) * g and the variance estimate ms - mg^2 under the root.
template <class F>
struct CenteredRmsPropRule {
  static constexpr int kSlots = 3;
  explicit CenteredRmsPropRule(const Hyper& h)
      : lr(F(h.lr)),
        rho(F(h.rho)),
        one_minus_rho(F(1) - F(h.rho)),
        momentum(F(h.momentum)),
        epsilon(F(h.epsilon)) {}
  template <class V>
  inline void operator()(V g, V& w, V& mg, V& ms, V& mom) const {
    ms = ms * rho + g * g * one_minus_rho;
    mg = mg * rho + g * one_minus_rho;
    const V denominator = ms + epsilon - mg * mg;
    mom = mom * momentum + (lr * g) / Sqrt(denominator);
    w -= mom;
  }
  F lr, rho, one_minus_rho, momentum, epsilon;
};

// Adam (Kingma and Ba, 2015, the form before section 2.1), alpha = lr * sqrt(1 - b2^t) / (1 - b1^t):
//   m = b1 * m + (1 - b1) * g;  v = b2 * v + (1 - b2) * g^2;  w -= alpha * m / (sqrt(v) + epsilon)
template <class F>
struct AdamRule {
  static constexpr int kSlots = 2;
  explicit AdamRule(const Hyper& h)
      : beta1(F(h.beta1)),
        beta2(F(h.beta2)),
        one_minus_beta1(F(1) - F(h.beta1)),
        one_minus_beta2(F(1) - F(h.beta2)),
        alpha(F(h.lr) * Sqrt(F(1) - F(h.beta2_power)) / (F(1) - F(h.beta1_power))),
        epsilon(F(h.epsilon)) {}
  template <class V>
  inline void operator()(V g, V& w, V& m, V& v, V&) const {
    m = m * beta1 + g * one_minus_beta1;
    v = v * beta2 + (g * g) * one_minus_beta2;
    w -= (alpha * m) / (Sqrt(v) + epsilon);
  }
  // A row without gradient. Not operator() with g = 0: -0.0 + 0.0 would lose the sign.
  template <class V>
  inline void Decay(V& w, V& m, V& v) const {
    m = m * beta1;
    v = v * beta2;
    w -= (alpha * m) / (Sqrt(v) + epsilon);
  }
  // Whether elements with m = +0 keep w and m as they are: alpha * 0 / (sqrt(v) + epsilon) must be +0.
  inline bool ZeroMomentIsStill() const {
    return alpha >= F(0) && alpha - alpha == F(0) && epsilon > F(0) && epsilon - epsilon == F(0) &&
           beta1 >= F(0) && beta1 - beta1 == F(0) && beta2 >= F(0) && beta2 - beta2 == F(0);
  }
  F beta1, beta2, one_minus_beta1, one_minus_beta2, alpha, epsilon;
};

// Adam with decoupled weight decay (Loshchilov and Hutter, 2019), the decay not scaled by the learning rate:
//   w -= weight_decay * w, then as Adam
template <class F>
struct AdamWRule {
  static constexpr int kSlots = 2;
  explicit AdamWRule(const Hyper& h) : adam(h), weight_decay(F(h.weight_decay)) {}
  template <class V>
  inline void operator()(V g, V& w, V& m, V& v, V& unused) const {
    w -= weight_decay * w;
    adam(g, w, m, v, unused);
  }
  AdamRule<F> adam;
  F weight_decay;
};
