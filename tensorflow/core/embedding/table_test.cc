#include "tensorflow/core/embedding/table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "gmock/gmock-matchers.h"
#include "gmock/gmock-more-matchers.h"
#include "gtest/gtest.h"
#include "tensorflow/core/embedding/test_table.h"
#include "tensorflow/core/sparse/test_util.h"

namespace deeprec {
namespace embedding {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
const Keys kExtremeKeys = {kLeast, kLeast + 1, -222, -111, -2, -1, 0, 1, kGreatest - 1, kGreatest};

TableOptions Recording() {
  TableOptions options;
  options.record_frequency = true;
  options.record_version = true;
  return options;
}

TableOptions Counter(int64_t min_count) {
  TableOptions options = Recording();
  options.admission = AdmissionKind::kCounter;
  options.min_count = min_count;
  return options;
}

TEST(Table, LookupOfUnknownKeyGivesTheDefaultRowOfItsRemainder) {
  Table table(TableOptions(), FloatRows({0, 1, 10, 11, 20, 21}, 2));
  EXPECT_THAT(Lookup(table, {0, 4, -1, -3}), ElementsAre(0, 1, 10, 11, 20, 21, 0, 1));
}

TEST(Table, LookupDoesNotInsert) {
  Table table(TableOptions(), FloatRows({1}, 1));
  for (int i = 0; i < 3; ++i) Lookup(table, {1, 2, 3});
  EXPECT_EQ(table.size(), 0);
}

TEST(Table, LookupTakesFallbackRowsForUnknownKeys) {
  Table table(TableOptions(), FloatRows({1}, 1));
  DescendStep(&table, {7}, {2}, 1);
  const Keys keys = {7, 8};
  const Floats fallback = {50, 60};
  Floats out(2);
  table.Lookup(keys.data(), 2, fallback.data(), out.data(), Threads());
  EXPECT_THAT(out, ElementsAre(-1, 60));
}

TEST(Table, LookupOrInsertKeepsTheInitialRow) {
  Table table(TableOptions(), FloatRows({1}, 1));
  const Keys keys = {5, 5, 6};
  const Floats initial = {10, 11, 12};
  Floats out(3);
  table.LookupOrInsert(keys.data(), 3, initial.data(), kNoVersion, out.data(), Threads());
  EXPECT_THAT(out, ElementsAre(10, 10, 12));
  EXPECT_THAT(Lookup(table, {5, 6, 7}), ElementsAre(10, 12, 1));
}

TEST(Table, EveryKeyIsLegal) {
  Table table(TableOptions(), FloatRows({1}, 1));
  Floats grad;
  for (size_t i = 0; i < kExtremeKeys.size(); ++i) grad.push_back(float(i));
  DescendStep(&table, kExtremeKeys, grad, 1);
  EXPECT_EQ(table.size(), int64_t(kExtremeKeys.size()));
  const Floats rows = Lookup(table, kExtremeKeys);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], 1 - float(i));
}

TEST(Table, UpdateSumsTheGradientsOfAKeyFirst) {
  Table table(TableOptions(), FloatRows({1, 1}, 2));
  DescendStep(&table, {3, 4, 3}, {1, 2, 10, 20, 100, 200}, 1);
  EXPECT_THAT(Lookup(table, {3, 4}), ElementsAre(-100, -201, -9, -19));
}

