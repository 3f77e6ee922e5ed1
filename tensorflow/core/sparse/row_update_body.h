// The loops over rows, compiled once per instruction set. Each row_update_<isa>.cc defines
// DEEPREC_KERNEL_TABLE (the name of its table) and includes this file; nothing else may.
//
// Everything is in an anonymous namespace: the object file then exports the table and no weak symbol.
// The element loops are plain and left to the vectoriser; lengths of common embedding rows are compile
// time constants, which removes the loop altogether for rows of one to four vectors.

#ifndef DEEPREC_KERNEL_TABLE
#error "define DEEPREC_KERNEL_TABLE before including this file"
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "tensorflow/core/sparse/row_update.h"

namespace deeprec {
namespace sparse {
namespace {

inline float Sqrt(float x) { return __builtin_sqrtf(x); }
inline double Sqrt(double x) { return __builtin_sqrt(x); }
inline float Pow(float x, float y) { return __builtin_powf(x, y); }
inline double Pow(double x, double y) { return __builtin_pow(x, y); }

#include "tensorflow/core/sparse/element_convert.h"
#include "tensorflow/core/sparse/update_rules.h"

// The type a rule computes in.
template <class T>
struct ComputeType {
  using type = float;
};
template <>
struct ComputeType<double> {
  using type = double;
};

// Columns converted at a time for 16-bit rows; five float buffers of this size stay in L1.
constexpr size_t kChunk = 64;
// Groups whose rows are fetched ahead, and lines of a row fetched (the hardware streams the rest). 8 to
// 24 measured alike; below 4 the random rows stall.
constexpr int64_t kAhead = 12;
constexpr size_t kMaxFetch = 256;
// Elements tested at a time for zero moments in Adam's pass over all rows.
constexpr size_t kBlock = 64;

template <class R, class F>
inline void Elements(const R& rule, const F* __restrict g, F* __restrict w, F* __restrict s0,
                     F* __restrict s1, F* __restrict s2, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    F unused0 = 0, unused1 = 0, unused2 = 0;
    if constexpr (R::kSlots == 0) rule(g[i], w[i], unused0, unused1, unused2);
    if constexpr (R::kSlots == 1) rule(g[i], w[i], s0[i], unused1, unused2);
    if constexpr (R::kSlots == 2) rule(g[i], w[i], s0[i], s1[i], unused2);
    if constexpr (R::kSlots == 3) rule(g[i], w[i], s0[i], s1[i], s2[i]);
  }
}

// One row, with a gradient of the table's type or of the compute type.
template <class R, class T, class G>
inline void UpdateRow(const R& rule, const G* g, T* w, T* s0, T* s1, T* s2, size_t n) {
  using F = typename ComputeType<T>::type;
  if constexpr (sizeof(T) == sizeof(F)) {
    Elements<R, F>(rule, g, w, s0, s1, s2, n);
  } else {
    F gf[kChunk], wf[kChunk], s0f[kChunk], s1f[kChunk], s2f[kChunk];
    for (size_t i = 0; i < n; i += kChunk) {
      const size_t m = n - i < kChunk ? n - i : kChunk;
      Load(g + i, gf, m);
      Load(w + i, wf, m);
      if constexpr (R::kSlots > 0) Load(s0 + i, s0f, m);
      if constexpr (R::kSlots > 1) Load(s1 + i, s1f, m);
      if constexpr (R::kSlots > 2) Load(s2 + i, s2f, m);
      Elements<R, F>(rule, gf, wf, s0f, s1f, s2f, m);
      Store(wf, w + i, m);
      if constexpr (R::kSlots > 0) Store(s0f, s0 + i, m);
      if constexpr (R::kSlots > 1) Store(s1f, s1 + i, m);
      if constexpr (R::kSlots > 2) Store(s2f, s2 + i, m);
    }
  }
}

template <class T, class F>
inline void AddRow(const T* __restrict g, F* __restrict sum, size_t n) {
  if constexpr (sizeof(T) == sizeof(F)) {
    for (size_t i = 0; i < n; ++i) sum[i] += g[i];
  } else {
    F gf[kChunk];
    for (size_t i = 0; i < n; i += kChunk) {
      const size_t m = n - i < kChunk ? n - i : kChunk;
      Load(g + i, gf, m);
      for (size_t j = 0; j < m; ++j) sum[i + j] += gf[j];
    }
  }
}

// Sum of a chain of gradient rows, in chain order.
template <class T, class F>
inline void SumChain(const T* grad, const RowGroup& group, const int32_t* next, F* sum, size_t n) {
  Load(grad + size_t(group.first) * n, sum, n);
  for (int32_t at = group.first; at != group.last;) {
    at = next[at];
    AddRow<T, F>(grad + size_t(at) * n, sum, n);
  }
}

inline void Fetch(const void* row, size_t bytes) {
  const char* p = static_cast<const char*>(row);
  const size_t end = bytes < kMaxFetch ? bytes : kMaxFetch;
  for (size_t i = 0; i < end; i += 64) __builtin_prefetch(p + i, 1, 3);
  // A row that is not a multiple of a line may reach into one more.
  if (end != 0) __builtin_prefetch(p + end - 1, 1, 3);
}

// kLen: row length known at compile time, or 0.
template <class R, class T, size_t kLen>
void ApplyGroups(const ApplyArgs& args) {
  using F = typename ComputeType<T>::type;
  const R rule(*args.hyper);
  const size_t len = kLen != 0 ? kLen : size_t(args.table->row_len);
  const T* const grad = static_cast<const T*>(args.grad);
  T* const var = static_cast<T*>(args.table->var);
  T* const slot0 = static_cast<T*>(args.table->slot[0]);
  T* const slot1 = static_cast<T*>(args.table->slot[1]);
  T* const slot2 = static_cast<T*>(args.table->slot[2]);
  const RowGroup* const groups = args.groups;
  const int64_t n = args.num_groups;
  F* const scratch = static_cast<F*>(args.scratch);

  auto fetch = [&](int64_t i) {
    const size_t at = size_t(groups[i].row) * len;
    Fetch(var + at, len * sizeof(T));
    if constexpr (R::kSlots > 0) Fetch(slot0 + at, len * sizeof(T));
    if constexpr (R::kSlots > 1) Fetch(slot1 + at, len * sizeof(T));
    if constexpr (R::kSlots > 2) Fetch(slot2 + at, len * sizeof(T));
    __builtin_prefetch(grad + size_t(groups[i].first) * len);
  };
  for (int64_t i = 0; i < n && i < kAhead; ++i) fetch(i);

  for (int64_t i = 0; i < n; ++i) {
    if (i + kAhead < n) fetch(i + kAhead);
    const RowGroup group = groups[i];
    const size_t at = size_t(group.row) * len;
    T* const w = var + at;
    T* const s0 = R::kSlots > 0 ? slot0 + at : nullptr;
    T* const s1 = R::kSlots > 1 ? slot1 + at : nullptr;
    T* const s2 = R::kSlots > 2 ? slot2 + at : nullptr;
    if (group.first == group.last) {
      UpdateRow<R, T, T>(rule, grad + size_t(group.first) * len, w, s0, s1, s2, len);
    } else if (args.sum_duplicates) {
      SumChain<T, F>(grad, group, args.next, scratch, len);
      UpdateRow<R, T, F>(rule, scratch, w, s0, s1, s2, len);
    } else {
      for (int32_t p = group.first;; p = args.next[p]) {
        UpdateRow<R, T, T>(rule, grad + size_t(p) * len, w, s0, s1, s2, len);
        if (p == group.last) break;
      }
    }
  }
}

template <class R, class T>
void Apply(const ApplyArgs& args) {
#ifndef DEEPREC_NO_FIXED_LENGTHS
  // Not for 16-bit types, whose conversion goes through buffers anyway.
  if constexpr (sizeof(T) == sizeof(typename ComputeType<T>::type)) {
    switch (args.table->row_len) {
      case 1: return ApplyGroups<R, T, 1>(args);
      case 8: return ApplyGroups<R, T, 8>(args);
      case 16: return ApplyGroups<R, T, 16>(args);
      case 32: return ApplyGroups<R, T, 32>(args);
    }
  }
#endif
  ApplyGroups<R, T, 0>(args);
}

// Rules with loop-invariant flags choose their instance here.
template <class T>
struct Rules {
  using F = typename ComputeType<T>::type;

