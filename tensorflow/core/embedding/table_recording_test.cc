// Which keys are recorded as changed.

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "gmock/gmock-matchers.h"
#include "gmock/gmock-more-matchers.h"
#include "gtest/gtest.h"
#include "tensorflow/core/embedding/test_table.h"
#include "tensorflow/core/embedding/test_tiers.h"

namespace deeprec {
namespace embedding {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

void Train(Table* table, const Keys& keys, int64_t version = kNoVersion) {
  DescendStep(table, keys, Floats(keys.size() * table->dim(0), 1), 0.5, version);
}

TEST(Recording, IsOffUntilItIsStarted) {
  Table table(TableOptions(), FloatRows({0}, 1));
  Train(&table, {1, 2});
  EXPECT_FALSE(table.recording());
  EXPECT_THAT(table.TakeRecorded(10).keys, IsEmpty());
  const int64_t bytes = table.MemoryBytes();
  Train(&table, {1, 2});
  EXPECT_EQ(table.MemoryBytes(), bytes);
}

TEST(Recording, HasTheKeysOfStepsOnceEachInOrderOfTheirBuckets) {
  Table table(TableOptions(), FloatRows({0}, 1));
  Train(&table, {1, 2});
  table.StartRecording();
  EXPECT_TRUE(table.recording());
  Train(&table, {13, 2, 2, -9});
  Train(&table, {4, 13});
  const Snapshot recorded = table.TakeRecorded(10);
  EXPECT_THAT(recorded.keys, ElementsAre(-9, 2, 13, 4));
  EXPECT_THAT(recorded.begin, ElementsAre(0, 0, 1, 2, 3, 4, 4, 4, 4, 4, 4));
  EXPECT_THAT(recorded.waiting, IsEmpty());
  EXPECT_THAT(recorded.waiting_begin, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(Recording, LookupsAreNoChanges) {
  Table table(TableOptions(), FloatRows({0}, 1));
  Train(&table, {1, 2});
  table.StartRecording();
  Lookup(table, {1, 2, 3});
  EXPECT_THAT(table.TakeRecorded(1).keys, IsEmpty());
}

TEST(Recording, ForgettingKeepsWhatCameSinceTheLastStart) {
  Table table(TableOptions(), FloatRows({0}, 1));
  table.StartRecording();
  Train(&table, {1, 2, 3});
  table.StartRecording();
  Train(&table, {3, 4});
  // A save that fails forgets nothing.
  EXPECT_THAT(table.TakeRecorded(1).keys, UnorderedElementsAre(1, 2, 3, 4));
  table.StartRecording();
  Train(&table, {5});
  EXPECT_THAT(table.TakeRecorded(1).keys, UnorderedElementsAre(1, 2, 3, 4, 5));
  table.ForgetEarlierRecords();
  EXPECT_THAT(table.TakeRecorded(1).keys, ElementsAre(5));
}

TEST(Recording, LeavesOutKeysThatWaitForAdmission) {
  TableOptions options;
  options.record_frequency = true;
  options.admission = AdmissionKind::kCounter;
  options.min_count = 2;
  Table table(options, FloatRows({0}, 1));
  table.StartRecording();
  Train(&table, {1, 1, 2});
  EXPECT_THAT(table.TakeRecorded(1).keys, ElementsAre(1));
  Train(&table, {2});
  EXPECT_THAT(table.TakeRecorded(1).keys, ElementsAre(1, 2));
}

TEST(Recording, LeavesOutKeysThatWereEvictedOrRemoved) {
  TableOptions options;
  options.record_version = true;
  Table table(options, FloatRows({0}, 1));
  table.StartRecording();
  Train(&table, {1, 2}, 10);
  Train(&table, {3, 4}, 20);
  table.EvictOlderThan(5, 20);
  const Keys gone = {4};
  table.Remove(gone.data(), 1);
  EXPECT_THAT(table.TakeRecorded(1).keys, ElementsAre(3));
}

TEST(Recording, HasRowsThatAreInsertedByLookups) {
  Table table(TableOptions(), FloatRows({0}, 1));
  Train(&table, {1});
  table.StartRecording();
  const Keys keys = {1, 2};
  const Floats initial = {5, 6};
  Floats out(2);
  table.LookupOrInsert(keys.data(), 2, initial.data(), kNoVersion, out.data(), Threads());
  EXPECT_THAT(table.TakeRecorded(1).keys, ElementsAre(2));
  const Keys counted = {1, 3};
  bool admitted[2];
  table.LookupAndCount(counted.data(), 2, nullptr, kNoVersion, out.data(), admitted, Threads());
  EXPECT_THAT(table.TakeRecorded(1).keys, ElementsAre(1, 2, 3));
}

TEST(Recording, HasRowsThatAreSet) {
  Table table(TableOptions(), FloatRows({0}, 1));
  table.StartRecording();
  const Keys keys = {7};
  const Floats rows = {1};
  table.Insert(0, keys.data(), 1, rows.data(), 1, nullptr, nullptr);
  EXPECT_THAT(table.TakeRecorded(1).keys, ElementsAre(7));
}

TEST(Recording, HasRowsBelowTheFirstTier) {
  const TestFolder folder;
  Table table(Tiered(folder, 4, 16), FloatRows({0}, 1));
  ASSERT_EQ(table.FirstTierRows(), 4);
  table.StartRecording();
  for (int64_t key = 0; key < 12; ++key) Train(&table, {key});
  EXPECT_THAT(TiersOf(table, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), ::testing::Contains(1).Times(8));
  const Keys keys = table.TakeRecorded(1).keys;
  EXPECT_EQ(keys.size(), 12);
  EXPECT_THAT(ReadColumn(table, 0, keys), ::testing::Each(-0.5f));
}

TEST(Recording, EndsWhenTheTableIsCleared) {
  Table table(TableOptions(), FloatRows({0}, 1));
  table.StartRecording();
  Train(&table, {1});
  table.Clear();
  EXPECT_FALSE(table.recording());
  Train(&table, {2});
  EXPECT_THAT(table.TakeRecorded(1).keys, IsEmpty());
}

// The records of a table, from any sequence of steps, starts and forgets, against sets of keys.
TEST(Recording, AgreesWithSetsOfKeys) {
  std::mt19937_64 random(7);
  Table table(TableOptions(), FloatRows({0}, 1));
  std::set<int64_t> earlier, now;
  table.StartRecording();
  for (int round = 0; round < 300; ++round) {
    const uint64_t what = random() % 10;
    if (what == 0) {
      table.StartRecording();
      earlier.merge(now);
      now.clear();
    } else if (what == 1) {
      table.ForgetEarlierRecords();
      earlier.clear();
    } else {
      Keys keys(1 + random() % 200);
      for (int64_t& key : keys) key = int64_t(random() % 5000) - 2500;
      Train(&table, keys);
      now.insert(keys.begin(), keys.end());
    }
    std::set<int64_t> all = earlier;
    all.insert(now.begin(), now.end());
    const Keys recorded = table.TakeRecorded(1).keys;
    ASSERT_EQ(Keys(all.begin(), all.end()), recorded);
  }
}

// What every row was when it was last saved in full, and then again with the rows recorded since, must be what it is: with
// trainers, and with full saves of which some fail. Run under the thread sanitizer for the rest of what it shows.
TEST(Recording, NoChangeIsLostBesideTrainers) {
  constexpr int64_t kKeys = 3000;
  Table table(TableOptions(), FloatRows({0}, 1));
  std::atomic<bool> stop(false);
  const auto train = [&](int seed) {
    std::mt19937_64 random(seed);
    while (!stop) {
      Keys keys(64);
      for (int64_t& key : keys) key = int64_t(random() % kKeys);
      Train(&table, keys);
    }
  };
  std::thread trainers[] = {std::thread(train, 1), std::thread(train, 2)};
  std::map<int64_t, float> saved;
  const auto save = [&](const Keys& keys, std::map<int64_t, float>* to) {
    const Floats rows = ReadColumn(table, 0, keys);
    for (size_t i = 0; i < keys.size(); ++i) (*to)[keys[i]] = rows[i];
  };
  for (int round = 0; round < 30; ++round) {
    table.StartRecording();
    std::map<int64_t, float> full;
    save(table.TakeSnapshot(10).keys, &full);
    if (round % 3 == 2) continue;  // it could not be written
    saved = full;
    table.ForgetEarlierRecords();
    save(table.TakeRecorded(10).keys, &saved);
  }
  stop = true;
  for (std::thread& trainer : trainers) trainer.join();
  save(table.TakeRecorded(10).keys, &saved);
  std::map<int64_t, float> expected;
  save(table.TakeSnapshot(10).keys, &expected);
  EXPECT_EQ(saved, expected);
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
