// Tables of several tiers: where rows are, and what happens when files fail.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <random>

#include "tensorflow/core/embedding/test_tiers.h"

namespace deeprec {
namespace embedding {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void Train(Table* table, const Keys& keys) {
  DescendStep(table, keys, Floats(keys.size() * table->dim(0), 1), 0.5);
}

TEST(Tiers, ARowTakesItsPaddedColumns) {
  TestFolder folder;
  TableOptions options = Tiered(folder, 1, 1024);
  Table narrow(options, FloatRows(Floats(30, 0), 30));
  EXPECT_EQ(narrow.FirstTierRows(), 8);
  narrow.AddColumn(FloatRows(Floats(30, 0), 30));
  EXPECT_EQ(narrow.FirstTierRows(), 4);
  narrow.AddColumn(FloatRows({0}, 1));
  EXPECT_EQ(narrow.FirstTierRows(), 3);  // 272 bytes
  Table wide(options, FloatRows(Floats(128, 0), 128));
  wide.AddColumn(FloatRows(Floats(128, 0), 128));
  EXPECT_EQ(wide.FirstTierRows(), 1);
  options.type = ElementType::kDouble;
  const std::vector<double> zeros(30);
  Table doubles(options, std::make_shared<DefaultRows>(ElementType::kDouble, zeros.data(), 1, 30));
  EXPECT_EQ(doubles.FirstTierRows(), 4);
  EXPECT_EQ(Table(TableOptions(), FloatRows({0}, 1)).FirstTierRows(), -1);
}

TEST(Tiers, TheLeastUsedAndOfTheseTheOldestGoDown) {
  TestFolder folder;
  Table table(Tiered(folder, 4, 256), FloatRows(Floats(30, 1), 30));
  table.AddColumn(FloatRows(Floats(30, 0.1f), 30));
  for (const Keys& keys : {Keys{1, 2, 3}, Keys{1, 2, 4}, Keys{1, 2, 2}, Keys{1, 2, 5}}) {
    Lookup(table, keys);
    Train(&table, keys);
  }
  EXPECT_THAT(TiersOf(table, {1, 2, 3, 4, 5, 6}), ElementsAre(0, 0, 1, 0, 0, -1));
  EXPECT_EQ(table.size(), 5);
  EXPECT_THAT(Frequencies(table, {1, 2, 3, 4, 5, 6}), ElementsAre(4, 5, 1, 1, 1, 0));
}

TEST(Tiers, WithinABatchTheFirstIsTheOldest) {
  TestFolder folder;
  Table table(Tiered(folder, 4, 16), FloatRows({0}, 1));
  Train(&table, {8, 3, 5, 1});
  Train(&table, {7, 9});
  EXPECT_THAT(TiersOf(table, {8, 3, 5, 1, 7, 9}), ElementsAre(1, 1, 0, 0, 0, 0));
}

TEST(Tiers, TheLongestUnusedGoDownUnderLru) {
  TestFolder folder;
  Table table(Tiered(folder, 3, 16, CacheStrategy::kLru), FloatRows({0}, 1));
  for (int i = 0; i < 5; ++i) Train(&table, {1});
  Train(&table, {2});
  Train(&table, {3});
  Lookup(table, {2});
  Train(&table, {4});
  EXPECT_THAT(TiersOf(table, {1, 2, 3, 4}), ElementsAre(1, 0, 0, 0));
  Train(&table, {5});
  EXPECT_THAT(TiersOf(table, {1, 2, 3, 4, 5}), ElementsAre(1, 0, 1, 0, 0));
}

TEST(Tiers, LookupsBringRowsUp) {
  TestFolder folder;
  Table table(Tiered(folder, 2, 16), FloatRows({0}, 1));
  Train(&table, {1, 2});
  Train(&table, {1, 2});
  Train(&table, {3});
  EXPECT_THAT(TiersOf(table, {1, 2, 3}), ElementsAre(0, 0, 1));
  // Used the more often from its fourth time on.
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Lookup(table, {3, 77}), ElementsAre(-0.5f, 0));
  EXPECT_THAT(TiersOf(table, {1, 2, 3, 77}), ElementsAre(1, 0, 0, -1));
  EXPECT_THAT(Frequencies(table, {1, 2, 3}), ElementsAre(2, 2, 1));
}

TEST(Tiers, ABatchThatTheFirstTierHasNoRoomForIsRefused) {
  TestFolder folder;
  Table table(Tiered(folder, 3, 16), FloatRows({0}, 1));
  Train(&table, {1, 1, 2, 3, 3, 3});
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { Train(&table, {1, 2, 3, 4, 4}); }, [&] { Lookup(table, {1, 2, 3, 4, 4}); },
           [&] {
             const Floats initial(4, 1);
             Floats out(4);
             const Keys keys = {5, 6, 7, 8};
             table.LookupOrInsert(keys.data(), 4, initial.data(), kNoVersion, out.data(), Threads());
           }}) {
    try {
      use();
      FAIL();
    } catch (const BatchTooLargeError& error) {
      EXPECT_THAT(error.what(), HasSubstr("4 different ids"));
      EXPECT_THAT(error.what(), HasSubstr("holds 3 rows"));
      EXPECT_THAT(error.what(), HasSubstr("is 48 bytes"));
    }
  }
  EXPECT_EQ(table.size(), 3);
  EXPECT_THAT(Lookup(table, {1, 2, 3}), ElementsAre(-1, -0.5, -1.5));
}

