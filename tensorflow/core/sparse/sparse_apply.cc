#include "tensorflow/core/sparse/sparse_apply.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tensorflow/core/sparse/row_groups.h"

namespace deeprec {
namespace sparse {
namespace {

// Estimates for one thread, from sparse_apply_bench; see docs/notes/sparse-apply.md.
constexpr double kMinShardNs = 100000;
constexpr double kGroupNs = 10;  // per index
constexpr double kListNs = 2;
constexpr double kLineBytes = 64;
constexpr double kRandomBytesPerNs = 11;
constexpr double kStreamBytesPerNs = 24;

void Run(const Threads& threads, int shards, const std::function<void(int)>& body) {
  if (shards == 1) {
    body(0);
  } else {
    threads.run(shards, body);
  }
}

double RowBytes(const SparseStep& step, int arrays) {
  return double(step.table.row_len) * ElementSize(step.type) * arrays;
}

// The rows of a shard, if the L2 cache can hold them until they are used: hashing waits on branches and the
// fetches on memory, so the one hides the other. Rows are counted with duplicates, about twice what is
// fetched from a batch of skewed ids.
RowFetch FetchWhileGrouping(const SparseStep& step, int shards) {
  constexpr double kFetchBytes = 2 << 20;
  RowFetch fetch;
  const int arrays = 1 + NumSlots(step.rule);
  if (RowBytes(step, arrays) * double(step.n) / shards > kFetchBytes) return fetch;
  fetch.arrays = arrays;
  fetch.row_bytes = step.table.row_len * ElementSize(step.type);
  fetch.base[0] = static_cast<const char*>(step.table.var);
  for (int i = 1; i < arrays; ++i) {
    fetch.base[i] = static_cast<const char*>(step.table.slot[i - 1]);
  }
  return fetch;
}

ApplyArgs Args(const SparseStep& step, const RowGrouper& groups, const int32_t* next) {
  ApplyArgs args;
  args.table = &step.table;
  args.hyper = &step.hyper;
  args.grad = step.grad;
  args.groups = groups.groups();
  args.num_groups = groups.size();
  args.next = next;
  args.sum_duplicates = step.sum_duplicates;
  return args;
}

}  // namespace

int NumShards(double cost_ns, int threads) {
  return int(std::max(1.0, std::min(double(threads), cost_ns / kMinShardNs)));
}

template <class Index>
int64_t FirstBadIndex(const Index* indices, int64_t n, int64_t rows) {
  // Two passes: the first has no exit and vectorises; the second runs only to name the culprit.
  bool bad = false;
  for (int64_t i = 0; i < n; ++i) bad |= uint64_t(int64_t(indices[i])) >= uint64_t(rows);
  if (!bad) return -1;
  for (int64_t i = 0; i < n; ++i) {
    if (uint64_t(int64_t(indices[i])) >= uint64_t(rows)) return i;
  }
  return -1;
}

template <class Index>
void SparseApply(const SparseStep& step, const Index* indices, Isa isa, const Threads& threads) {
  if (step.n == 0 || step.table.row_len == 0) return;
  const ApplyFn apply = Kernels(isa).apply[int(step.rule)][int(step.type)];
  // Gradient descent is linear: one after the other gives the sum, in the order of TensorFlow's scatter ops
  // and so with their bits, for less than the grouping costs. Not for 16-bit rows, which would be rounded
  // each time.
  const bool list = step.rule == Rule::kGradientDescent && ElementSize(step.type) > 2;
  // The gradient is read; lines of the variable and of each slot are read and written.
  const double lines = std::ceil(RowBytes(step, 1) / kLineBytes) * (1 + NumSlots(step.rule));
  const double row_ns = (RowBytes(step, 1) + 2 * kLineBytes * lines) / kRandomBytesPerNs;
  const int shards =
      NumShards(double(step.n) * ((list ? kListNs : kGroupNs) + row_ns), threads.count);
  const std::unique_ptr<int32_t[]> next(list ? nullptr : new int32_t[step.n]);
  Run(threads, shards, [&](int shard) {
    Owner owner;
    owner.row_end = step.table.rows;
    owner.shard = shard;
    owner.num_shards = shards;
    RowGrouper groups;
    if (list) {
      groups.List(indices, step.n, owner, FetchWhileGrouping(step, shards));
    } else {
      groups.Group(indices, step.n, owner, next.get(), FetchWhileGrouping(step, shards));
    }
    apply(Args(step, groups, next.get()));
  });
}

template <class Index>
void AdamApplyAllRows(const SparseStep& step, const Index* indices, Isa isa,
                      const Threads& threads) {
  const int64_t rows = step.table.rows;
  if (rows == 0 || step.table.row_len == 0) return;
  const AdamAllRowsFn apply = Kernels(isa).adam_all_rows[int(step.type)];
  const double cost = double(rows) * RowBytes(step, 6) / kStreamBytesPerNs +
                      double(step.n) * (kGroupNs + RowBytes(step, 1) / kRandomBytesPerNs);
  int shards = NumShards(cost, threads.count);
  // A few tiles per thread, so that a thread that starts late or is taken away does not hold up the rest.
  if (shards > 1) shards = int(std::min<int64_t>(rows, NumShards(cost, 4 * shards)));
  const std::unique_ptr<int32_t[]> next(new int32_t[step.n]);
  Run(threads, shards, [&](int shard) {
    Owner owner;
    owner.row_begin = rows * shard / shards;
    owner.row_end = rows * (shard + 1) / shards;
    RowGrouper groups;
    groups.Group(indices, step.n, owner, next.get());
    groups.SortByRow();
    apply(Args(step, groups, next.get()), owner.row_begin, owner.row_end);
  });
}

template int64_t FirstBadIndex<int32_t>(const int32_t*, int64_t, int64_t);
template int64_t FirstBadIndex<int64_t>(const int64_t*, int64_t, int64_t);
template void SparseApply<int32_t>(const SparseStep&, const int32_t*, Isa, const Threads&);
template void SparseApply<int64_t>(const SparseStep&, const int64_t*, Isa, const Threads&);
template void AdamApplyAllRows<int32_t>(const SparseStep&, const int32_t*, Isa, const Threads&);
template void AdamApplyAllRows<int64_t>(const SparseStep&, const int64_t*, Isa, const Threads&);

}  // namespace sparse
}  // namespace deeprec