// Random batches against a map of rows, with one thread and with several.
TEST(Table, RandomUpdatesAgreeWithAMapOfRows) {
  for (const int threads : {1, 3}) {
    for (const int64_t dim : {1, 3, 16, 100}) {
      std::mt19937_64 random(dim * 10 + threads);
      Floats pool(7 * dim);
      for (float& x : pool) x = float(random() % 100);
      Table table(TableOptions(), FloatRows(pool, dim));
      std::map<int64_t, Floats> expected;
      for (int step = 0; step < 4; ++step) {
        const int64_t n = threads == 1 ? 500 : 30000;
        Keys keys(n);
        Floats grad(n * dim);
        for (int64_t& key : keys) key = int64_t(random() % 3000) * (random() % 2 ? 1 : -1000003);
        for (float& g : grad) g = float(random() % 8);
        DescendStep(&table, keys, grad, 1, kNoVersion, nullptr, sparse::TestThreads(threads));
        for (int64_t i = 0; i < n; ++i) {
          const auto row = pool.begin() + FloorMod(keys[i], 7) * dim;
          Floats& mine = expected.emplace(keys[i], Floats(row, row + dim)).first->second;
          for (int64_t d = 0; d < dim; ++d) mine[d] -= grad[i * dim + d];
        }
      }
      ASSERT_EQ(table.size(), int64_t(expected.size()));
      Keys keys;
      Floats rows;
      for (const auto& [key, row] : expected) {
        keys.push_back(key);
        rows.insert(rows.end(), row.begin(), row.end());
      }
      EXPECT_THAT(Lookup(table, keys, sparse::TestThreads(threads)), ElementsAreArray(rows));
    }
  }
}

TEST(Table, SlotsStartFromTheirDefaults) {
  Table table(TableOptions(), FloatRows({1, 2}, 2));
  EXPECT_EQ(table.AddColumn(FloatRows({5, 6}, 2)), 1);
  EXPECT_EQ(table.AddColumn(FloatRows({9}, 1)), 2);
  DescendStep(&table, {4}, {0, 0}, 1);
  EXPECT_THAT(ReadColumn(table, 1, {4}), ElementsAre(5, 6));
  EXPECT_THAT(ReadColumn(table, 2, {4}), ElementsAre(9));
}

TEST(Table, SlotsAddedLaterReachTheRowsThatExist) {
  Table table(Counter(2), FloatRows(Floats(20, 1), 20));
  DescendStep(&table, {4, 4, -9, -9, 8}, Floats(100, 1), 1);
  const Floats before = Lookup(table, {4, -9});
  table.AddColumn(FloatRows(Floats(40, 3), 20));
  EXPECT_THAT(Lookup(table, {4, -9}), ElementsAreArray(before));
  EXPECT_THAT(ReadColumn(table, 1, {4, -9}), Each(3));
  EXPECT_THAT(Frequencies(table, {4, -9, 8}), ElementsAre(2, 2, 1));
}

TEST(Table, BlocksOfFloatRowsWithTwoSlotsTakeTheirRowsAlone) {
  Table table(TableOptions(), FloatRows(Floats(16, 0), 16));
  table.AddColumn(FloatRows(Floats(16, 0), 16));
  table.AddColumn(FloatRows(Floats(16, 0), 16));
  EXPECT_EQ(table.RowBytes(), 192);
  constexpr int64_t kRows = 1 << 20;
  constexpr int64_t kBatch = 1 << 14;
  const Floats grad(kBatch * 16, 0);
  for (int64_t begin = 0; begin < kRows; begin += kBatch) {
    Keys keys(kBatch);
    for (int64_t i = 0; i < kBatch; ++i) keys[i] = begin + i;
    DescendStep(&table, keys, grad, 0);
  }
  EXPECT_EQ(table.size(), kRows);
  EXPECT_LE(double(table.MemoryBytes()) / kRows, 1.25 * 192);
}

TEST(CounterFilter, KeyIsAdmittedByTheOccurrenceThatReachesTheThreshold) {
  TableOptions options = Counter(3);
  options.no_permission = 0.5;
  Table table(options, FloatRows({1}, 1));
  for (int step = 0; step < 2; ++step) {
    DescendStep(&table, {9}, {1}, 0.25);
    EXPECT_THAT(Lookup(table, {9, 10}), ElementsAre(0.5, 0.5));
  }
  // The gradient of that occurrence is applied.
  DescendStep(&table, {9}, {1}, 0.25);
  EXPECT_THAT(Lookup(table, {9, 10}), ElementsAre(0.75, 0.5));
}

