// Tensors of texts, made in place.
//
// The memory of an ordinary tensor of strings is zeroed first, then assigned to, and walked over once more when it is given
// back; and every dataset that it passes through adds up the sizes of all its strings. Texts of columns are short and many,
// so that was half of the time that a column of them took.

#ifndef TENSORFLOW_CORE_KERNELS_COLUMNAR_TEXTS_H_
#define TENSORFLOW_CORE_KERNELS_COLUMNAR_TEXTS_H_

#include <cstdint>
#include <cstring>
#include <new>

#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace tensorflow {
namespace columnar {

// Texts that are appended, and then are a tensor.
class Texts : public TensorBuffer {
 public:
  // Room for `capacity` texts; null if there is no memory for them.
  static core::RefCountPtr<Texts> Create(Allocator* allocator, int64_t capacity);

  void Append(const char* text, size_t size) {
    tstring* const to = base<tstring>() + size_++;
    text_bytes_ += size;
    if (size > TF_TString_SmallCapacity) {
      new (to) tstring(text, size);
      has_large_ = true;
      return;
    }
    // Straight into its place: a copy made aside would be read before its parts are written through.
    auto* const small = reinterpret_cast<TF_TString_Small*>(to);
    small->size = static_cast<uint8_t>(size << 2 | TF_TSTR_SMALL);
    CopySmall(text, size, small->str);
    small->str[size] = '\0';
  }

  size_t size() const override { return size_ * sizeof(tstring); }
  TensorBuffer* root_buffer() override { return this; }
  // The same number as for an ordinary tensor of strings, without counting.
  bool GetAllocatedBytes(size_t* bytes) const override;
  void FillAllocationDescription(AllocationDescription* description) const override;
  // So no kernel writes its output over it: the destructor takes its word for which texts have memory of their own.
  bool OwnsMemory() const override { return false; }

 private:
  Texts(Allocator* allocator, void* data) : TensorBuffer(data), allocator_(allocator) {}
  ~Texts() override;

  // Copies of a known size, which overlap: an instruction each, where a call of memcpy is some 5 ns.
  static void CopySmall(const char* from, size_t size, char* to) {
    if (size >= 8) {
      memcpy(to, from, 8);
      if (size > 16) memcpy(to + 8, from + 8, 8);
      memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
      memcpy(to, from, 4);
      memcpy(to + size - 4, from + size - 4, 4);
    } else {
      for (size_t i = 0; i < size; ++i) to[i] = from[i];
    }
  }

  Allocator* const allocator_;
  int64_t size_ = 0;
  int64_t text_bytes_ = 0;
  bool has_large_ = false;
};

// The texts that fill(append) appends, as many as `shape` has elements; append is called as append(const char*, size_t).
// ResourceExhausted if there is no memory.
template <class Fill>
absl::Status MakeTexts(const TensorShape& shape, Allocator* allocator, Fill fill, Tensor* tensor) {
  if (shape.num_elements() == 0) {
    *tensor = Tensor(allocator, DT_STRING, shape);
    return absl::OkStatus();
  }
  core::RefCountPtr<Texts> texts = Texts::Create(allocator, shape.num_elements());
  if (texts == nullptr) return absl::ResourceExhaustedError("no memory for a batch of texts; take a smaller batch_size");
  fill([to = texts.get()](const char* text, size_t size) { to->Append(text, size); });
  *tensor = Tensor(DT_STRING, shape, core::RefCountPtr<TensorBuffer>(texts.release()));
  return absl::OkStatus();
}

}  // namespace columnar
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_COLUMNAR_TEXTS_H_
