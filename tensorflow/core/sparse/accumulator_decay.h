// The decay of Adagrad's accumulator in AdagradDecay, on dense arrays and on rows.
//
// Global steps are divided into periods. A power counts the periods that its elements of the accumulator have seen; it
// is brought up to date just before they are used. So elements that were not used for several periods catch up with all
// of them, and the result does not depend on when they were used.

#ifndef TENSORFLOW_CORE_SPARSE_ACCUMULATOR_DECAY_H_
#define TENSORFLOW_CORE_SPARSE_ACCUMULATOR_DECAY_H_

#include <stdint.h>

#include "tensorflow/core/sparse/element_types.h"

namespace deeprec {
namespace sparse {

// What powers are stored in. kElement: the type of the accumulator, where a period is rounded to it: a bfloat16 holds
// whole numbers up to 256 and then notices every second period, later every fourth, and decays by both at once.
enum class PowerType { kElement, kInt32, kInt64 };

struct AccumulatorDecay {
  ElementType type = ElementType::kFloat;
  PowerType power_type = PowerType::kElement;
  int64_t period = 0;  // the present one
  double rate = 1;
  double baseline = 0;
};

// For each of `n` powers with k = period - power > 0: its `unit` elements of the accumulator become
// max(element * rate^k, baseline), and the power becomes period.
void DecayAccumulator(const AccumulatorDecay& decay, int64_t n, int64_t unit, void* accumulator, void* power);

// DecayAccumulator on the rows of an accumulator [rows, row_len] that `indices` names. Each row has `powers_per_row`
// powers, which divides row_len. Indices outside [0, rows) are passed over; those that occur again change nothing.
template <class Index>
void DecayAccumulatorRows(const AccumulatorDecay& decay, const Index* indices, int64_t n, int64_t rows, int64_t row_len,
                          int64_t powers_per_row, void* accumulator, void* power);

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_ACCUMULATOR_DECAY_H_