TEST(CounterFilter, OccurrencesInOneBatchAreSummed) {
  Table table(Counter(3), FloatRows({1}, 1));
  DescendStep(&table, {1, 1, 1, 2, 2, 3}, {1, 1, 1, 1, 1, 1}, 1);
  EXPECT_THAT(Lookup(table, {1, 2, 3}), ElementsAre(-2, 0, 0));
  const Snapshot snapshot = table.TakeSnapshot(1000);
  EXPECT_THAT(snapshot.keys, ElementsAre(1));
  EXPECT_EQ(snapshot.waiting.size(), 2u);
}

TEST(CounterFilter, PositionsCountAsTheyAreTold) {
  Table table(Counter(5), FloatRows({1}, 1));
  const int64_t counts[] = {3, 1, 2};
  DescendStep(&table, {1, 2, 1}, {1, 1, 1}, 1, kNoVersion, counts);
  EXPECT_THAT(Frequencies(table, {1, 2}), ElementsAre(5, 1));
  EXPECT_THAT(Lookup(table, {1, 2}), ElementsAre(-1, 0));
}

TEST(CounterFilter, ThresholdsBeyondTwelveBitsWork) {
  Table table(Counter(5000), FloatRows({1}, 1));
  const int64_t counts[] = {4999};
  DescendStep(&table, {1}, {1}, 1, kNoVersion, counts);
  EXPECT_THAT(Lookup(table, {1}), ElementsAre(0));
  DescendStep(&table, {1}, {1}, 1);
  EXPECT_THAT(Lookup(table, {1}), ElementsAre(0));
  EXPECT_THAT(Frequencies(table, {1}), ElementsAre(5000));
}

TEST(BloomFilter, AdmitsAtTheThresholdAndCountsInOneBatch) {
  TableOptions options = Recording();
  options.admission = AdmissionKind::kBloom;
  options.bloom = BloomOptions{3, 1000, 0.01, 8};
  Table table(options, FloatRows({1}, 1));
  DescendStep(&table, {1, 1, 2}, {1, 1, 1}, 1);
  EXPECT_THAT(Lookup(table, {1, 2}), ElementsAre(0, 0));
  EXPECT_EQ(table.size(), 0);
  DescendStep(&table, {1, 2}, {1, 1}, 1);
  EXPECT_THAT(Lookup(table, {1, 2}), ElementsAre(0, 0));
  EXPECT_EQ(table.size(), 1);
}

// The steps [1,2,3], [1,3,5], [1,5,7] with F = 3 and steps 0, 1, 2.
TEST(Frequency, AndVersionOfAdmittedAndWaitingKeys) {
  Table table(Counter(3), FloatRows({1, 1, 1}, 3));
  const std::vector<Keys> steps = {{1, 2, 3}, {1, 3, 5}, {1, 5, 7}};
  for (int step = 0; step < 3; ++step) DescendStep(&table, steps[step], Floats(9, 1), 1, step);
  EXPECT_EQ(table.size(), 5);
  EXPECT_THAT(Frequencies(table, {1, 2, 3, 4, 5, 6, 7}), ElementsAre(3, 1, 2, 0, 2, 0, 1));
  EXPECT_THAT(Versions(table, {1, 2, 3, 4, 5, 6, 7}), ElementsAre(2, 0, 1, -1, 2, -1, 2));
}

TEST(Version, StaysWithoutAStep) {
  Table table(Recording(), FloatRows({1}, 1));
  DescendStep(&table, {1}, {1}, 1, 7);
  DescendStep(&table, {1}, {1}, 1);
  EXPECT_THAT(Versions(table, {1}), ElementsAre(7));
}

TEST(Eviction, ByAgeRemovesKeysNotTrainedForLong) {
  Table table(Counter(2), FloatRows({1}, 1));
  DescendStep(&table, {1, 1, 2, 2, 3}, {0, 0, 0, 0, 0}, 1, 0);
  DescendStep(&table, {2}, {0}, 1, 3);
  EXPECT_EQ(table.EvictOlderThan(2, 3), 2);
  EXPECT_THAT(table.TakeSnapshot(10).keys, ElementsAre(2));
  EXPECT_THAT(table.TakeSnapshot(10).waiting, IsEmpty());
}

