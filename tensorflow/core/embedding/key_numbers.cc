#include "tensorflow/core/embedding/key_numbers.h"

#include <mutex>
#include <shared_mutex>
#include <utility>

namespace deeprec {
namespace embedding {
namespace {

constexpr int64_t kFetchAhead = 16;

}  // namespace

bool KeyNumbers::FindLocked(const int64_t* keys, int64_t n, int64_t* numbers) const {
  bool all = true;
  for (int64_t i = 0; i < n; ++i) {
    if (i + kFetchAhead < n) index_.Prefetch(keys[i + kFetchAhead]);
    const uintptr_t* const word = index_.Find(keys[i]);
    numbers[i] = word == nullptr ? -1 : int64_t(*word) - 1;
    all &= word != nullptr;
  }
  return all;
}

void KeyNumbers::Find(const int64_t* keys, int64_t n, int64_t* numbers) const {
  const std::shared_lock<SharedMutex> lock(mu_);
  FindLocked(keys, n, numbers);
}

bool KeyNumbers::FindOrNumber(const int64_t* keys, int64_t n, int64_t capacity, int64_t* numbers) {
  {
    const std::shared_lock<SharedMutex> lock(mu_);
    if (FindLocked(keys, n, numbers)) return true;
  }
  const std::unique_lock<SharedMutex> lock(mu_);
  const size_t before = keys_.size();
  for (int64_t i = 0; i < n; ++i) {
    // Before the index: what can throw must leave the two alike.
    if (keys_.size() == keys_.capacity()) keys_.reserve(2 * keys_.size() + 64);
    const uintptr_t next = keys_.size() + 1;
    const uintptr_t word = *index_.FindOrInsert(keys[i], next);
    numbers[i] = int64_t(word) - 1;
    if (word != next) continue;
    keys_.push_back(keys[i]);
    if (int64_t(keys_.size()) <= capacity) continue;
    for (; keys_.size() > before; keys_.pop_back()) index_.Erase(keys_.back());
    return false;
  }
  return true;
}

bool KeyNumbers::Assign(const int64_t* keys, int64_t n) {
  KeyIndex index;
  for (int64_t i = 0; i < n; ++i) {
    if (*index.FindOrInsert(keys[i], uintptr_t(i) + 1) != uintptr_t(i) + 1) return false;
  }
  std::vector<int64_t> copy(keys, keys + n);
  const std::unique_lock<SharedMutex> lock(mu_);
  index_ = std::move(index);
  keys_ = std::move(copy);
  return true;
}

std::vector<int64_t> KeyNumbers::Keys() const {
  const std::shared_lock<SharedMutex> lock(mu_);
  return keys_;
}

int64_t KeyNumbers::size() const {
  const std::shared_lock<SharedMutex> lock(mu_);
  return int64_t(keys_.size());
}

int64_t KeyNumbers::MemoryBytes() const {
  const std::shared_lock<SharedMutex> lock(mu_);
  return index_.bytes() + int64_t(keys_.capacity() * sizeof(int64_t));
}

}  // namespace embedding
}  // namespace deeprec
