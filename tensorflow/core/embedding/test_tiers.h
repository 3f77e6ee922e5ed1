// Folders and tables of several tiers, for the tests of this folder.

#ifndef TENSORFLOW_CORE_EMBEDDING_TEST_TIERS_H_
#define TENSORFLOW_CORE_EMBEDDING_TEST_TIERS_H_

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/embedding/test_table.h"

namespace deeprec {
namespace embedding {

// An empty folder, removed at the end.
class TestFolder {
 public:
  TestFolder() {
    std::string name = testing::TempDir() + "/tiersXXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::vector<std::string> files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) files.push_back(entry.path().string());
    return files;
  }
  int64_t bytes() const {
    int64_t total = 0;
    for (const std::string& file : files()) {
      std::error_code gone;  // since it was listed
      const auto size = std::filesystem::file_size(file, gone);
      if (!gone) total += int64_t(size);
    }
    return total;
  }

 private:
  std::string path_;
};

// Two tiers, the second in files: room for `rows` rows of `row_bytes` in the first.
inline TableOptions Tiered(const TestFolder& folder, int64_t rows, int64_t row_bytes,
                           CacheStrategy strategy = CacheStrategy::kLfu) {
  TableOptions options;
  options.record_frequency = true;
  options.tiers.lower = {LowerTierOptions{}};
  options.tiers.first_bytes = rows * row_bytes;
  options.tiers.folder = folder.path();
  options.tiers.strategy = strategy;
  return options;
}

inline std::vector<int32_t> TiersOf(const Table& table, const Keys& keys) {
  std::vector<int32_t> tiers(keys.size());
  table.Tiers(keys.data(), int64_t(keys.size()), tiers.data());
  return tiers;
}

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_TEST_TIERS_H_
