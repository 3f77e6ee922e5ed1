// Tables of several tiers: where rows are, and that a table of one tier would say the same.

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
    // A record is 16 + 32 + 4 bytes, padded to 56; without compaction there would be some 13000 of them.
    if (async) continue;
    EXPECT_LT(most, 300 * 56 * 3 / 2 + 2 * 4096);
  }
}

// The same steps on tables of one, two and three tiers.
class Twins {
 public:
  Twins(TableOptions options, const TestFolder& folder, int64_t rows, int64_t dim) {
    const auto make = [&] {
      Floats defaults(7 * dim);
      for (size_t i = 0; i < defaults.size(); ++i) defaults[i] = 0.25f * float(i);
      tables_.emplace_back(new Table(options, FloatRows(defaults, dim)));
    };
    make();
    options.tiers.folder = folder.path();
    options.tiers.first_bytes = rows * BudgetBytes(4 * dim);
    options.tiers.segment_bytes = 1 << 12;
    for (const CacheStrategy strategy : {CacheStrategy::kLfu, CacheStrategy::kLru}) {
      options.tiers.strategy = strategy;
      options.tiers.lower = {LowerTierOptions{}};
      make();
      options.tiers.lower = {LowerTierOptions{StorageMedium::kMemory, 2 * rows * 16}, LowerTierOptions{}};
      make();
    }
  }
  template <class Do>
  void Each(const Do& act) {
    for (const auto& table : tables_) act(table.get());
  }
  int columns() const { return tables_[0]->columns(); }
  void Compare() {
    const Snapshot expected = tables_[0]->TakeSnapshot(10);
    Keys some = expected.keys;
    for (const WaitingEntry& entry : expected.waiting) some.push_back(entry.key);
    some.push_back(123456);
    for (size_t t = 1; t < tables_.size(); ++t) {
      const Snapshot snapshot = tables_[t]->TakeSnapshot(10);
      ASSERT_EQ(snapshot.keys, expected.keys) << "table " << t;
      ASSERT_EQ(snapshot.begin, expected.begin);
      ASSERT_EQ(snapshot.waiting_begin, expected.waiting_begin);
      ASSERT_EQ(tables_[t]->size(), tables_[0]->size());
      ASSERT_EQ(Frequencies(*tables_[t], some), Frequencies(*tables_[0], some));
      ASSERT_EQ(Versions(*tables_[t], some), Versions(*tables_[0], some));
      for (int c = 0; c < tables_[0]->columns(); ++c) {
        ASSERT_EQ(ReadColumn(*tables_[t], c, some), ReadColumn(*tables_[0], c, some)) << "table " << t << " column " << c;
      }
    }
  }

 private:
  std::vector<std::unique_ptr<Table>> tables_;
};

void MomentumStep(Table* table, const Keys& keys, const Floats& grad, const std::vector<int64_t>& counts, int64_t version) {
  TableUpdate step;
  step.keys = keys.data();
  step.counts = counts.data();
  step.grad = grad.data();
  step.n = int64_t(keys.size());
  step.version = version;
  sparse::Hyper hyper;
  hyper.lr = 0.1;
  hyper.momentum = 0.9;
  table->Update(step, ElementwiseOptimizer(RowsOf(*table, {1}), sparse::Rule::kMomentum, hyper, grad.data(),
                                           sparse::Isa::kScalar),
                Threads());
}

TEST(Tiers, WhateverIsDoneTheContentIsThatOfOneTier) {
  for (const int64_t min_count : {0, 3}) {
    TestFolder folder;
    TableOptions options;
    options.record_frequency = options.record_version = true;
    if (min_count > 0) options.admission = AdmissionKind::kCounter, options.min_count = min_count;
    constexpr int64_t kDim = 5, kRows = 120;
    Twins twins(options, folder, kRows, kDim);
    twins.Each([&](Table* table) { table->AddColumn(FloatRows(Floats(kDim, 0.5f), kDim)); });
    std::mt19937_64 random(min_count);
    const auto some_keys = [&](int64_t n) {
      Keys keys(n);
      for (int64_t& key : keys) key = int64_t(std::min(random() % 800, random() % 800)) - 300;
      return keys;
    };
    for (int step = 0; step < 400; ++step) {
      switch (random() % 16) {
        default: {
          const Keys keys = some_keys(30);
          Floats grad(30 * kDim);
          std::vector<int64_t> counts(30);
          for (float& x : grad) x = float(random() % 100) / 50 - 1;
          for (int64_t& count : counts) count = int64_t(random() % 3);
          const int64_t version = random() % 4 == 0 ? kNoVersion : step;
          twins.Each([&](Table* table) { MomentumStep(table, keys, grad, counts, version); });
          break;
        }
        case 0: {
          const Keys keys = some_keys(30);
          twins.Each([&](Table* table) { Lookup(*table, keys); });
          break;
        }
        case 1: {
          const Keys keys = some_keys(20);
          const Floats initial(20 * kDim, float(step));
          twins.Each([&](Table* table) {
            Floats out(20 * kDim);
            table->LookupOrInsert(keys.data(), 20, initial.data(), step, out.data(), Threads());
          });
          break;
        }
        case 2: twins.Each([&](Table* table) { table->EvictOlderThan(60, step); }); break;
        case 3: twins.Each([&](Table* table) { table->EvictSmallerThan(0.2); }); break;
        case 4: {
          const Keys keys = some_keys(200);
          const Floats rows(200 * 3, float(step));
          const std::vector<int64_t> numbers(200, step);
          const int column = int(random() % 2);
          twins.Each([&](Table* table) {
            table->Insert(column, keys.data(), 200, rows.data(), 3, column == 0 ? numbers.data() : nullptr,
                          column == 0 ? numbers.data() : nullptr);
          });
          break;
        }
        case 5: {
          const Keys keys = some_keys(200);
          const std::vector<int64_t> numbers(200, 1);
          if (min_count > 0) {
            twins.Each([&](Table* table) { table->InsertWaiting(keys.data(), 200, numbers.data(), nullptr); });
          }
          break;
        }
        case 6:
          if (twins.columns() < 4) twins.Each([&](Table* table) { table->AddColumn(FloatRows({1, 2, 3, 4, 5, 6}, 3)); });
          break;
        case 7:
          if (step % 9 == 0) twins.Each([&](Table* table) { table->Clear(); });
          break;
      }
      if (step % 20 == 0) {
        twins.Compare();
        if (testing::Test::HasFatalFailure()) FAIL() << "step " << step;
      }
    }
    twins.Compare();
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
      EXPECT_THAT(error.what(), HasSubstr("key " + std::to_string(key) + " "));
      ++told;
    }
  }
  EXPECT_EQ(told, 1);
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
