// Time of the sparse steps beside what the machine's memory allows.
//
//   sparse_apply_bench [rows] [row_len] [n] [threads]     default 1000000 16 13312 2
//
// Prints the memory rooflines (a streaming triad; random rows read and written, with the same prefetch
// distance as the kernels), then each rule and instruction set: microseconds per step, nanoseconds per
// distinct row, bytes moved and GB/s. Bytes moved count gradients and indices read once and every
// touched row of every table array read once and written once.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tensorflow/core/sparse/bench_util.h"
#include "tensorflow/core/sparse/sparse_apply.h"

namespace deeprec {
namespace sparse {
namespace {

void Rooflines(SpinPool& pool, int threads, int64_t rows, int64_t row_len) {
  const int64_t size = int64_t{1} << 25;  // 128 MiB of floats each
  std::vector<float> a(size, 1), b(size, 2), c(size, 3);
  const double triad = MedianSeconds(10, [&] {
    pool.Run(threads, [&](int t) {
      for (int64_t i = size * t / threads; i < size * (t + 1) / threads; ++i) {
        a[i] = b[i] + 0.5f * c[i];
      }
    });
  });
  std::printf("triad, %d threads: %.1f GB/s (read 2, write 1 counted)\n", threads,
              12.0 * size / triad * 1e-9);
  const double scale = MedianSeconds(10, [&] {
    pool.Run(threads, [&](int t) {
      for (int64_t i = size * t / threads; i < size * (t + 1) / threads; ++i) {
        a[i] *= 1.0001f, b[i] *= 1.0001f, c[i] *= 1.0001f;
      }
    });
  });
  std::printf("update 3 arrays in place: %.1f GB/s (read 3, write 3 counted)\n",
              24.0 * size / scale * 1e-9);
  if (rows * row_len > size) return;
  const int64_t visits = 200000;
  std::vector<int64_t> order(visits);
  std::mt19937_64 random(3);
  for (int64_t& row : order) row = random() % uint64_t(rows);
  const double random_rows = MedianSeconds(10, [&] {
    pool.Run(threads, [&](int t) {
      const int64_t end = visits * (t + 1) / threads;
      for (int64_t i = visits * t / threads; i < end; ++i) {
        if (i + 12 < end) __builtin_prefetch(&a[order[i + 12] * row_len], 1);
        float* row = &a[order[i] * row_len];
        for (int64_t k = 0; k < row_len; ++k) row[k] += 1;
      }
    });
  });
  std::printf("random rows of %lld floats, read and written: %.1f GB/s, %.1f ns per row\n",
              (long long)row_len, 8.0 * row_len * visits / random_rows * 1e-9,
              random_rows / visits * 1e9);
}

struct Named {
  const char* name;
  Rule rule;
};

int Main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1000000;
  const int64_t row_len = argc > 2 ? std::atoll(argv[2]) : 16;
  const int64_t n = argc > 3 ? std::atoll(argv[3]) : 13312;
  const int num_threads = argc > 4 ? std::atoi(argv[4]) : 2;
  SpinPool pool(num_threads);
  Threads threads;
  threads.count = num_threads;
  threads.run = [&](int shards, const std::function<void(int)>& body) { pool.Run(shards, body); };
  Rooflines(pool, num_threads, rows, row_len);

  // Fresh batches, so that a step does not find the rows of the last one in the cache.
  const int kBatches = 16;
  std::vector<std::vector<int64_t>> batches;
  const std::vector<int64_t> all = ZipfIndices(n * kBatches, rows, 1.05, 1);
  double distinct = 0;
  for (int b = 0; b < kBatches; ++b) {
    batches.emplace_back(all.begin() + n * b, all.begin() + n * (b + 1));
    distinct += double(std::set<int64_t>(batches[b].begin(), batches[b].end()).size()) / kBatches;
  }
  std::printf("%lld rows of %lld floats, %lld gradients, Zipf 1.05: %.0f distinct rows, %d threads\n",
              (long long)rows, (long long)row_len, (long long)n, distinct, num_threads);

  // On cache lines, as TensorFlow allocates tensors: a row of 16 floats is one line then, not two.
  const auto allocate = [](int64_t size, float value) {
    const size_t bytes = (size * sizeof(float) + 63) / 64 * 64;
    float* const data = static_cast<float*>(std::aligned_alloc(64, bytes));
    std::fill(data, data + size, value);
    return data;
  };
  float* tables[4];
  for (float*& table : tables) table = allocate(rows * row_len, 0.1f);
  SparseStep step;
  step.table.var = tables[0];
  for (int k = 0; k < 3; ++k) step.table.slot[k] = tables[k + 1];
  step.table.rows = rows;
  step.table.row_len = row_len;
  step.grad = allocate(n * row_len, 0.01f);
  step.n = n;
  step.hyper.lr = 1e-3;
  step.hyper.momentum = 0.9;
  step.hyper.rho = 0.99;
  step.hyper.beta1 = 0.9;
  step.hyper.beta2 = 0.999;
  step.hyper.beta1_power = 0.5;
  step.hyper.beta2_power = 0.9;
  step.hyper.epsilon = 1e-8;

  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > BestIsa()) continue;
    for (const Named& c : {Named{"sgd", Rule::kGradientDescent}, Named{"adagrad", Rule::kAdagrad},
                           Named{"momentum", Rule::kMomentum}, Named{"ftrl", Rule::kFtrl},
                           Named{"rmsprop", Rule::kRmsProp}, Named{"adam lazy", Rule::kAdam}}) {
      step.rule = c.rule;
      int batch = 0;
      const double seconds = MedianSeconds(100, [&] {
        SparseApply(step, batches[batch++ % kBatches].data(), isa, threads);
      });
      const double bytes = double(n) * (row_len * 4 + 8) +
                           distinct * double(row_len) * 8 * (1 + NumSlots(c.rule));
      std::printf("%-7s %-12s %8.1f us  %6.1f ns/row  %7.2f MB  %6.1f GB/s\n", IsaName(isa), c.name,
                  seconds * 1e6, seconds / distinct * 1e9, bytes * 1e-6, bytes / seconds * 1e-9);
    }
    step.rule = Rule::kAdam;
    for (const bool fresh : {false, true}) {
      for (int k : {1, 2}) std::fill(tables[k], tables[k] + rows * row_len, fresh ? 0.0f : 0.1f);
      int batch = 0;
      const double seconds = MedianSeconds(15, [&] {
        AdamApplyAllRows(step, batches[batch++ % kBatches].data(), isa, threads);
      });
      const double bytes = double(n) * (row_len * 4 + 8) + double(rows * row_len) * (fresh ? 8 : 24);
      std::printf("%-7s %-12s %8.1f us  %6.1f ns/row  %7.2f MB  %6.1f GB/s%s\n", IsaName(isa),
                  "adam exact", seconds * 1e6, seconds / double(rows) * 1e9, bytes * 1e-6,
                  bytes / seconds * 1e-9, fresh ? "  (rows without history)" : "");
    }
  }
  return 0;
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec

int main(int argc, char** argv) { return deeprec::sparse::Main(argc, argv); }
