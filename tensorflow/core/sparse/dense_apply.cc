#include "tensorflow/core/sparse/dense_apply.h"

#include <memory>

namespace deeprec {
namespace sparse {
namespace {

// Elements that are one row to the row update.
constexpr int64_t kChunk = 4096;
constexpr double kBytesPerNs = 16;

char* Shifted(const void* p, int64_t bytes) {
  return p == nullptr ? nullptr : const_cast<char*>(static_cast<const char*>(p)) + bytes;
}

// `rows` rows of `row_len` elements from element `begin` on, one gradient row to each.
void ApplyRows(const SparseStep& step, ApplyFn apply, int64_t begin, int64_t rows, int64_t row_len) {
  const int64_t offset = begin * int64_t(ElementSize(step.type));
  Table table;
  table.var = Shifted(step.table.var, offset);
  for (int i = 0; i < kMaxSlots; ++i) table.slot[i] = Shifted(step.table.slot[i], offset);
  table.rows = rows;
  table.row_len = row_len;
  const std::unique_ptr<RowGroup[]> groups(new RowGroup[rows]);
  for (int64_t i = 0; i < rows; ++i) groups[i] = RowGroup{i, int32_t(i), int32_t(i)};
  ApplyArgs args;
  args.table = &table;
  args.hyper = &step.hyper;
  args.grad = Shifted(step.grad, offset);
  args.groups = groups.get();
  args.num_groups = rows;
  args.next = nullptr;
  args.sum_duplicates = true;
  apply(args);
}

}  // namespace

void DenseApply(const SparseStep& step, Isa isa, const Threads& threads) {
  const int64_t n = step.table.rows * step.table.row_len;
  const ApplyFn apply = Kernels(isa).apply[int(step.rule)][int(step.type)];
  const int64_t chunks = n / kChunk;
  // The gradient is read; the variable and each slot are read and written.
  const double bytes = double(n) * double(ElementSize(step.type)) * (1 + 2 * (1 + NumSlots(step.rule)));
  const int shards = NumShards(bytes / kBytesPerNs, threads.count);
  const auto shard = [&](int i) {
    const int64_t begin = chunks * i / shards, end = chunks * (i + 1) / shards;
    if (end > begin) ApplyRows(step, apply, begin * kChunk, end - begin, kChunk);
    if (i == shards - 1 && n % kChunk != 0) ApplyRows(step, apply, chunks * kChunk, 1, n % kChunk);
  };
  if (shards == 1) {
    shard(0);
  } else {
    threads.run(shards, shard);
  }
}

}  // namespace sparse
}  // namespace deeprec
