// What a training server does all at once. Run under the thread sanitizer for the rest of what it shows.

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "gtest/gtest.h"
#include "tensorflow/core/embedding/test_table.h"

namespace deeprec {
namespace embedding {
namespace {

constexpr int64_t kDim = 8;
constexpr int64_t kKeys = 2000;

// All elements of a row, and its slot, change together; a reader must never see a row half written.
TEST(Concurrency, RowsAreNeverSeenHalfWritten) {
  TableOptions options;
  options.record_frequency = true;
  options.record_version = true;
  Table table(options, FloatRows(Floats(kDim, 0), kDim));
  const int slot = table.AddColumn(FloatRows(Floats(kDim, 0), kDim));
  std::atomic<bool> stop(false);
  std::atomic<int64_t> torn(0), updates(0);

  const auto train = [&](int seed) {
    std::mt19937_64 random(seed);
    const Floats grad(256 * kDim, 1);
    for (int64_t step = 0; step < 200; ++step) {
      Keys keys(256);
      for (int64_t& key : keys) key = int64_t(random() % kKeys);
      TableUpdate update;
      update.keys = keys.data();
      update.grad = grad.data();
      update.n = 256;
      update.version = step;
      sparse::Hyper hyper;
      hyper.lr = 1;
      hyper.momentum = 0;
      table.Update(update,
                   ElementwiseOptimizer(RowsOf(table, {slot}), sparse::Rule::kMomentum, hyper, grad.data(),
                                        sparse::Isa::kScalar),
                   Threads());
      updates += 256;
    }
  };
  const auto check = [&](const Floats& rows) {
    for (size_t i = 0; i < rows.size(); i += kDim) {
      for (int64_t d = 1; d < kDim; ++d) torn += rows[i] != rows[i + d];
    }
  };
  const auto look_up = [&] {
    Keys keys(kKeys);
    for (int64_t i = 0; i < kKeys; ++i) keys[i] = i;
    while (!stop) check(Lookup(table, keys));
  };
  const auto save = [&] {
    while (!stop) {
      const Snapshot snapshot = table.TakeSnapshot(1000);
      check(ReadColumn(table, 0, snapshot.keys));
      check(ReadColumn(table, slot, snapshot.keys));
      Frequencies(table, snapshot.keys);
    }
  };
  const auto evict = [&] {
    while (!stop) {
      table.EvictOlderThan(50, 100);
      std::this_thread::yield();
    }
  };
  std::thread readers[] = {std::thread(look_up), std::thread(save), std::thread(evict)};
  std::thread trainers[] = {std::thread(train, 1), std::thread(train, 2)};
  for (std::thread& thread : trainers) thread.join();
  stop = true;
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(updates, 2 * 200 * 256);
  EXPECT_LE(table.size(), kKeys);
}

TEST(Concurrency, NoUpdateIsLost) {
  Table table(TableOptions(), FloatRows({0}, 1));
  std::vector<std::thread> trainers;
  for (int t = 0; t < 4; ++t) {
    trainers.emplace_back([&] {
      const Floats grad(100, -1);
      Keys keys(100);
      for (int64_t i = 0; i < 100; ++i) keys[i] = i % 50;
      for (int step = 0; step < 100; ++step) DescendStep(&table, keys, grad, 1);
    });
  }
  for (std::thread& trainer : trainers) trainer.join();
  Keys keys(50);
  for (int64_t i = 0; i < 50; ++i) keys[i] = i;
  for (const float x : Lookup(table, keys)) EXPECT_EQ(x, 4 * 100 * 2);
}

// The index of the one shard grows while snapshots are taken: keys that were there must be in each, once.
TEST(Concurrency, SnapshotsOfATableThatGrowsAreWhole) {
  TableOptions options;
  options.shards = 1;
  Table table(options, FloatRows({0}, 1));
  constexpr int64_t kFirst = 100000, kAll = 400000, kBatch = 1000;
  const auto insert = [&](int64_t begin, int64_t end) {
    for (; begin < end; begin += kBatch) {
      Keys keys(kBatch);
      for (int64_t i = 0; i < kBatch; ++i) keys[i] = begin + i;
      DescendStep(&table, keys, Floats(kBatch, 0), 1);
    }
  };
  insert(0, kFirst);
  std::atomic<bool> stop(false);
  std::thread trainer([&] {
    insert(kFirst, kAll);
    stop = true;
  });
  do {
    Keys keys = table.TakeSnapshot(10).keys;
    std::sort(keys.begin(), keys.end());
    ASSERT_GE(int64_t(keys.size()), kFirst);
    for (int64_t i = 0; i < kFirst; ++i) ASSERT_EQ(keys[i], i);
    ASSERT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
  } while (!stop);
  trainer.join();
}

TEST(Concurrency, SlotsMayBeAddedWhileTrainingGoesOn) {
  Table table(TableOptions(), FloatRows(Floats(kDim, 0), kDim));
  std::thread trainer([&] {
    Keys keys(100);
    for (int64_t i = 0; i < 100; ++i) keys[i] = i;
    for (int step = 0; step < 300; ++step) DescendStep(&table, keys, Floats(100 * kDim, -1), 1);
  });
  for (int i = 0; i < 3; ++i) table.AddColumn(FloatRows(Floats(kDim, 7), kDim));
  trainer.join();
  for (const float x : Lookup(table, {0, 99})) EXPECT_EQ(x, 300);
  for (const float x : ReadColumn(table, 3, {0, 99})) EXPECT_EQ(x, 7);
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
