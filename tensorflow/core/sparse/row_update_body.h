// The loops over rows, compiled once per instruction set. Each row_update_<isa>.cc defines
// DEEPREC_KERNEL_TABLE (the name of its table) and includes this file; nothing else may.
//
// Everything is in an anonymous namespace: the object file then exports the table and no weak symbol.
// A row is worked on in panels of a few vectors: a panel's gradients are summed in registers, along the
// chain, and meet the variable and the slots there. Plain loops did not do: with the row length known GCC
// unrolls them before it vectorises, and with it unknown it guards them with alias checks.

#ifndef DEEPREC_KERNEL_TABLE
#error "define DEEPREC_KERNEL_TABLE before including this file"
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "tensorflow/core/sparse/row_update.h"

namespace deeprec {
namespace sparse {
namespace {

#include "tensorflow/core/sparse/element_convert.h"
#include "tensorflow/core/sparse/simd.h"

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

// Groups whose rows are fetched ahead, and lines of a row fetched (the hardware streams the rest). 8 to
// 24 measured alike; below 4 the random rows stall.
constexpr int64_t kAhead = 12;
constexpr size_t kMaxFetch = 256;
// Vectors of a panel: of each, a rule holds up to five arrays in registers.
constexpr size_t kPanel = 2;

// Registers of kVectors vectors. kPart: a single vector of which only `part` elements exist.
template <class T, size_t kVectors, bool kPart>
struct Panel {
  using V = typename VectorOf<typename ComputeType<T>::type>::type;
  static constexpr size_t kWidth = sizeof(V) / sizeof(typename ComputeType<T>::type);

