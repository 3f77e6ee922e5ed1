#include "tensorflow/core/embedding/row_optimizers.h"

#include <cmath>
#include <memory>

#include "tensorflow/core/sparse/accumulator_decay.h"

namespace deeprec {
namespace embedding {
namespace {

using sparse::BFloat16;
using sparse::Half;
using sparse::Hyper;
using sparse::RowGroup;

#include "tensorflow/core/sparse/element_convert.h"
#include "tensorflow/core/sparse/stored_element.h"

template <class T>
T* At(int64_t row, int64_t offset) {
  return reinterpret_cast<T*>(uintptr_t(row) + uintptr_t(offset));
}

// One row of group FTRL; g holds the summed gradient.
template <class F, class T>
void GroupFtrlRow(const Hyper& h, int64_t dim, const F* g, T* w, T* accumulator, T* linear, F* z) {
  using E = Stored<T>;
  const F lr = F(h.lr), power = F(-h.lr_power), shrinkage = F(2 * h.l2_shrinkage);
  const bool root = h.lr_power == -0.5;
  const auto raise = [&](F a) { return root ? std::sqrt(a) : std::pow(a, power); };
  F squared = 0;
  for (int64_t i = 0; i < dim; ++i) {
    const F a = E::Load(accumulator[i]);
    const F shrunk = h.has_l2_shrinkage ? g[i] + shrinkage * E::Load(w[i]) : g[i];
    z[i] = E::Load(linear[i]) + shrunk - (raise(a + shrunk * shrunk) - raise(a)) / lr * E::Load(w[i]);
    squared += z[i] * z[i];
  }
  const F norm = std::sqrt(squared);
  for (int64_t i = 0; i < dim; ++i) {
    const F a = E::Load(accumulator[i]);
    const F shrunk = h.has_l2_shrinkage ? g[i] + shrinkage * E::Load(w[i]) : g[i];
    const F quadratic = raise(a + shrunk * shrunk) / lr + F(2 * h.l2);
    // Not norm <= l1, which would hide a NaN.
    w[i] = E::Store(norm > F(h.l1) || norm != norm ? (F(h.l1) - norm) / (quadratic * norm) * z[i] : F(0));
    linear[i] = E::Store(z[i]);
    accumulator[i] = E::Store(a + g[i] * g[i]);
  }
}

}  // namespace

BlockRows RowsOf(const Table& table, const std::vector<int>& columns) {
  BlockRows rows;
  rows.type = table.options().type;
  rows.dim = table.dim(0);
  for (size_t i = 0; i < columns.size(); ++i) rows.slot_offset[i] = table.ColumnOffset(columns[i]);
  return rows;
}

RowUpdater ElementwiseOptimizer(const BlockRows& rows, sparse::Rule rule, const Hyper& hyper,
                                const void* grad, sparse::Isa isa) {
  sparse::Table table;
  table.in_blocks = true;
  table.row_len = rows.dim;
  for (int i = 0; i < sparse::kMaxSlots; ++i) table.slot_offset[i] = rows.slot_offset[i];
  const sparse::ApplyFn apply = sparse::Kernels(isa).apply[int(rule)][int(rows.type)];
  return [=](const RowGroup* groups, int64_t n, const int32_t* next) {
    sparse::ApplyArgs args;
    args.table = &table;
    args.hyper = &hyper;
    args.grad = grad;
    args.groups = groups;
    args.num_groups = n;
    args.next = next;
    args.sum_duplicates = true;
    apply(args);
  };
}

RowUpdater AdagradDecayOptimizer(const BlockRows& rows, const AdagradDecayStep& step, const void* grad,
                                 sparse::Isa isa) {
  Hyper hyper;
  hyper.lr = step.lr;
  const RowUpdater adagrad = ElementwiseOptimizer(rows, sparse::Rule::kAdagrad, hyper, grad, isa);
  sparse::AccumulatorDecay decay;
  decay.type = rows.type;
  decay.period = step.period;
  decay.rate = step.rate;
  decay.baseline = step.baseline;
  const int64_t powers = step.power_dim, unit = rows.dim / step.power_dim;
  return [=](const RowGroup* groups, int64_t n, const int32_t* next) {
    for (int64_t i = 0; i < n; ++i) {
      sparse::DecayAccumulator(decay, powers, unit, At<char>(groups[i].row, rows.slot_offset[0]),
                               At<char>(groups[i].row, rows.slot_offset[1]));
    }
    adagrad(groups, n, next);
  };
}

RowUpdater GroupFtrlOptimizer(const BlockRows& rows, const Hyper& hyper, const void* grad) {
  return [=](const RowGroup* groups, int64_t n, const int32_t* next) {
    ForType(rows.type, [&](auto element) {
      using T = decltype(element);
      using E = Stored<T>;
      using F = typename E::Compute;
      const T* const gradients = static_cast<const T*>(grad);
      const std::unique_ptr<F[]> sum(new F[rows.dim]), z(new F[rows.dim]);
      for (int64_t i = 0; i < n; ++i) {
        const RowGroup& group = groups[i];
        for (int64_t d = 0; d < rows.dim; ++d) sum[d] = E::Load(gradients[group.first * rows.dim + d]);
        for (int32_t at = group.first; at != group.last;) {
          at = next[at];
          for (int64_t d = 0; d < rows.dim; ++d) sum[d] += E::Load(gradients[at * rows.dim + d]);
        }
        GroupFtrlRow<F, T>(hyper, rows.dim, sum.get(), At<T>(group.row, 0),
                           At<T>(group.row, rows.slot_offset[0]), At<T>(group.row, rows.slot_offset[1]),
                           z.get());
      }
    });
  };
}

}  // namespace embedding
}  // namespace deeprec
