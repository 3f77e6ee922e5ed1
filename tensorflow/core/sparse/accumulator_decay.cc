#include "tensorflow/core/sparse/accumulator_decay.h"

#include <cmath>

namespace deeprec {
namespace sparse {
namespace {

#include "tensorflow/core/sparse/element_convert.h"
#include "tensorflow/core/sparse/stored_element.h"

template <class T>
void Decay(double factor, double baseline, int64_t n, T* accumulator) {
  using S = Stored<T>;
  using F = typename S::Compute;
  const F f = F(factor), least = F(baseline);
  for (int64_t i = 0; i < n; ++i) {
    const F decayed = S::Load(accumulator[i]) * f;
    // Not a maximum, which could lose a NaN.
    accumulator[i] = S::Store(decayed < least ? least : decayed);
  }
}

// Elements and integers as powers: differences of what is stored are exact in double.
template <class P>
double Read(P power) {
  return double(Stored<P>::Load(power));
}
template <class P>
P Rounded(int64_t period) {
  return Stored<P>::Store(typename Stored<P>::Compute(period));
}

template <class T, class P>
void DecayAll(const AccumulatorDecay& decay, int64_t n, int64_t unit, T* accumulator, P* power) {
  const P period = Rounded<P>(decay.period);
  for (int64_t i = 0; i < n; ++i) {
    const double missed = Read(period) - Read(power[i]);
    if (!(missed > 0)) continue;
    const double factor = missed == 1 ? decay.rate : std::pow(decay.rate, missed);
    Decay(factor, decay.baseline, unit, accumulator + i * unit);
    power[i] = period;
  }
}

// Calls body with an element and a power of the types in question.
template <class Body>
void ForTypes(const AccumulatorDecay& decay, const Body& body) {
  ForType(decay.type, [&](auto element) {
    switch (decay.power_type) {
      case PowerType::kElement: return body(element, element);
      case PowerType::kInt32: return body(element, int32_t());
      case PowerType::kInt64: return body(element, int64_t());
    }
  });
}

}  // namespace

void DecayAccumulator(const AccumulatorDecay& decay, int64_t n, int64_t unit, void* accumulator, void* power) {
  ForTypes(decay, [&](auto element, auto count) {
    DecayAll(decay, n, unit, static_cast<decltype(element)*>(accumulator), static_cast<decltype(count)*>(power));
  });
}

template <class Index>
void DecayAccumulatorRows(const AccumulatorDecay& decay, const Index* indices, int64_t n, int64_t rows, int64_t row_len,
                          int64_t powers_per_row, void* accumulator, void* power) {
  const int64_t unit = powers_per_row == 0 ? 0 : row_len / powers_per_row;
  ForTypes(decay, [&](auto element, auto count) {
    auto* const a = static_cast<decltype(element)*>(accumulator);
    auto* const p = static_cast<decltype(count)*>(power);
    // A decay is rare: mostly this reads the powers, which lie anywhere.
    constexpr int64_t kAhead = 16;
    for (int64_t i = 0; i < n; ++i) {
      if (i + kAhead < n) {
        const int64_t next = int64_t(indices[i + kAhead]);
        const int64_t bytes = powers_per_row * int64_t(sizeof(count));
        for (int64_t at = 0; at < bytes && uint64_t(next) < uint64_t(rows); at += 64) {
          __builtin_prefetch(reinterpret_cast<const char*>(p + next * powers_per_row) + at, 0, 3);
        }
      }
      const int64_t row = int64_t(indices[i]);
      if (uint64_t(row) >= uint64_t(rows)) continue;
      DecayAll(decay, powers_per_row, unit, a + row * row_len, p + row * powers_per_row);
    }
  });
}

template void DecayAccumulatorRows<int32_t>(const AccumulatorDecay&, const int32_t*, int64_t, int64_t, int64_t, int64_t,
                                            void*, void*);
template void DecayAccumulatorRows<int64_t>(const AccumulatorDecay&, const int64_t*, int64_t, int64_t, int64_t, int64_t,
                                            void*, void*);

}  // namespace sparse
}  // namespace deeprec
