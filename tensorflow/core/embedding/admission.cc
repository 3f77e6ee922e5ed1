#include "tensorflow/core/embedding/admission.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "tensorflow/core/embedding/hashing.h"

namespace deeprec {
namespace embedding {
namespace {

constexpr uint64_t kPrimes[] = {2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37, 41,
                                43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97};
constexpr int kMaxHashes = sizeof(kPrimes) / sizeof(kPrimes[0]);

// Counters are plain memory from calloc, which an operating system zeroes only where it is touched; the
// builtins make access to them atomic, and a lost order between counters does not matter.
template <class T>
void SaturatingAdd(T* counter, uint64_t count, uint64_t limit) {
  T old = __atomic_load_n(counter, __ATOMIC_RELAXED);
  while (old < limit) {
    const T sum = T(limit - old < count ? limit : old + count);
    if (__atomic_compare_exchange_n(counter, &old, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  }
}

}  // namespace

void CountingBloomFilter::Free::operator()(void* p) const { free(p); }

CountingBloomFilter::CountingBloomFilter(const BloomOptions& options)
    : counter_bytes_(options.counter_bits / 8) {
  const double log_rate = -std::log(options.false_positive_rate);
  const double ln2 = std::log(2.0);
  counters_ = std::max<int64_t>(1, int64_t(std::ceil(double(options.max_elements) * log_rate / (ln2 * ln2))));
  hashes_ = std::clamp(int(std::ceil(log_rate / ln2)), 1, kMaxHashes);
  // A counter that can not hold the threshold admits at its own largest value.
  const uint64_t largest = counter_bytes_ == 8 ? std::numeric_limits<uint64_t>::max()
                                               : (uint64_t{1} << (8 * counter_bytes_)) - 1;
  min_count_ = std::min(uint64_t(std::max<int64_t>(1, options.min_count)), largest);
  memory_.reset(calloc(counters_, counter_bytes_));
  if (memory_ == nullptr) throw std::bad_alloc();
}

CountingBloomFilter::~CountingBloomFilter() = default;

uint64_t CountingBloomFilter::Slot(int64_t key, int hash) const {
  return MixKey(uint64_t(key) ^ MixKey(kPrimes[hash])) % uint64_t(counters_);
}

uint64_t CountingBloomFilter::Load(uint64_t slot) const {
  const void* const memory = memory_.get();
  switch (counter_bytes_) {
    case 1: return __atomic_load_n(static_cast<const uint8_t*>(memory) + slot, __ATOMIC_RELAXED);
    case 2: return __atomic_load_n(static_cast<const uint16_t*>(memory) + slot, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n(static_cast<const uint32_t*>(memory) + slot, __ATOMIC_RELAXED);
    default: return __atomic_load_n(static_cast<const uint64_t*>(memory) + slot, __ATOMIC_RELAXED);
  }
}

void CountingBloomFilter::AddTo(uint64_t slot, uint64_t count, uint64_t limit) {
  void* const memory = memory_.get();
  switch (counter_bytes_) {
    case 1: return SaturatingAdd(static_cast<uint8_t*>(memory) + slot, count, limit);
    case 2: return SaturatingAdd(static_cast<uint16_t*>(memory) + slot, count, limit);
    case 4: return SaturatingAdd(static_cast<uint32_t*>(memory) + slot, count, limit);
    default: return SaturatingAdd(static_cast<uint64_t*>(memory) + slot, count, limit);
  }
}

int64_t CountingBloomFilter::Count(int64_t key) const {
  uint64_t least = min_count_;
  for (int i = 0; i < hashes_; ++i) least = std::min(least, Load(Slot(key, i)));
  return int64_t(least);
}

bool CountingBloomFilter::Add(int64_t key, int64_t count) {
  const uint64_t least = uint64_t(Count(key));
  const uint64_t added = uint64_t(std::max<int64_t>(0, count));
  for (int i = 0; i < hashes_; ++i) AddTo(Slot(key, i), added, min_count_);
  return added >= min_count_ - least;
}

}  // namespace embedding
}  // namespace deeprec