TEST(Tiers, FilesGoWithTheTable) {
  TestFolder folder;
  {
    Table table(Tiered(folder, 2, 16), FloatRows({0}, 1));
    EXPECT_TRUE(folder.files().empty());
    for (int64_t key = 0; key < 100; key += 2) Train(&table, {key, key + 1});
    TiersOf(table, {1});
    EXPECT_EQ(folder.files().size(), 1u);
    table.Clear();
    EXPECT_TRUE(folder.files().empty());
    EXPECT_EQ(table.size(), 0);
    EXPECT_THAT(TiersOf(table, {1, 2}), ElementsAre(-1, -1));
    for (int64_t key = 0; key < 100; key += 2) Train(&table, {key, key + 1});
    EXPECT_THAT(Lookup(table, {50}), ElementsAre(-0.5));
  }
  EXPECT_TRUE(folder.files().empty());
}

TEST(Tiers, ThreeTiersFillFromAbove) {
  TestFolder folder;
  TableOptions options = Tiered(folder, 2, 16);
  options.tiers.lower = {LowerTierOptions{StorageMedium::kMappedFile, 3 * 16}, LowerTierOptions{}};
  Table table(options, FloatRows({0}, 1));
  // Key k is trained 10 - k times, so the small ones are the hot ones.
  for (int64_t key = 1; key <= 9; ++key) {
    for (int64_t i = key; i < 10; ++i) Train(&table, {key});
  }
  EXPECT_THAT(TiersOf(table, {1, 2, 3, 4, 5, 6, 7, 8, 9}), ElementsAre(0, 0, 1, 1, 1, 2, 2, 2, 2));
  for (int64_t key = 1; key <= 9; ++key) EXPECT_EQ(ReadColumn(table, 0, {key})[0], -0.5f * float(10 - key));
  // From the very bottom to the top.
  for (int i = 0; i < 9; ++i) Lookup(table, {9});
  EXPECT_THAT(TiersOf(table, {1, 2, 3, 4, 5, 6, 7, 8, 9}), ElementsAre(0, 1, 1, 1, 2, 2, 2, 2, 0));
}

TEST(Tiers, ImportedKeysOfTheHighestFrequenciesAreInTheFirst) {
  for (const CacheStrategy strategy : {CacheStrategy::kLfu, CacheStrategy::kLru}) {
    TestFolder folder;
    Table table(Tiered(folder, 10, 32, strategy), FloatRows({0}, 1));
    table.AddColumn(FloatRows({7}, 1));
    std::mt19937_64 random(1);
    Keys keys(200);
    std::vector<int64_t> frequencies(200);
    Floats rows(200);
    for (int64_t i = 0; i < 200; ++i) {
      keys[i] = i;
      frequencies[i] = 1 + (i * 77) % 200;
      rows[i] = float(i);
    }
    for (int64_t begin = 0; begin < 200; begin += 50) {
      table.Insert(0, keys.data() + begin, 50, rows.data() + begin, 1, frequencies.data() + begin, nullptr);
    }
    for (int64_t begin = 0; begin < 200; begin += 50) {
      table.Insert(1, keys.data() + begin, 50, rows.data() + begin, 1, nullptr, nullptr);
    }
    const std::vector<int32_t> tiers = TiersOf(table, keys);
    for (int64_t i = 0; i < 200; ++i) EXPECT_EQ(tiers[i], frequencies[i] > 190 ? 0 : 1) << i;
    EXPECT_EQ(ReadColumn(table, 0, keys), rows);
    EXPECT_EQ(ReadColumn(table, 1, keys), rows);
    EXPECT_EQ(Frequencies(table, keys), frequencies);
  }
}

TEST(Tiers, ReadingForASaveLeavesRowsWhereTheyAre) {
  TestFolder folder;
  Table table(Tiered(folder, 5, 16), FloatRows({0}, 1));
  for (int64_t key = 0; key < 50; ++key) Train(&table, Keys(size_t(1 + key % 3), key));
  Keys keys = table.TakeSnapshot(10).keys;
  EXPECT_EQ(keys.size(), 50u);
  const std::vector<int32_t> before = TiersOf(table, keys);
  const Floats rows = ReadColumn(table, 0, keys);
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(rows[i], -0.5f * float(1 + keys[i] % 3));
  EXPECT_EQ(TiersOf(table, keys), before);
}

