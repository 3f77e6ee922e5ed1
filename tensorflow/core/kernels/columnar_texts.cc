#include "tensorflow/core/kernels/columnar_texts.h"

#include "tensorflow/core/framework/allocation_description.pb.h"

namespace tensorflow {
namespace columnar {
namespace {

// What the readers of an ordinary tensor may take for granted.
constexpr size_t kAlignment = 64;

}  // namespace

core::RefCountPtr<Texts> Texts::Create(Allocator* allocator, int64_t capacity) {
  void* const data = allocator->AllocateRaw(kAlignment, capacity * sizeof(tstring));
  return core::RefCountPtr<Texts>(data == nullptr ? nullptr : new Texts(allocator, data));
}

Texts::~Texts() {
  if (has_large_) {
    tstring* const texts = base<tstring>();
    for (int64_t i = 0; i < size_; ++i) texts[i].~tstring();
  }
  allocator_->DeallocateRaw(data());
}

bool Texts::GetAllocatedBytes(size_t* bytes) const {
  *bytes = size() + text_bytes_;
  return true;
}

void Texts::FillAllocationDescription(AllocationDescription* description) const {
  description->set_requested_bytes(size());
  description->set_allocator_name(allocator_->Name());
}

}  // namespace columnar
}  // namespace tensorflow