TEST(Eviction, ByAgeStampsKeysThatNeverWere) {
  Table table(Recording(), FloatRows({1}, 1));
  DescendStep(&table, {1}, {0}, 1);
  EXPECT_EQ(table.EvictOlderThan(2, 100), 0);
  EXPECT_THAT(Versions(table, {1}), ElementsAre(100));
  EXPECT_EQ(table.EvictOlderThan(2, 102), 0);
  EXPECT_EQ(table.EvictOlderThan(2, 103), 1);
}

TEST(Eviction, ByNormComparesHalfTheSquaredNorm) {
  Table table(TableOptions(), FloatRows({0, 0}, 2));
  DescendStep(&table, {1, 2}, {-1, -1, -1, -0.5}, 1);
  EXPECT_EQ(table.EvictSmallerThan(0.9), 1);
  EXPECT_THAT(table.TakeSnapshot(1).keys, ElementsAre(1));
}

TEST(Eviction, RemoveTakesTheGivenKeysAndNoOthers) {
  Table table(Counter(2), FloatRows({1}, 1));
  // Key 7 waits for admission.
  DescendStep(&table, {5, 5, 6, 6, 8, 8, 7}, {1, 0, 2, 0, 3, 0, 4}, 1);
  const Keys gone = {6, 9, 7, 6};
  EXPECT_EQ(table.Remove(gone.data(), 4), 2);
  EXPECT_EQ(table.size(), 2);
  EXPECT_THAT(Frequencies(table, {5, 6, 7, 8}), ElementsAre(2, 0, 0, 2));
  EXPECT_THAT(ReadColumn(table, 0, {5, 8}), ElementsAre(0, -2));
}

TEST(Eviction, RandomRemovalsAgreeWithAMap) {
  std::mt19937_64 random(7);
  Table table(TableOptions(), FloatRows({0}, 1));
  std::map<int64_t, float> expected;
  for (int round = 0; round < 20; ++round) {
    Keys keys, gone;
    Floats grad;
    for (int i = 0; i < 500; ++i) {
      keys.push_back(int64_t(random() % 2000));
      gone.push_back(int64_t(random() % 2000));
      grad.push_back(float(random() % 16));
      expected[keys[i]] -= grad[i];
    }
    DescendStep(&table, keys, grad, 1);
    int64_t removed = 0;
    for (const int64_t key : gone) removed += int64_t(expected.erase(key));
    ASSERT_EQ(table.Remove(gone.data(), int64_t(gone.size())), removed);
    ASSERT_EQ(table.size(), int64_t(expected.size()));
    for (const auto& [key, value] : expected) ASSERT_EQ(Lookup(table, {key})[0], value);
  }
}

TEST(Eviction, RemovedKeysComeBackAsDefaultsWithTheirSlots) {
  Table table(TableOptions(), FloatRows({1}, 1));
  table.AddColumn(FloatRows({4}, 1));
  const float nine = 9;
  const int64_t key = 5;
  table.Insert(0, &key, 1, &nine, 1, nullptr, nullptr);
  table.Insert(1, &key, 1, &nine, 1, nullptr, nullptr);
  EXPECT_EQ(table.EvictSmallerThan(1e9), 1);
  DescendStep(&table, {5}, {0}, 1);
  EXPECT_THAT(Lookup(table, {5}), ElementsAre(1));
  EXPECT_THAT(ReadColumn(table, 1, {5}), ElementsAre(4));
}

TEST(Snapshot, HoldsKeysByBucketNegativeOnesToo) {
  Table table(TableOptions(), FloatRows({1}, 1));
  DescendStep(&table, {0, 1, 1000, 1001, 2, 1002, -1, -1000}, Floats(8, 0), 1);
  const Snapshot snapshot = table.TakeSnapshot(1000);
  EXPECT_THAT(snapshot.keys, ElementsAre(-1000, 0, 1000, 1, 1001, 2, 1002, -1));
  ASSERT_EQ(snapshot.begin.size(), 1001u);
  EXPECT_THAT(Keys(snapshot.begin.begin(), snapshot.begin.begin() + 5), ElementsAre(0, 3, 5, 7, 7));
  EXPECT_EQ(snapshot.begin[999], 7);
  EXPECT_EQ(snapshot.begin[1000], 8);
}