TEST(Tiers, CompactionKeepsFilesWithinTheRowsInUse) {
  for (const bool async : {false, true}) {
    TestFolder folder;
    TableOptions options = Tiered(folder, 10, 16);
    options.tiers.segment_bytes = 4096;
    options.tiers.async_compaction = async;
    Table table(options, FloatRows({0}, 1));
    std::vector<int64_t> trained(300);
    std::mt19937_64 random(2);
    int64_t most = 0;
    for (int step = 0; step < 3000; ++step) {
      Keys keys(5);
      for (int64_t& key : keys) ++trained[key = int64_t(random() % 300)];
      Train(&table, keys);
      if (step % 50 == 49) {
        TiersOf(table, {1});
        most = std::max(most, folder.bytes());
      }
    }
    Keys keys(300);
    Floats expected(300);
    for (int64_t i = 0; i < 300; ++i) keys[i] = i, expected[i] = -0.5f * float(trained[i]);
    EXPECT_EQ(ReadColumn(table, 0, keys), expected);
    // A record is 16 + 32 + 4 bytes, padded to 56; without compaction there would be some 13000 of them. Beside those in use
    // and half as many that are not: the file that is written to, and those that the thread has just emptied.
    if (async) continue;
    EXPECT_LT(most, 300 * 56 * 3 / 2 + 8 * 4096);
  }
}

TEST(Tiers, AFullDiskIsToldAndNothingIsLost) {
  TestFolder folder;
  Table table(Tiered(folder, 2, 16), FloatRows({0}, 1));
  Train(&table, {1, 2});
  signal(SIGXFSZ, SIG_IGN);
  rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 100;  // a record and a half
  setrlimit(RLIMIT_FSIZE, &small);
  int told = 0, trained = 0;
  for (int64_t key = 3; key < 40; ++key) {
    TiersOf(table, {1});  // demotes here, so that what fails is known
    try {
      Train(&table, {key});
      ++trained;
    } catch (const StorageError& error) {
      EXPECT_EQ(error.kind(), StorageError::Kind::kNoSpace);
      EXPECT_THAT(error.what(), HasSubstr(folder.path()));
      ++told;
    }
  }
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_GT(told, 30);
  EXPECT_EQ(table.size(), 2 + trained);
  try {
    Train(&table, {100});
  } catch (const StorageError&) {
    Train(&table, {100});  // the last of before
  }
  const Keys keys = table.TakeSnapshot(1).keys;
  EXPECT_EQ(int64_t(keys.size()), 3 + trained);
  for (const float x : ReadColumn(table, 0, keys)) EXPECT_EQ(x, -0.5f);
  const std::vector<int32_t> tiers = TiersOf(table, keys);
  EXPECT_EQ(std::count(tiers.begin(), tiers.end(), 0), 2);
}

TEST(Tiers, AnAlteredFileIsToldAndRowsThatAreWholeStay) {
  TestFolder folder;
  Table table(Tiered(folder, 2, 16), FloatRows({0}, 1));
  for (int64_t key = 1; key <= 9; ++key) Train(&table, {key});
  EXPECT_THAT(TiersOf(table, {1, 9}), ElementsAre(1, 0));
  ASSERT_EQ(folder.files().size(), 1u);
  {
    std::fstream file(folder.files()[0], std::ios::in | std::ios::out | std::ios::binary);
    file.write(std::string(56, 0).data(), 56);
  }
  int told = 0;
  for (int64_t key = 1; key <= 7; ++key) {
    try {
      EXPECT_THAT(Lookup(table, {key}), ElementsAre(-0.5));
    } catch (const StorageError& error) {
      EXPECT_EQ(error.kind(), StorageError::Kind::kAltered);
      EXPECT_THAT(error.what(), HasSubstr(folder.path()));
      ++told;
    }
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(table.size(), 9);
  // Neither may a pass over the file take it for a row.
  EXPECT_THROW(table.EvictSmallerThan(1e-9), StorageError);
  EXPECT_EQ(table.size(), 9);
}

TEST(Tiers, AFolderThatIsGoneIsToldAndRowsStay) {
  TestFolder folder;
  Table table(Tiered(folder, 2, 16), FloatRows({0}, 1));
  std::filesystem::remove_all(folder.path());
  for (int64_t key = 1; key <= 3; ++key) Train(&table, {key});
  TiersOf(table, {1});
  EXPECT_THROW(Train(&table, {4}), StorageError);
  EXPECT_EQ(ReadColumn(table, 0, {1, 2, 3}), Floats({-0.5, -0.5, -0.5}));
  std::filesystem::create_directory(folder.path());
  EXPECT_THAT(TiersOf(table, {1, 2, 3}), ElementsAre(1, 0, 0));
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
