// The boundary between the sparse optimizer driver and the per-ISA code.
//
// A table is a dense [rows, row_len] array: the variable and up to three slots of the same shape. Or its
// rows lie anywhere in memory, each with its slots beside it (Table::in_blocks). One step receives gradient rows and, for each distinct table row, the chain of gradient rows that
// belong to it (RowGroup). All arithmetic on half and bfloat16 is done in float and rounded once when
// the row is stored; double stays double.
//
// This header and everything below it may include no C++ standard header: the per-ISA files are
// compiled with wider instruction sets, and a weak template instance from there could be the copy the
// linker keeps for the whole library.

#ifndef TENSORFLOW_CORE_SPARSE_ROW_UPDATE_H_
#define TENSORFLOW_CORE_SPARSE_ROW_UPDATE_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/core/sparse/element_types.h"

namespace deeprec {
namespace sparse {

// Update rules. "Slots" are listed in the order of Table::slot.
enum class Rule : int {
  kGradientDescent = 0,  // no slot
  kAdagrad,              // accumulator
  kMomentum,             // momentum accumulator
  kKerasMomentum,        // momentum accumulator, holds -lr * gradients
  kFtrl,                 // accumulator, linear
  kRmsProp,              // mean square, momentum
  kCenteredRmsProp,      // mean gradient, mean square, momentum
  kAdam,                 // first moment m, second moment v
  kAdamW,                // as kAdam, with decoupled weight decay
};
constexpr int kNumRules = 9;
constexpr int kMaxSlots = 3;

constexpr int NumSlots(Rule rule) {
  return rule == Rule::kGradientDescent                                                     ? 0
         : rule == Rule::kAdagrad || rule == Rule::kMomentum || rule == Rule::kKerasMomentum ? 1
         : rule == Rule::kCenteredRmsProp                                                   ? 3
                                                                                            : 2;
}

// Scalars of one step. A rule reads the ones its formula names and ignores the rest. They are double
// because that holds a value of every element type exactly; rules convert to their own type once.
struct Hyper {
  double lr = 0;
  double epsilon = 0;  // Adagrad: 0 gives the form without epsilon
  double momentum = 0;
  double rho = 0;  // RMSProp decay
  double beta1 = 0;
  double beta2 = 0;
  double beta1_power = 0;
  double beta2_power = 0;
  double l1 = 0;
  double l2 = 0;
  double l2_shrinkage = 0;
  double lr_power = -0.5;
  double weight_decay = 0;
  bool nesterov = false;
  bool update_slots = true;
  bool has_l2_shrinkage = false;
  bool multiply_linear_by_lr = false;
};

struct Table {
  void* var = nullptr;
  void* slot[kMaxSlots] = {nullptr, nullptr, nullptr};
  int64_t rows = 0;
  int64_t row_len = 0;
  // True: RowGroup::row is the address of a variable's row, slot i of which lies slot_offset[i] bytes
  // further; var, slot and rows are not used.
  bool in_blocks = false;
  int64_t slot_offset[kMaxSlots] = {0, 0, 0};
};

// A table row and the gradient rows that update it: `first`, next[first], ... up to `last`, ascending.
struct RowGroup {
  int64_t row;
  int32_t first;
  int32_t last;
};

struct ApplyArgs {
  const Table* table;
  const Hyper* hyper;
  const void* grad;  // [n, row_len], element type of the table
  const RowGroup* groups;
  int64_t num_groups;
  const int32_t* next;  // [n]; defined for every position of a chain but its last
  // True: the chain is summed, then applied once. False: applied row after row, in chain order.
  bool sum_duplicates;
};

// Updates the rows of `groups`. Rows of different groups differ, so shards with disjoint groups may run
// in parallel.
using ApplyFn = void (*)(const ApplyArgs& args);

// Adam with the moments of every row decayed: rows [row_begin, row_end), of which `groups` (ascending
// rows within that range, chains summed) have a gradient.
using AdamAllRowsFn = void (*)(const ApplyArgs& args, int64_t row_begin, int64_t row_end);

struct KernelTable {
  ApplyFn apply[kNumRules][kNumElementTypes];
  AdamAllRowsFn adam_all_rows[kNumElementTypes];
};

extern const KernelTable kScalarKernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_ROW_UPDATE_H_
