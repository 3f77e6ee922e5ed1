// Time and memory of a table that has room for a part of its rows only, beside one that has all in memory.
//
//   table_tiers_bench FOLDER [keys] [dim] [MiB of the first tier] [n] [threads]     default 4000000 16 64 13312 2
//
// Makes the keys, then looks up and trains batches of n ids: all Zipf 1.05, then half of them and the others uniform. A step is
// a lookup and Adagrad's update. Prints times, resident memory and the size of the files.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "tensorflow/core/embedding/row_optimizers.h"
#include "tensorflow/core/embedding/table.h"
#include "tensorflow/core/sparse/bench_util.h"

namespace deeprec {
namespace embedding {
namespace {

int64_t KeyOf(int64_t row) { return int64_t(uint64_t(row) * 0x9e3779b97f4a7c15ULL); }

double ResidentMiB() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("VmRSS:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

double FolderMiB(const std::string& folder) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::error_code gone;
    const auto size = std::filesystem::file_size(entry, gone);
    if (!gone) bytes += double(size);
  }
  return bytes / (1 << 20);
}

void Run(const std::string& folder, int64_t keys, int64_t dim, int64_t first_mib, int64_t n, int num_threads) {
  sparse::SpinPool pool(num_threads);
  Threads threads;
  threads.count = num_threads;
  threads.run = [&](int shards, const std::function<void(int)>& body) { pool.Run(shards, body); };
  TableOptions options;
  options.record_frequency = true;
  if (first_mib > 0) {
    options.tiers.lower = {LowerTierOptions{}};
    options.tiers.first_bytes = first_mib << 20;
    options.tiers.folder = folder;
  }
  const std::vector<float> row(dim, 0.1f), grad(n * dim, 0.01f);
  const auto defaults = std::make_shared<DefaultRows>(ElementType::kFloat, row.data(), 1, dim);
  const double before = ResidentMiB();
  Table table(options, defaults);
  const int slot = table.AddColumn(defaults);
  std::vector<float> out(n * dim);
  sparse::Hyper hyper;
  hyper.lr = 1e-3;
  const auto step = [&](const std::vector<int64_t>& batch) {
    table.Lookup(batch.data(), int64_t(batch.size()), nullptr, out.data(), threads);
    TableUpdate update;
    update.keys = batch.data();
    update.grad = grad.data();
    update.n = int64_t(batch.size());
    table.Update(update,
                 ElementwiseOptimizer(RowsOf(table, {slot}), sparse::Rule::kAdagrad, hyper, grad.data(), sparse::BestIsa()),
                 threads);
  };
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  auto start = Clock::now();
  for (int64_t begin = 0; begin < keys; begin += n) {
    std::vector<int64_t> batch;
    for (int64_t i = begin; i < std::min(keys, begin + n); ++i) batch.push_back(KeyOf(i));
    step(batch);
  }
  std::printf("%s: %lld keys made in %.1f s, resident %.0f MiB, files %.0f MiB\n",
              first_mib > 0 ? "two tiers" : "memory alone", (long long)keys, seconds(start), ResidentMiB() - before,
              FolderMiB(folder));
  constexpr int kSteps = 300;
  for (const char* const ids : {"zipf 1.05", "half uniform"}) {
    std::vector<int64_t> rows = sparse::ZipfIndices(n * kSteps, keys, 1.05, 1);
    if (std::string(ids) != "zipf 1.05") {
      std::mt19937_64 random(1);
      for (size_t i = 0; i < rows.size(); i += 2) rows[i] = int64_t(random() % uint64_t(keys));
    }
    for (int64_t& id : rows) id = KeyOf(id);
    std::vector<double> times;
    for (int s = 0; s < kSteps; ++s) {
      const std::vector<int64_t> batch(rows.begin() + n * s, rows.begin() + n * (s + 1));
      start = Clock::now();
      step(batch);
      times.push_back(seconds(start));
    }
    // The first half brings up what will be hot.
    std::vector<double> last(times.begin() + kSteps / 2, times.end());
    std::sort(last.begin(), last.end());
    std::printf("  %-13s step of %lld ids: median %.2f ms, 99 %% %.2f ms, %.0f ns/id; resident %.0f MiB (table %.0f), "
                "files %.0f MiB\n",
                ids, (long long)n, last[last.size() / 2] * 1e3, last[last.size() * 99 / 100] * 1e3,
                last[last.size() / 2] / double(n) * 1e9, ResidentMiB() - before,
                double(table.MemoryBytes()) / (1 << 20), FolderMiB(folder));
  }
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: table_tiers_bench FOLDER [keys] [dim] [MiB of the first tier] [n] [threads]\n");
    return 1;
  }
  const auto number = [&](int i, int64_t otherwise) { return argc > i ? int64_t(std::atoll(argv[i])) : otherwise; };
  const int64_t keys = number(2, 4000000), dim = number(3, 16), n = number(5, 13312);
  for (const int64_t first_mib : {number(4, 64), int64_t{0}}) Run(argv[1], keys, dim, first_mib, n, int(number(6, 2)));
  return 0;
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec

int main(int argc, char** argv) { return deeprec::embedding::Main(argc, argv); }
