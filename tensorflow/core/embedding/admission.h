// Which keys get a row.
//
// An exact filter counts every key it has seen in the table's own map, in one word a key. The counting Bloom
// filter (Fan et al., 2000, with saturating counters) needs a fixed amount of memory, whatever the number of
// keys, and may admit a key early, never late.

#ifndef TENSORFLOW_CORE_EMBEDDING_ADMISSION_H_
#define TENSORFLOW_CORE_EMBEDDING_ADMISSION_H_

#include <stdint.h>

#include <memory>

namespace deeprec {
namespace embedding {

// A key that waits for admission, packed into the word that would hold its row's address; the lowest bit,
// which no address has, tells them apart.
struct WaitingKey {
  static constexpr int64_t kMaxFrequency = (int64_t{1} << 31) - 1;
  static constexpr int64_t kMaxVersion = (int64_t{1} << 32) - 2;

  static bool Is(uintptr_t word) { return word & 1; }
  // Both saturate. version: -1 or the step of the last update.
  static uintptr_t Pack(int64_t frequency, int64_t version) {
    if (frequency > kMaxFrequency) frequency = kMaxFrequency;
    if (version > kMaxVersion) version = kMaxVersion;
    if (version < -1) version = -1;
    return uintptr_t(version + 1) << 32 | uintptr_t(frequency) << 1 | 1;
  }
  static int64_t Frequency(uintptr_t word) { return int64_t((word >> 1) & kMaxFrequency); }
  static int64_t Version(uintptr_t word) { return int64_t(word >> 32) - 1; }
};

struct BloomOptions {
  int64_t min_count = 0;             // occurrences before a key is admitted, >= 1
  int64_t max_elements = 0;          // keys the filter is made for, >= 1
  double false_positive_rate = 0;    // in (0, 1)
  int counter_bits = 64;             // 8, 16, 32 or 64
};

class CountingBloomFilter {
 public:
  // counters = ceil(n |ln p| / (ln 2)^2), hashes = ceil(|ln p| / ln 2), at most 25 (one per prime below 100).
  explicit CountingBloomFilter(const BloomOptions& options);
  ~CountingBloomFilter();

  // Adds `count` occurrences of `key`; true if the key has now been seen min_count times. Safe to call from
  // several threads for different keys.
  bool Add(int64_t key, int64_t count);
  // At least as often as the key was added, up to min_count.
  int64_t Count(int64_t key) const;

  int64_t counters() const { return counters_; }
  int hashes() const { return hashes_; }
  int64_t bytes() const { return counters_ * counter_bytes_; }

 private:
  uint64_t Slot(int64_t key, int hash) const;
  uint64_t Load(uint64_t slot) const;
  void AddTo(uint64_t slot, uint64_t count, uint64_t limit);

  uint64_t min_count_;
  int64_t counters_;
  int hashes_;
  int counter_bytes_;
  struct Free {
    void operator()(void* p) const;
  };
  std::unique_ptr<void, Free> memory_;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_ADMISSION_H_
