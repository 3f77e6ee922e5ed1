#include "tensorflow/core/embedding/record_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <thread>

#include "tensorflow/core/embedding/test_tiers.h"
#include "tensorflow/core/embedding/tier_file.h"

namespace deeprec {
namespace embedding {
namespace {

constexpr int64_t kNumbers = 4;
using Records = std::vector<int64_t>;  // of kNumbers each

class RecordStoreTest : public testing::TestWithParam<StorageMedium> {
 protected:
  RecordStoreOptions Options(int64_t segment_bytes = 10 * kNumbers * 8) {
    RecordStoreOptions options;
    options.medium = GetParam();
    options.folder = folder_.path();
    options.segment_bytes = segment_bytes;
    return options;
  }
  TestFolder folder_;
};

Records Numbered(int64_t first, int64_t n, int64_t numbers = kNumbers) {
  Records records(n * numbers);
  std::iota(records.begin(), records.end(), 1000 * first);
  return records;
}

std::vector<RecordLocation> Append(RecordStore* store, const Records& records, int64_t numbers = kNumbers) {
  std::vector<RecordLocation> locations(records.size() / numbers);
  store->Append(reinterpret_cast<const char*>(records.data()), int64_t(locations.size()), locations.data());
  return locations;
}

// Empty if it is gone.
Records ReadOne(const RecordStore& store, RecordLocation location) {
  const auto segment = store.Find(location);
  if (segment == nullptr) return {};
  Records record(RecordStore::RecordBytes(*segment) / 8);
  RecordStore::Read(*segment, location, 1, reinterpret_cast<char*>(record.data()));
  return record;
}

TEST_P(RecordStoreTest, RecordsAreReadBackWhereverTheyLie) {
  RecordStore store(Options());
  store.SetForm(kNumbers * 8, 1);
  const Records records = Numbered(1, 37);
  const auto locations = Append(&store, records);
  EXPECT_EQ(store.records(), 37);
  EXPECT_EQ(store.segments(), 4);
  for (int64_t i = 36; i >= 0; --i) {
    const Records expected(records.begin() + i * kNumbers, records.begin() + (i + 1) * kNumbers);
    EXPECT_EQ(ReadOne(store, locations[i]), expected);
    const auto segment = store.Find(locations[i]);
    const char* const mapped = RecordStore::Mapped(*segment, locations[i]);
    ASSERT_EQ(mapped == nullptr, GetParam() == StorageMedium::kFile);
    if (mapped == nullptr) continue;
    EXPECT_EQ(memcmp(mapped, expected.data(), kNumbers * 8), 0);
  }
}

TEST_P(RecordStoreTest, ASegmentWithoutRecordsInUseGoes) {
  RecordStore store(Options());
  store.SetForm(kNumbers * 8, 1);
  const auto locations = Append(&store, Numbered(1, 25));
  EXPECT_EQ(store.segments(), 3);
  const RecordStore::SegmentRef held = store.Find(locations[3]);
  for (int i = 0; i < 10; ++i) store.Free(locations[i]);
  EXPECT_EQ(store.segments(), 2);
  EXPECT_EQ(store.records(), 15);
  EXPECT_EQ(store.bytes(), 15 * kNumbers * 8);
  EXPECT_TRUE(ReadOne(store, locations[3]).empty());
  // Who holds it reads on.
  Records record(kNumbers);
  RecordStore::Read(*held, locations[3], 1, reinterpret_cast<char*>(record.data()));
  EXPECT_EQ(record[0], 1000 + 3 * kNumbers);
}

TEST_P(RecordStoreTest, MoreThanAThirdFreeIsDue) {
  RecordStore store(Options());
  store.SetForm(kNumbers * 8, 1);
  const auto locations = Append(&store, Numbered(1, 15));
  for (const int i : {0, 5, 9}) store.Free(locations[i]);
  EXPECT_FALSE(store.AnyDue());
  // Not full, so never due.
  for (const int i : {10, 11, 12, 13}) store.Free(locations[i]);
  EXPECT_FALSE(store.AnyDue());
  store.Free(locations[1]);
  EXPECT_TRUE(store.AnyDue());
  const auto due = store.Due();
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].records, 10);
  EXPECT_EQ(due[0].first, locations[0]);
}

TEST_P(RecordStoreTest, ANewFormLeavesOldRecordsAsTheyAre) {
  RecordStore store(Options());
  store.SetForm(kNumbers * 8, 1);
  const auto old = Append(&store, Numbered(1, 3));
  store.SetForm((kNumbers + 2) * 8, 2);
  const auto wide = Append(&store, Numbered(2, 3, kNumbers + 2), kNumbers + 2);
  EXPECT_EQ(ReadOne(store, old[2]).size(), size_t(kNumbers));
  EXPECT_EQ(ReadOne(store, wide[2]), Records({2012, 2013, 2014, 2015, 2016, 2017}));
  EXPECT_EQ(RecordStore::Layout(*store.Find(old[0])), 1);
  EXPECT_EQ(RecordStore::Layout(*store.Find(wide[0])), 2);
  for (const RecordLocation location : old) store.Free(location);
  EXPECT_EQ(store.segments(), 1);
}

TEST_P(RecordStoreTest, ClearFreesAllAndFreeingAgainIsNothing) {
  RecordStore store(Options());
  store.SetForm(kNumbers * 8, 1);
  const auto locations = Append(&store, Numbered(1, 25));
  store.Clear();
  EXPECT_EQ(store.records(), 0);
  EXPECT_TRUE(folder_.files().empty());
  store.Free(locations[0]);
  const auto later = Append(&store, Numbered(2, 1));
  EXPECT_EQ(store.records(), 1);
  EXPECT_EQ(ReadOne(store, later[0])[0], 2000);
  EXPECT_TRUE(ReadOne(store, locations[0]).empty());
}

TEST_P(RecordStoreTest, ManyAppendReadAndFreeAtOnce) {
  RecordStore store(Options());
  store.SetForm(kNumbers * 8, 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        const Records records = Numbered(100 * t + round, 7);
        const auto locations = Append(&store, records);
        for (int i = 0; i < 7; ++i) {
          EXPECT_EQ(ReadOne(store, locations[i])[1], records[i * kNumbers + 1]);
        }
        for (int i = 0; i < 7; ++i) store.Free(locations[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store.records(), 0);
  EXPECT_LE(store.segments(), 1);
}

INSTANTIATE_TEST_SUITE_P(Media, RecordStoreTest,
                         testing::Values(StorageMedium::kFile, StorageMedium::kMappedFile, StorageMedium::kMemory));

RecordStoreOptions InFiles(const std::string& folder) {
  RecordStoreOptions options;
  options.folder = folder;
  options.segment_bytes = 10 * kNumbers * 8;
  return options;
}

TEST(TierFiles, TwoStoresShareAFolderAndTakeTheirFilesWithThem) {
  TestFolder folder;
  const std::string below = folder.path() + "/a/b";
  {
    RecordStore first(InFiles(below)), second(InFiles(below));
    first.SetForm(kNumbers * 8, 1);
    second.SetForm(kNumbers * 8, 1);
    const auto x = Append(&first, Numbered(1, 15)), y = Append(&second, Numbered(2, 15));
    RecordStore third(InFiles(below));
    EXPECT_EQ(ReadOne(first, x[14])[0], 1000 + 14 * kNumbers);
    EXPECT_EQ(ReadOne(second, y[14])[0], 2000 + 14 * kNumbers);
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(below)) {
      EXPECT_EQ(entry.path().filename().string().rfind("ssd_kv_", 0), 0u);
      ++files;
    }
    EXPECT_EQ(files, 4);
  }
  EXPECT_TRUE(std::filesystem::is_empty(below));
}

TEST(TierFiles, WhatAKilledProcessLeftIsRemovedAndNothingElse) {
  TestFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    static const TierFile* const file = new TierFile(folder.path(), "ssd_kv");
    if (file == nullptr) _exit(1);
    _exit(0);  // without the end of the process
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(folder.files().size(), 1u);
  for (const char* const name : {"model.emb", "ssd_kv_1_otherhost_2_3.emb", "ssd_kv_notes.txt", "x_1_h_2_3.emb"}) {
    std::ofstream(folder.path() + "/" + name) << "kept";
  }
  const TierFile mine(folder.path(), "ssd_kv");
  RemoveDeadTierFiles(folder.path());
  EXPECT_EQ(folder.files().size(), 5u);
  EXPECT_TRUE(std::filesystem::exists(mine.path()));
}

TEST(TierFiles, TheEndOfTheProcessRemovesThem) {
  TestFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    static const TierFile* const file = new TierFile(folder.path(), "ssd_kv");
    if (file == nullptr) _exit(1);
    // Of a child of its own, the end leaves the file alone.
    const pid_t grandchild = fork();
    if (grandchild == 0) exit(0);
    waitpid(grandchild, nullptr, 0);
    if (folder.files().size() != 1) _exit(1);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(folder.files().empty());
}

TEST(TierFiles, AFolderThatCanNotBeIsNamed) {
  TestFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  for (const std::string& path : {folder.path() + "/file", folder.path() + "/file/below", std::string("/proc/none/x")}) {
    try {
      RecordStore store(InFiles(path));
      FAIL() << path;
    } catch (const StorageError& error) {
      EXPECT_EQ(error.kind(), StorageError::Kind::kUnavailable);
      EXPECT_THAT(error.what(), testing::HasSubstr(path.substr(0, path.rfind('/'))));
    }
  }
}

TEST(TierFiles, AFileCutShortIsFound) {
  TestFolder folder;
  RecordStore store(InFiles(folder.path()));
  store.SetForm(kNumbers * 8, 1);
  const auto locations = Append(&store, Numbered(1, 5));
  std::filesystem::resize_file(folder.files()[0], 2 * kNumbers * 8);
  EXPECT_EQ(ReadOne(store, locations[1])[0], 1000 + kNumbers);
  EXPECT_THROW(ReadOne(store, locations[2]), StorageError);
}

TEST(TierFiles, AFullDiskAppendsNothingAndCanGoOn) {
  TestFolder folder;
  RecordStore store(InFiles(folder.path()));
  store.SetForm(kNumbers * 8, 1);
  const auto before = Append(&store, Numbered(1, 5));
  signal(SIGXFSZ, SIG_IGN);
  rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 7 * kNumbers * 8 + 4;
  setrlimit(RLIMIT_FSIZE, &small);
  StorageError::Kind kind = StorageError::Kind::kAltered;
  try {
    Append(&store, Numbered(2, 5));
  } catch (const StorageError& error) {
    kind = error.kind();
  }
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(kind, StorageError::Kind::kNoSpace);
  EXPECT_EQ(store.records(), 5);
  const auto after = Append(&store, Numbered(3, 5));
  EXPECT_EQ(ReadOne(store, before[4])[0], 1000 + 4 * kNumbers);
  EXPECT_EQ(ReadOne(store, after[4])[0], 3000 + 4 * kNumbers);
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
