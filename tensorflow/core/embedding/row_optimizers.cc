#include "tensorflow/core/embedding/row_optimizers.h"

#include <cmath>
#include <memory>

#include "tensorflow/core/sparse/accumulator_decay.h"

namespace deeprec {
namespace embedding {
namespace {

using sparse::BFloat16;
using sparse::ElementSize;
using sparse::Half;
using sparse::Hyper;
using sparse::RowGroup;

#include "tensorflow/core/sparse/element_convert.h"
#include "tensorflow/core/sparse/stored_element.h"

template <class T>
T* At(int64_t row, int64_t offset) {
  return reinterpret_cast<T*>(uintptr_t(row) + uintptr_t(offset));
}

// Rows fetched ahead of their use; they lie anywhere in memory.
constexpr int64_t kAhead = 12;

inline void FetchBlock(const RowGroup* groups, int64_t i, int64_t n, int64_t begin, int64_t end) {
  if (i >= n) return;
  for (int64_t at = begin; at < end; at += 64) __builtin_prefetch(At<char>(groups[i].row, at), 1, 3);
}

// One row of group FTRL; g holds the summed gradient; z and root are scratch. kRoot: lr_power is -0.5.
template <bool kRoot, class F, class T>
void GroupFtrlRow(const Hyper& h, int64_t dim, const F* g, T* w, T* accumulator, T* linear, F* z, F* root) {
  using E = Stored<T>;
  const F lr = F(h.lr), power = F(-h.lr_power), l1 = F(h.l1), l2 = F(2 * h.l2);
  const F shrinkage = h.has_l2_shrinkage ? F(2 * h.l2_shrinkage) : F(0);
  const auto raise = [&](F a) { return kRoot ? std::sqrt(a) : std::pow(a, power); };
  for (int64_t i = 0; i < dim; ++i) {
    const F a = E::Load(accumulator[i]), x = E::Load(w[i]);
    const F shrunk = h.has_l2_shrinkage ? g[i] + shrinkage * x : g[i];
    root[i] = raise(a + shrunk * shrunk);
    z[i] = E::Load(linear[i]) + shrunk - (root[i] - raise(a)) / lr * x;
  }
  F squared = 0;
  for (int64_t i = 0; i < dim; ++i) squared += z[i] * z[i];
  const F norm = std::sqrt(squared);
  // Not norm <= l1, which would hide a NaN.
  const bool moves = norm > l1 || norm != norm;
  for (int64_t i = 0; i < dim; ++i) {
    const F x = (l1 - norm) / ((root[i] / lr + l2) * norm) * z[i];
    w[i] = E::Store(moves ? x : F(0));
    linear[i] = E::Store(z[i]);
    accumulator[i] = E::Store(E::Load(accumulator[i]) + g[i] * g[i]);
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
    const int64_t begin = rows.slot_offset[0];
    const int64_t end = rows.slot_offset[1] + powers * ElementSize(rows.type);
    for (int64_t i = 0; i < n && i < kAhead; ++i) FetchBlock(groups, i, n, begin, end);
    for (int64_t i = 0; i < n; ++i) {
      FetchBlock(groups, i + kAhead, n, begin, end);
      sparse::DecayAccumulator(decay, powers, unit, At<char>(groups[i].row, rows.slot_offset[0]),
                               At<char>(groups[i].row, rows.slot_offset[1]));
    }
    adagrad(groups, n, next);
  };
}

RowUpdater GroupFtrlOptimizer(const BlockRows& rows, const Hyper& hyper, const void* grad) {
  return [=](const RowGroup* groups, int64_t n, const int32_t* next) {
    const int64_t end = rows.slot_offset[1] + rows.dim * ElementSize(rows.type);
    for (int64_t i = 0; i < n && i < kAhead; ++i) FetchBlock(groups, i, n, 0, end);
    ForType(rows.type, [&](auto element) {
      using T = decltype(element);
      using E = Stored<T>;
      using F = typename E::Compute;
      const T* const gradients = static_cast<const T*>(grad);
      const std::unique_ptr<F[]> scratch(new F[3 * rows.dim]);
      F *const sum = scratch.get(), *const z = sum + rows.dim, *const root = z + rows.dim;
      const auto update = hyper.lr_power == -0.5 ? GroupFtrlRow<true, F, T> : GroupFtrlRow<false, F, T>;
      for (int64_t i = 0; i < n; ++i) {
        FetchBlock(groups, i + kAhead, n, 0, end);
        const RowGroup& group = groups[i];
        for (int64_t d = 0; d < rows.dim; ++d) sum[d] = E::Load(gradients[group.first * rows.dim + d]);
        for (int32_t at = group.first; at != group.last;) {
          at = next[at];
          for (int64_t d = 0; d < rows.dim; ++d) sum[d] += E::Load(gradients[at * rows.dim + d]);
        }
        update(hyper, rows.dim, sum, At<T>(group.row, 0), At<T>(group.row, rows.slot_offset[0]),
               At<T>(group.row, rows.slot_offset[1]), z, root);
      }
    });
  };
}

}  // namespace embedding
}  // namespace deeprec