// More slots than a snapshot takes under one lock.
TEST(Snapshot, HoldsEveryKeyOfALargeTable) {
  TableOptions options;
  options.shards = 1;
  Table table(options, FloatRows({1}, 1));
  constexpr int64_t kKeys = 200000;
  Keys keys(kKeys);
  for (int64_t i = 0; i < kKeys; ++i) keys[i] = i;
  DescendStep(&table, keys, Floats(kKeys, 0), 1);
  Keys found = table.TakeSnapshot(7).keys;
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, keys);
}

TEST(Insert, MakesRowsWithDefaultsInOtherColumns) {
  Table table(Recording(), FloatRows({1, 1}, 2));
  table.AddColumn(FloatRows({3}, 1));
  const Keys keys = {7, -7};
  const Floats rows = {10, 11, 20, 21};
  const int64_t frequencies[] = {4, 5}, versions[] = {6, 7};
  table.Insert(0, keys.data(), 2, rows.data(), 2, frequencies, versions);
  EXPECT_THAT(Lookup(table, keys), ElementsAreArray(rows));
  EXPECT_THAT(ReadColumn(table, 1, keys), ElementsAre(3, 3));
  EXPECT_THAT(Frequencies(table, keys), ElementsAre(4, 5));
  EXPECT_THAT(Versions(table, keys), ElementsAre(6, 7));
}

TEST(Insert, OfAnotherDimCopiesTheShorter) {
  Table table(TableOptions(), FloatRows({1, 2}, 2));
  const int64_t key = 3;
  const Floats narrow = {9}, wide = {7, 8, 9};
  table.Insert(0, &key, 1, narrow.data(), 1, nullptr, nullptr);
  EXPECT_THAT(Lookup(table, {3}), ElementsAre(9, 2));
  table.Insert(0, &key, 1, wide.data(), 3, nullptr, nullptr);
  EXPECT_THAT(Lookup(table, {3}), ElementsAre(7, 8));
}

TEST(Insert, KeepsKeysAdmittedUnderAHigherThreshold) {
  Table table(Counter(10), FloatRows({1}, 1));
  const int64_t key = 3, frequency = 4;
  const float row = 9;
  table.Insert(0, &key, 1, &row, 1, &frequency, nullptr);
  EXPECT_THAT(Frequencies(table, {3}), ElementsAre(10));
  EXPECT_THAT(Lookup(table, {3}), ElementsAre(9));
}

TEST(InsertWaiting, JudgesByTheThresholdOfThisTable) {
  Table table(Counter(3), FloatRows({1}, 1));
  const Keys keys = {1, 2};
  const int64_t frequencies[] = {2, 3}, versions[] = {8, 9};
  table.InsertWaiting(keys.data(), 2, frequencies, versions);
  EXPECT_THAT(Lookup(table, keys), ElementsAre(0, 1));
  EXPECT_THAT(Frequencies(table, keys), ElementsAre(2, 3));
  EXPECT_THAT(Versions(table, keys), ElementsAre(8, 9));
}

TEST(Clear, EmptiesTheTable) {
  Table table(TableOptions(), FloatRows({1}, 1));
  DescendStep(&table, {1, 2, 3}, {1, 1, 1}, 1);
  table.Clear();
  EXPECT_EQ(table.size(), 0);
  EXPECT_THAT(Lookup(table, {1}), ElementsAre(1));
}

TEST(Lookup, OfNothingIsNothing) {
  Table table(TableOptions(), FloatRows({1}, 1));
  EXPECT_THAT(Lookup(table, {}), IsEmpty());
  DescendStep(&table, {}, {}, 1);
  EXPECT_EQ(table.size(), 0);
}

TEST(Tiers, TellKeysWithRowsFromOthers) {
  Table table(Counter(2), FloatRows({1}, 1));
  DescendStep(&table, {1, 1, 2}, {0, 0, 0}, 1);
  const Keys keys = {1, 2, 3};
  int32_t tiers[3];
  table.Tiers(keys.data(), 3, tiers);
  EXPECT_THAT(tiers, ElementsAre(0, -1, -1));
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
