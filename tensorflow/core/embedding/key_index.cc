#include "tensorflow/core/embedding/key_index.h"

namespace deeprec {
namespace embedding {
namespace {

constexpr uint64_t kFirstCapacity = 16;

}  // namespace

KeyIndex::Slot KeyIndex::kNoSlots[1] = {{0, 0}};

void KeyIndex::Swap(KeyIndex* other) {
  slots_.Swap(&other->slots_);
  std::swap(data_, other->data_);
  std::swap(mask_, other->mask_);
  std::swap(capacity_, other->capacity_);
  std::swap(size_, other->size_);
}

void KeyIndex::Grow() {
  KeyIndex wider;
  wider.capacity_ = capacity_ == 0 ? kFirstCapacity : 2 * capacity_;
  wider.slots_ = ZeroedMemory(wider.capacity_ * sizeof(Slot));
  wider.data_ = static_cast<Slot*>(wider.slots_.data());
  wider.mask_ = wider.capacity_ - 1;
  wider.size_ = size_;
  ForEach([&](int64_t key, uintptr_t word) { *wider.FreeSlot(MixKey(uint64_t(key))) = Slot{key, word}; });
  Swap(&wider);
}

uintptr_t* KeyIndex::FindOrInsert(int64_t key, uintptr_t word) {
  const uint64_t hash = MixKey(uint64_t(key));
  if (const uintptr_t* const found = Find(key, hash)) return const_cast<uintptr_t*>(found);
  if (4 * uint64_t(size_ + 1) > 3 * capacity_) Grow();
  Slot* const slot = FreeSlot(hash);
  *slot = Slot{key, word};
  ++size_;
  return &slot->word;
}

bool KeyIndex::Erase(int64_t key) {
  uint64_t hole = MixKey(uint64_t(key)) & mask_;
  while (data_[hole].word != 0 && data_[hole].key != key) hole = (hole + 1) & mask_;
  if (data_[hole].word == 0) return false;
  for (uint64_t at = (hole + 1) & mask_; data_[at].word != 0; at = (at + 1) & mask_) {
    // A slot may move into the hole unless its probing starts behind that.
    const uint64_t home = MixKey(uint64_t(data_[at].key)) & mask_;
    if (((at - home) & mask_) >= ((at - hole) & mask_)) {
      data_[hole] = data_[at];
      hole = at;
    }
  }
  data_[hole].word = 0;
  --size_;
  return true;
}

}  // namespace embedding
}  // namespace deeprec