  inline void LoadFrom(const T* p, size_t part) {
    for (size_t i = 0; i < kVectors; ++i) {
      v[i] = kPart ? LoadPart(p, part) : Load(p + i * kWidth);
    }
  }
  inline void StoreTo(T* p, size_t part) const {
    for (size_t i = 0; i < kVectors; ++i) {
      if (kPart) {
        StorePart(p, v[i], part);
      } else {
        Store(p + i * kWidth, v[i]);
      }
    }
  }
  inline void Add(const T* p, size_t part) {
    for (size_t i = 0; i < kVectors; ++i) {
      v[i] += kPart ? LoadPart(p, part) : Load(p + i * kWidth);
    }
  }
  inline void Round() {
    for (size_t i = 0; i < kVectors; ++i) v[i] = Rounded(v[i], static_cast<const T*>(nullptr));
  }
  V v[kVectors];
};

template <class R, class P>
inline void ApplyRule(const R& rule, const P& g, P& w, P& s0, P& s1, P& s2) {
  for (size_t i = 0; i < sizeof(w.v) / sizeof(w.v[0]); ++i) {
    rule(g.v[i], w.v[i], s0.v[i], s1.v[i], s2.v[i]);
  }
}

// The columns of one panel of one row: `w`, `s*` and `grad` point at them, `grad` in gradient row 0.
template <class R, class T, size_t kVectors, bool kPart>
inline void UpdatePanel(const R& rule, const T* grad, size_t len, const RowGroup& group,
                        const int32_t* next, bool sum_duplicates, T* w, T* s0, T* s1, T* s2,
                        size_t part) {
  Panel<T, kVectors, kPart> g, pw, p0, p1, p2;
  g.LoadFrom(grad + size_t(group.first) * len, part);
  if (sum_duplicates) {
    for (int32_t at = group.first; at != group.last;) {
      at = next[at];
      g.Add(grad + size_t(at) * len, part);
    }
  }
  pw.LoadFrom(w, part);
  if constexpr (R::kSlots > 0) p0.LoadFrom(s0, part);
  if constexpr (R::kSlots > 1) p1.LoadFrom(s1, part);
  if constexpr (R::kSlots > 2) p2.LoadFrom(s2, part);
  ApplyRule(rule, g, pw, p0, p1, p2);
  if (!sum_duplicates) {
    for (int32_t at = group.first; at != group.last;) {
      at = next[at];
      // As if each step had been stored.
      pw.Round();
      if constexpr (R::kSlots > 0) p0.Round();
      if constexpr (R::kSlots > 1) p1.Round();
      if constexpr (R::kSlots > 2) p2.Round();
      g.LoadFrom(grad + size_t(at) * len, part);
      ApplyRule(rule, g, pw, p0, p1, p2);
    }
  }
  pw.StoreTo(w, part);
  if constexpr (R::kSlots > 0) p0.StoreTo(s0, part);
  if constexpr (R::kSlots > 1) p1.StoreTo(s1, part);
  if constexpr (R::kSlots > 2) p2.StoreTo(s2, part);
}

template <class R, class T>
inline void UpdateRow(const R& rule, const T* grad, size_t len, const RowGroup& group,
                      const int32_t* next, bool sum_duplicates, T* w, T* s0, T* s1, T* s2) {
  constexpr size_t kWidth = Panel<T, 1, false>::kWidth;
  size_t i = 0;
  for (; i + kPanel * kWidth <= len; i += kPanel * kWidth) {
    UpdatePanel<R, T, kPanel, false>(rule, grad + i, len, group, next, sum_duplicates, w + i,
                                     s0 + i, s1 + i, s2 + i, 0);
  }
  for (; i + kWidth <= len; i += kWidth) {
    UpdatePanel<R, T, 1, false>(rule, grad + i, len, group, next, sum_duplicates, w + i, s0 + i,
                                s1 + i, s2 + i, 0);
  }
  if (i < len) {
    UpdatePanel<R, T, 1, true>(rule, grad + i, len, group, next, sum_duplicates, w + i, s0 + i,
                               s1 + i, s2 + i, len - i);
  }
}

inline void Fetch(const void* row, size_t bytes) {
  const char* p = static_cast<const char*>(row);
  const size_t end = bytes < kMaxFetch ? bytes : kMaxFetch;
  for (size_t i = 0; i < end; i += 64) __builtin_prefetch(p + i, 1, 3);
  // A row that is not a multiple of a line may reach into one more.
  if (end != 0) __builtin_prefetch(p + end - 1, 1, 3);
}

// Where the rows of a table are. Addresses as integers: the arrays of a dense table are no parts of one
// object, and neither are blocks.
template <class R, class T>
struct RowAddresses {
  explicit RowAddresses(const Table& table) {
    if (table.in_blocks) {
      base = 0;
      stride = 1;
      for (int i = 0; i < R::kSlots; ++i) slot[i] = uintptr_t(table.slot_offset[i]);
    } else {
      base = uintptr_t(table.var);
      stride = uintptr_t(table.row_len) * sizeof(T);
      for (int i = 0; i < R::kSlots; ++i) slot[i] = uintptr_t(table.slot[i]) - base;
    }
  }
  inline T* Var(const RowGroup& group) const {
    return reinterpret_cast<T*>(base + uintptr_t(group.row) * stride);
  }
  // A rule without that slot never looks at it.
  inline T* Slot(int i, T* var) const {
    return i < R::kSlots ? reinterpret_cast<T*>(uintptr_t(var) + slot[i]) : var;
  }
  uintptr_t base, stride;
  uintptr_t slot[kMaxSlots] = {};
};

// kLen: row length known at compile time, or 0.
template <class R, class T, size_t kLen>
void ApplyGroups(const ApplyArgs& args) {
  const R rule(*args.hyper);
  const size_t len = kLen != 0 ? kLen : size_t(args.table->row_len);
  const T* const grad = static_cast<const T*>(args.grad);
  const RowAddresses<R, T> rows(*args.table);
  const RowGroup* const groups = args.groups;
  const int64_t n = args.num_groups;

  auto fetch = [&](int64_t i) {
    T* const var = rows.Var(groups[i]);
    Fetch(var, len * sizeof(T));
    for (int s = 0; s < R::kSlots; ++s) Fetch(rows.Slot(s, var), len * sizeof(T));
    __builtin_prefetch(grad + size_t(groups[i].first) * len);
  };
  for (int64_t i = 0; i < n && i < kAhead; ++i) fetch(i);

  for (int64_t i = 0; i < n; ++i) {
    if (i + kAhead < n) fetch(i + kAhead);
    T* const var = rows.Var(groups[i]);
    UpdateRow<R, T>(rule, grad, len, groups[i], args.next, args.sum_duplicates, var,
                    rows.Slot(0, var), rows.Slot(1, var), rows.Slot(2, var));
  }
}

template <class R, class T>
void Apply(const ApplyArgs& args) {
#ifndef DEEPREC_NO_FIXED_LENGTHS
  if constexpr (sizeof(T) > 2) {
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

// Whether all bits of a block are zero: integer words, so that -0.0 counts as set. It decays to itself, but
// moves a variable of -0.0.
inline bool AllZeroBits(const void* p, size_t bytes) {
  const char* const begin = static_cast<const char*>(p);
  size_t i = 0;
#if defined(__AVX2__)
  WordV any = {};
  for (; i + sizeof(WordV) <= bytes; i += sizeof(WordV)) {
    WordV words;
    __builtin_memcpy(&words, begin + i, sizeof(words));
    any |= words;
  }
#if defined(__AVX512F__)
  if (_mm512_test_epi32_mask((__m512i)any, (__m512i)any) != 0) return false;
#else
  if (!_mm256_testz_si256((__m256i)any, (__m256i)any)) return false;
#endif
#endif
  uint16_t rest = 0;
  for (; i < bytes; i += sizeof(uint16_t)) {
    uint16_t word;
    __builtin_memcpy(&word, begin + i, sizeof(word));
    rest |= word;
  }
  return rest == 0;
}

// Elements tested at a time for zero moments in Adam's pass over all rows.
constexpr size_t kBlock = 64;

template <class T, size_t kVectors, bool kPart, class R>
inline void DecayPanel(const R& rule, T* w, T* m, T* v, size_t part) {
  Panel<T, kVectors, kPart> pw, pm, pv;
  pw.LoadFrom(w, part);
  pm.LoadFrom(m, part);
  pv.LoadFrom(v, part);
  for (size_t i = 0; i < kVectors; ++i) rule.Decay(pw.v[i], pm.v[i], pv.v[i]);
  pw.StoreTo(w, part);
  pm.StoreTo(m, part);
  pv.StoreTo(v, part);
}

template <class T, bool kPart, class R>
inline void DecaySecondMoment(const R& rule, T* v, size_t part) {
  Panel<T, 1, kPart> pv;
  pv.LoadFrom(v, part);
  pv.v[0] *= rule.beta2;
  pv.StoreTo(v, part);
}

// Adam's decay of `n` consecutive elements that have no gradient.
template <class T, class R>
inline void DecayElements(const R& rule, bool zero_is_still, T* w, T* m, T* v, size_t n) {
  constexpr size_t kWidth = Panel<T, 1, false>::kWidth;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = n - begin < kBlock ? n : begin + kBlock;
    const size_t bytes = (end - begin) * sizeof(T);
    size_t i = begin;
    // Rows no gradient has reached yet, or not for so long that m is zero again, are most of a table
    // with skewed ids. w stays, is not even read, and m is not written.
    if (zero_is_still && AllZeroBits(m + begin, bytes)) {
      if (AllZeroBits(v + begin, bytes)) continue;
      for (; i + kWidth <= end; i += kWidth) DecaySecondMoment<T, false>(rule, v + i, 0);
      if (i < end) DecaySecondMoment<T, true>(rule, v + i, end - i);
      continue;
    }
    for (; i + kPanel * kWidth <= end; i += kPanel * kWidth) {
      DecayPanel<T, kPanel, false>(rule, w + i, m + i, v + i, 0);
    }
    for (; i + kWidth <= end; i += kWidth) DecayPanel<T, 1, false>(rule, w + i, m + i, v + i, 0);
    if (i < end) DecayPanel<T, 1, true>(rule, w + i, m + i, v + i, end - i);
  }
}

template <class T>
void AdamAllRows(const ApplyArgs& args, int64_t row_begin, int64_t row_end) {
  using R = AdamRule<typename ComputeType<T>::type>;
  const R rule(*args.hyper);
  const bool zero_is_still = rule.ZeroMomentIsStill();
  const size_t len = size_t(args.table->row_len);
  const T* const grad = static_cast<const T*>(args.grad);
  T* const w = static_cast<T*>(args.table->var);
  T* const m = static_cast<T*>(args.table->slot[0]);
  T* const v = static_cast<T*>(args.table->slot[1]);

  int64_t row = row_begin;
  for (int64_t i = 0; i <= args.num_groups; ++i) {
    const int64_t touched = i < args.num_groups ? args.groups[i].row : row_end;
    const size_t begin = size_t(row) * len;
    DecayElements<T>(rule, zero_is_still, w + begin, m + begin, v + begin,
                     size_t(touched - row) * len);
    if (i == args.num_groups) break;
    const size_t at = size_t(touched) * len;
    UpdateRow<R, T>(rule, grad, len, args.groups[i], args.next, true, w + at, m + at, v + at, w);
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
#define DEEPREC_ADAMW(T) Apply<AdamWRule<ComputeType<T>::type>, T>
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
        DEEPREC_PER_TYPE(DEEPREC_ADAMW),
    },
    DEEPREC_PER_TYPE(DEEPREC_ADAM_ALL),
};

}  // namespace sparse
}  // namespace deeprec
