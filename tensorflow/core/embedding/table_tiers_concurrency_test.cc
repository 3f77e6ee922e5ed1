// What a training server does all at once, on tables with hardly any room in the first tier. Run under the thread
// sanitizer for the rest of what it shows.

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "tensorflow/core/embedding/test_tiers.h"

namespace deeprec {
namespace embedding {
namespace {

constexpr int64_t kDim = 8;
constexpr int64_t kKeys = 2000;

TableOptions SmallTiers(const TestFolder& folder) {
  TableOptions options = Tiered(folder, 300, 2 * 4 * kDim);
  options.record_version = true;
  options.tiers.segment_bytes = 1 << 14;
  options.tiers.lower = {LowerTierOptions{StorageMedium::kMappedFile, 300 * 64}, LowerTierOptions{}};
  return options;
}

void MomentumStep(Table* table, const Keys& keys, int slot, int64_t step) {
  const Floats grad(keys.size() * kDim, 1);
  TableUpdate update;
  update.keys = keys.data();
  update.grad = grad.data();
  update.n = int64_t(keys.size());
  update.version = step;
  sparse::Hyper hyper;
  hyper.lr = 1;
  hyper.momentum = 0;
  table->Update(update, ElementwiseOptimizer(RowsOf(*table, {slot}), sparse::Rule::kMomentum, hyper, grad.data(),
                                             sparse::Isa::kScalar),
                Threads());
}

Keys RandomKeys(std::mt19937_64* random, int64_t n) {
  Keys keys(n);
  for (int64_t& key : keys) key = int64_t(std::min((*random)() % kKeys, (*random)() % kKeys));
  return keys;
}

TEST(TiersConcurrency, NoUpdateIsLostAndNoRowIsSeenHalfWritten) {
  TestFolder folder;
  Table table(SmallTiers(folder), FloatRows(Floats(kDim, 0), kDim));
  const int slot = table.AddColumn(FloatRows(Floats(kDim, 0), kDim));
  std::vector<std::atomic<int64_t>> trained(kKeys);
  std::atomic<bool> stop(false);
  std::atomic<int64_t> torn(0);
  const auto check = [&](const Floats& rows) {
    for (size_t i = 0; i < rows.size(); i += kDim) {
      for (int64_t d = 1; d < kDim; ++d) torn += rows[i] != rows[i + d];
    }
  };
  const auto train = [&](int seed) {
    std::mt19937_64 random(seed);
    for (int64_t step = 0; step < 150; ++step) {
      const Keys keys = RandomKeys(&random, 100);
      MomentumStep(&table, keys, slot, step);
      for (const int64_t key : keys) ++trained[key];
    }
  };
  const auto look_up = [&] {
    std::mt19937_64 random(7);
    while (!stop) check(Lookup(table, RandomKeys(&random, 100)));
  };
  const auto save = [&] {
    while (!stop) {
      const Snapshot snapshot = table.TakeSnapshot(1000);
      check(ReadColumn(table, 0, snapshot.keys));
      check(ReadColumn(table, slot, snapshot.keys));
      Frequencies(table, snapshot.keys);
      TiersOf(table, {1, 2, 3});
      // Evicts nothing, but reads, and changes, every header.
      EXPECT_EQ(table.EvictOlderThan(1000, 100), 0);
    }
  };
  std::thread others[] = {std::thread(look_up), std::thread(save)};
  std::thread trainers[] = {std::thread(train, 1), std::thread(train, 2), std::thread(train, 3)};
  for (std::thread& thread : trainers) thread.join();
  stop = true;
  for (std::thread& thread : others) thread.join();
  EXPECT_EQ(torn, 0);
  Keys keys(kKeys);
  std::vector<int64_t> counts(kKeys);
  Floats expected(kKeys * kDim);
  for (int64_t i = 0; i < kKeys; ++i) {
    keys[i] = i;
    counts[i] = trained[i];
    // Momentum 0: minus the sum of the gradients.
    std::fill_n(expected.begin() + i * kDim, kDim, -float(counts[i]));
  }
  EXPECT_EQ(Frequencies(table, keys), counts);
  EXPECT_EQ(ReadColumn(table, 0, keys), expected);
  std::vector<int32_t> tiers = TiersOf(table, keys);
  EXPECT_EQ(std::count(tiers.begin(), tiers.end(), 0), 300);
  EXPECT_EQ(std::count(tiers.begin(), tiers.end(), 1), 300);
}

TEST(TiersConcurrency, SlotsRestoresAndEvictionMayComeBetween) {
  TestFolder folder;
  Table table(SmallTiers(folder), FloatRows(Floats(kDim, 0), kDim));
  const int slot = table.AddColumn(FloatRows(Floats(kDim, 0), kDim));
  std::atomic<bool> stop(false);
  const auto train = [&](int seed) {
    std::mt19937_64 random(seed);
    for (int64_t step = 0; !stop; ++step) MomentumStep(&table, RandomKeys(&random, 50), slot, step);
  };
  const auto look_up = [&] {
    std::mt19937_64 random(7);
    while (!stop) Lookup(table, RandomKeys(&random, 50));
  };
  std::thread threads[] = {std::thread(train, 1), std::thread(train, 2), std::thread(look_up)};
  std::mt19937_64 random(3);
  for (int round = 0; round < 5; ++round) {
    if (round % 3 == 1) table.AddColumn(FloatRows(Floats(2, 7), 2));
    if (round % 3 == 2) table.Clear();
    Keys keys(kKeys);
    for (int64_t i = 0; i < kKeys; ++i) keys[i] = i;
    const Floats rows(kKeys * kDim, 1);
    const std::vector<int64_t> numbers(kKeys, 5);
    table.Insert(0, keys.data(), kKeys, rows.data(), kDim, numbers.data(), numbers.data());
    table.Insert(slot, keys.data(), kKeys, rows.data(), kDim, nullptr, nullptr);
    table.EvictSmallerThan(0.1);
    table.EvictOlderThan(int64_t(random() % 50), 60);
    ReadColumn(table, slot, table.TakeSnapshot(10).keys);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const Keys keys = table.TakeSnapshot(10).keys;
  EXPECT_EQ(int64_t(keys.size()), table.size());
  for (int c = 2; c < table.columns(); ++c) {
    for (const float x : ReadColumn(table, c, keys)) ASSERT_EQ(x, 7);
  }
}

// Tables that go while their background threads have work.
TEST(TiersConcurrency, ATableThatGoesWaitsForItsThread) {
  TestFolder folder;
  for (int round = 0; round < 20; ++round) {
    Table table(SmallTiers(folder), FloatRows(Floats(kDim, 0), kDim));
    for (int64_t step = 0; step < 5; ++step) {
      Keys keys(200);
      for (int64_t i = 0; i < 200; ++i) keys[i] = 200 * step + i;
      Lookup(table, keys);
      DescendStep(&table, keys, Floats(200 * kDim, 1), 1);
    }
  }
  EXPECT_TRUE(folder.files().empty());
}

TEST(TiersConcurrency, TheBackgroundThreadClearsTheExcessAway) {
  TestFolder folder;
  Table table(Tiered(folder, 100, 16), FloatRows({0}, 1));
  Keys keys(100);
  for (int64_t begin : {0, 100}) {
    for (int64_t i = 0; i < 100; ++i) keys[i] = begin + i;
    DescendStep(&table, keys, Floats(100, 1), 1);
  }
  // The file comes by itself.
  while (folder.bytes() == 0) std::this_thread::yield();
  EXPECT_EQ(table.size(), 200);
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
