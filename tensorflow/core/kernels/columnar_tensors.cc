#include "tensorflow/core/kernels/columnar_tensors.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/allocation_description.pb.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/kernels/columnar_texts.h"

namespace tensorflow {
namespace columnar {
namespace {

using deeprec::columnar::ColumnType;
using deeprec::columnar::Contiguous;
using deeprec::columnar::Cut;
using deeprec::columnar::Element;
using deeprec::columnar::Piece;

// Below it, sharing costs more than copying.
constexpr int64_t kMinSharedBytes = 4096;
// What kernels take for granted of tensors.
constexpr uintptr_t kAlignment = 64;

// Memory of a record batch that is still alive.
class BatchBuffer : public TensorBuffer {
 public:
  BatchBuffer(const void* data, size_t size, std::shared_ptr<const Batch> batch)
      : TensorBuffer(const_cast<void*>(data)), size_(size), batch_(std::move(batch)) {}

  size_t size() const override { return size_; }
  TensorBuffer* root_buffer() override { return this; }
  // So no kernel writes its output over it.
  bool OwnsMemory() const override { return false; }
  void FillAllocationDescription(AllocationDescription* description) const override {
    description->set_requested_bytes(size_);
    description->set_allocator_name("arrow");
  }

 private:
  const size_t size_;
  const std::shared_ptr<const Batch> batch_;
};

// Whether the elements may stay where they are: a slice would keep all of its array alive.
bool CanShare(const void* data, int64_t bytes, const Cut& cut) {
  const Piece& run = cut.elements[0];
  return bytes >= kMinSharedBytes && reinterpret_cast<uintptr_t>(data) % kAlignment == 0 &&
         2 * cut.num_elements >= run.array->length;
}

absl::Status Values(const Field& field, const ColumnType& type, const Cut& cut, const TensorShape& shape,
                    const std::vector<Rows>& rows, Allocator* allocator, Tensor* values) {
  if (type.element == Element::kBytes) {
    return MakeTexts(
        shape, allocator,
        [&](auto append) {
          deeprec::columnar::ForEachBytes(
              type, cut, [&append](std::string_view text) { append(text.data(), text.size()); });
        },
        values);
  }
  const int64_t bytes = cut.num_elements * deeprec::columnar::Width(type.element);
  const void* const data = Contiguous(type, cut);
  if (data != nullptr && rows.size() == 1 && CanShare(data, bytes, cut)) {
    *values =
        Tensor(field.dtype, shape, core::RefCountPtr<TensorBuffer>(new BatchBuffer(data, bytes, rows[0].batch)));
    return absl::OkStatus();
  }
  *values = Tensor(allocator, field.dtype, shape);
  if (cut.num_elements > 0) deeprec::columnar::CopyElements(type, cut, values->data());
  return absl::OkStatus();
}

Tensor Splits(const std::vector<int32_t>& splits, Allocator* allocator) {
  Tensor tensor(allocator, DT_INT32, TensorShape({static_cast<int64_t>(splits.size())}));
  memcpy(tensor.data(), splits.data(), splits.size() * sizeof(int32_t));
  return tensor;
}

}  // namespace

DataType DataTypeOf(Element element) {
  switch (element) {
    case Element::kBool: return DT_BOOL;
    case Element::kInt8: return DT_INT8;
    case Element::kUInt8: return DT_UINT8;
    case Element::kInt16: return DT_INT16;
    case Element::kUInt16: return DT_UINT16;
    case Element::kInt32: return DT_INT32;
    case Element::kUInt32: return DT_UINT32;
    case Element::kInt64: return DT_INT64;
    case Element::kUInt64: return DT_UINT64;
    case Element::kHalf: return DT_HALF;
    case Element::kFloat: return DT_FLOAT;
    case Element::kDouble: return DT_DOUBLE;
    case Element::kBytes: return DT_STRING;
  }
}

absl::Status AppendTensors(const Field& field, const BatchStream::Column& column, const std::vector<Rows>& rows,
                           Allocator* allocator, std::vector<Tensor>* tensors) {
  std::vector<Piece> pieces;
  int64_t num_rows = 0;
  for (const Rows& run : rows) {
    const deeprec::columnar::ArrowArray& batch = run.batch->array();
    pieces.push_back({batch.children[column.place], batch.offset + run.begin, batch.offset + run.end});
    num_rows += run.end - run.begin;
  }
  Cut cut;
  const std::string error = deeprec::columnar::CutRows(column.type, pieces, field.ragged_rank, field.shape, &cut);
  if (!error.empty()) return absl::InvalidArgumentError(absl::StrCat("column '", field.name, "': ", error));

  int64_t inner = 1;
  for (int64_t dimension : field.shape) inner *= dimension;
  // Without elements to count, the rows or the innermost lists say how many values there are.
  const int64_t outer = inner > 0             ? cut.num_elements / inner
                        : cut.splits.empty() ? num_rows
                                             : cut.splits.back().back();
  TensorShape shape({outer});
  for (int64_t dimension : field.shape) shape.AddDim(dimension);
  Tensor values;
  TF_RETURN_IF_ERROR(Values(field, column.type, cut, shape, rows, allocator, &values));
  tensors->push_back(std::move(values));
  for (const std::vector<int32_t>& splits : cut.splits) tensors->push_back(Splits(splits, allocator));
  return absl::OkStatus();
}

}  // namespace columnar
}  // namespace tensorflow
