// Time and memory of the table beside what the machine's memory allows.
//
//   table_bench [keys] [dim] [n] [threads] [slots]     default 1000000 16 13312 2 2
//
// With two slots steps are Adam's, with one Adagrad's.
//
// Prints the random-row roofline (rows copied from one array, with the table's prefetch distance, no map), then
// lookups and steps on the same ids: microseconds, nanoseconds per id, GB/s of rows, share of the roofline; and the
// bytes a key takes. Ids are uniform and Zipf 1.05; batches are fresh.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tensorflow/core/embedding/row_optimizers.h"
#include "tensorflow/core/embedding/table.h"
#include "tensorflow/core/sparse/bench_util.h"

namespace deeprec {
namespace embedding {
namespace {

constexpr int kBatches = 16;
using Batches = std::vector<std::vector<int64_t>>;

// The key of a row number: spread over all 64 bits, as hashed features are.
int64_t KeyOf(int64_t row) { return int64_t(uint64_t(row) * 0x9e3779b97f4a7c15ULL); }

Batches Split(const std::vector<int64_t>& rows, int64_t n) {
  Batches batches;
  for (int b = 0; b < kBatches; ++b) batches.emplace_back(rows.begin() + n * b, rows.begin() + n * (b + 1));
  return batches;
}

double CopyRandomRows(sparse::SpinPool& pool, int threads, const std::vector<float>& array, const Batches& batches,
                      int64_t dim, std::vector<float>* out) {
  int next = 0;
  return sparse::MedianSeconds(50, [&] {
    const std::vector<int64_t>& rows = batches[next++ % kBatches];
    const int64_t n = int64_t(rows.size());
    pool.Run(threads, [&](int t) {
      const int64_t end = n * (t + 1) / threads;
      for (int64_t i = n * t / threads; i < end; ++i) {
        if (i + 12 < end) __builtin_prefetch(&array[rows[i + 12] * dim]);
        std::memcpy(&(*out)[i * dim], &array[rows[i] * dim], dim * sizeof(float));
      }
    });
  });
}

void Report(const char* name, double seconds, int64_t n, double bytes, double roofline) {
  std::printf("  %-22s %8.1f us  %6.1f ns/id  %6.1f GB/s", name, seconds * 1e6, seconds / n * 1e9,
              bytes / seconds * 1e-9);
  if (roofline > 0) std::printf("  %3.0f %% of the roofline", 100 * roofline / seconds);
  std::printf("\n");
}

int Main(int argc, char** argv) {
  const int64_t keys = argc > 1 ? std::atoll(argv[1]) : 1000000;
  const int64_t dim = argc > 2 ? std::atoll(argv[2]) : 16;
  const int64_t n = argc > 3 ? std::atoll(argv[3]) : 13312;
  const int num_threads = argc > 4 ? std::atoi(argv[4]) : 2;
  const int slots = argc > 5 ? std::atoi(argv[5]) : 2;
  if (slots != 1 && slots != 2) {
    std::fprintf(stderr, "slots must be 1 or 2, got %s\n", argv[5]);
    return 1;
  }
  const sparse::Rule rule = slots == 1 ? sparse::Rule::kAdagrad : sparse::Rule::kAdam;
  sparse::SpinPool pool(num_threads);
  Threads threads;
  threads.count = num_threads;
  threads.run = [&](int shards, const std::function<void(int)>& body) { pool.Run(shards, body); };

  const auto rows_of = [&](float value) {
    const std::vector<float> row(dim, value);
    return std::make_shared<DefaultRows>(ElementType::kFloat, row.data(), 1, dim);
  };
  TableOptions options;
  Table table(options, rows_of(0.1f));
  std::vector<int> columns;
  for (int i = 0; i < slots; ++i) columns.push_back(table.AddColumn(rows_of(0.1f)));
  const std::vector<float> grad(n * dim, 0.01f);
  std::vector<float> out(n * dim);
  sparse::Hyper hyper;
  hyper.lr = 1e-3;
  hyper.beta1 = 0.9, hyper.beta2 = 0.999, hyper.beta1_power = 0.5, hyper.beta2_power = 0.9;
  hyper.epsilon = 1e-8;
  const auto step = [&](const std::vector<int64_t>& batch, sparse::Rule rule) {
    TableUpdate update;
    update.keys = batch.data();
    update.grad = grad.data();
    update.n = int64_t(batch.size());
    table.Update(update,
                 ElementwiseOptimizer(RowsOf(table, columns), rule, hyper, grad.data(), sparse::BestIsa()),
                 threads);
  };
  const auto start = std::chrono::steady_clock::now();
  for (int64_t begin = 0; begin < keys; begin += n) {
    std::vector<int64_t> batch;
    for (int64_t i = begin; i < std::min(keys, begin + n); ++i) batch.push_back(KeyOf(i));
    step(batch, rule);
  }
  const std::chrono::duration<double> filled = std::chrono::steady_clock::now() - start;
  const double per_key = double(table.MemoryBytes()) / double(keys);
  std::printf("%lld keys of dim %lld with %d slots, %d threads: %.1f s to make, %.1f bytes a key, %.3f of the rows' "
              "%lld\n",
              (long long)keys, (long long)dim, slots, num_threads, filled.count(), per_key,
              per_key / double(table.RowBytes()), (long long)table.RowBytes());

  std::vector<float> array(keys * dim, 0.1f);
  for (const char* const ids : {"uniform", "zipf 1.05"}) {
    std::vector<int64_t> rows(n * kBatches);
    if (std::string(ids) == "uniform") {
      std::mt19937_64 random(1);
      for (int64_t& row : rows) row = int64_t(random() % uint64_t(keys));
    } else {
      rows = sparse::ZipfIndices(n * kBatches, keys, 1.05, 1);
    }
    const Batches row_batches = Split(rows, n);
    for (int64_t& row : rows) row = KeyOf(row);
    const Batches key_batches = Split(rows, n);
    std::printf("%s ids, batches of %lld:\n", ids, (long long)n);
    const double row_bytes = double(n * dim) * sizeof(float);
    const double roofline = CopyRandomRows(pool, num_threads, array, row_batches, dim, &out);
    Report("rows alone", roofline, n, row_bytes, 0);
    int next = 0;
    Report("lookup", sparse::MedianSeconds(50, [&] {
             const std::vector<int64_t>& batch = key_batches[next++ % kBatches];
             table.Lookup(batch.data(), n, nullptr, out.data(), threads);
           }), n, row_bytes, roofline);
    Report("sgd step", sparse::MedianSeconds(50, [&] {
             step(key_batches[next++ % kBatches], sparse::Rule::kGradientDescent);
           }), n, 3 * row_bytes, 0);
    Report(slots == 1 ? "adagrad step" : "adam step", sparse::MedianSeconds(50, [&] {
             step(key_batches[next++ % kBatches], rule);
           }), n, (3 + 2 * slots) * row_bytes, 0);
  }
  return 0;
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec

int main(int argc, char** argv) { return deeprec::embedding::Main(argc, argv); }