  static void Momentum(const ApplyArgs& args) {
    args.hyper->nesterov ? Apply<MomentumRule<F, true>, T>(args)
                         : Apply<MomentumRule<F, false>, T>(args);
  }
  static void KerasMomentum(const ApplyArgs& args) {
    args.hyper->nesterov ? Apply<KerasMomentumRule<F, true>, T>(args)
                         : Apply<KerasMomentumRule<F, false>, T>(args);
  }
  static void Ftrl(const ApplyArgs& args) {
    args.hyper->lr_power == -0.5 ? Apply<FtrlRule<F, true>, T>(args)
                                 : ApplyGroups<FtrlRule<F, false>, T, 0>(args);
  }
};

template <class T>
inline bool AllZeroBits(const T* p, size_t n) {
  // Integer words, so that -0.0 counts as set: it decays to the bits it has, but moves a w of -0.0.
  using Word = uint32_t;
  const char* bytes = reinterpret_cast<const char*>(p);
  Word any = 0;
  const size_t words = n * sizeof(T) / sizeof(Word);
  for (size_t i = 0; i < words; ++i) {
    Word word;
    __builtin_memcpy(&word, bytes + i * sizeof(Word), sizeof(Word));
    any |= word;
  }
  if (n * sizeof(T) % sizeof(Word) != 0) {
    uint16_t tail;
    __builtin_memcpy(&tail, bytes + words * sizeof(Word), sizeof(tail));
    any |= tail;
  }
  return any == 0;
}

// Adam's decay of `n` consecutive elements that have no gradient.
template <class T>
inline void DecayElements(const AdamRule<typename ComputeType<T>::type>& rule, bool zero_is_still,
                          T* __restrict w, T* __restrict m, T* __restrict v, size_t n) {
  using F = typename ComputeType<T>::type;
  for (size_t i = 0; i < n; i += kBlock) {
    const size_t k = n - i < kBlock ? n - i : kBlock;
    // Rows no gradient has reached yet, or not for so long that m is zero again, are most of a table
    // with skewed ids. w stays, is not even read, and m is not written.
    const bool still = zero_is_still && AllZeroBits(m + i, k);
    if (still && AllZeroBits(v + i, k)) continue;
    if constexpr (sizeof(T) == sizeof(F)) {
      if (still) {
        for (size_t j = i; j < i + k; ++j) v[j] *= rule.beta2;
      } else if (k == kBlock) {
        for (size_t j = i; j < i + kBlock; ++j) rule.Decay(w[j], m[j], v[j]);
      } else {
        for (size_t j = i; j < i + k; ++j) rule.Decay(w[j], m[j], v[j]);
      }
    } else {
      F wf[kBlock], mf[kBlock], vf[kBlock];
      Load(v + i, vf, k);
      if (still) {
        for (size_t j = 0; j < k; ++j) vf[j] *= rule.beta2;
      } else {
        Load(w + i, wf, k);
        Load(m + i, mf, k);
        for (size_t j = 0; j < k; ++j) rule.Decay(wf[j], mf[j], vf[j]);
        Store(wf, w + i, k);
        Store(mf, m + i, k);
      }
      Store(vf, v + i, k);
    }
  }
}

template <class T>
void AdamAllRows(const ApplyArgs& args, int64_t row_begin, int64_t row_end) {
  using F = typename ComputeType<T>::type;
  const AdamRule<F> rule(*args.hyper);
  const bool zero_is_still = rule.ZeroMomentIsStill();
  const size_t len = size_t(args.table->row_len);
  const T* const grad = static_cast<const T*>(args.grad);
  T* const w = static_cast<T*>(args.table->var);
  T* const m = static_cast<T*>(args.table->slot[0]);
  T* const v = static_cast<T*>(args.table->slot[1]);
  F* const sum = static_cast<F*>(args.scratch);

  int64_t row = row_begin;
  for (int64_t i = 0; i <= args.num_groups; ++i) {
    const int64_t touched = i < args.num_groups ? args.groups[i].row : row_end;
    const size_t begin = size_t(row) * len;
    DecayElements<T>(rule, zero_is_still, w + begin, m + begin, v + begin,
                     size_t(touched - row) * len);
    if (i == args.num_groups) break;
    const size_t at = size_t(touched) * len;
    SumChain<T, F>(grad, args.groups[i], args.next, sum, len);
    UpdateRow<AdamRule<F>, T, F>(rule, sum, w + at, m + at, v + at, nullptr, len);
    row = touched + 1;
  }
}

}  // namespace

#define DEEPREC_PER_TYPE(fn) {fn(Half), fn(BFloat16), fn(float), fn(double)}
#define DEEPREC_SGD(T) Apply<GradientDescentRule<ComputeType<T>::type>, T>
#define DEEPREC_ADAGRAD(T) Apply<AdagradRule<ComputeType<T>::type>, T>
#define DEEPREC_MOMENTUM(T) Rules<T>::Momentum
#define DEEPREC_KERAS_MOMENTUM(T) Rules<T>::KerasMomentum
#define DEEPREC_FTRL(T) Rules<T>::Ftrl
#define DEEPREC_RMSPROP(T) Apply<RmsPropRule<ComputeType<T>::type>, T>
#define DEEPREC_CENTERED(T) Apply<CenteredRmsPropRule<ComputeType<T>::type>, T>
#define DEEPREC_ADAM(T) Apply<AdamRule<ComputeType<T>::type>, T>
#define DEEPREC_ADAM_ALL(T) AdamAllRows<T>

// `extern` on a const definition with constant initialisers: no start-up code runs in this file, which
// a CPU without these instructions could not survive.
extern const KernelTable DEEPREC_KERNEL_TABLE = {
    {
        DEEPREC_PER_TYPE(DEEPREC_SGD),
        DEEPREC_PER_TYPE(DEEPREC_ADAGRAD),
        DEEPREC_PER_TYPE(DEEPREC_MOMENTUM),
        DEEPREC_PER_TYPE(DEEPREC_KERAS_MOMENTUM),
        DEEPREC_PER_TYPE(DEEPREC_FTRL),
        DEEPREC_PER_TYPE(DEEPREC_RMSPROP),
        DEEPREC_PER_TYPE(DEEPREC_CENTERED),
        DEEPREC_PER_TYPE(DEEPREC_ADAM),
    },
    DEEPREC_PER_TYPE(DEEPREC_ADAM_ALL),
};

}  // namespace sparse
}  // namespace deeprec
