// Kernels of ops/kv_rows_ops.cc that number keys.

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/embedding/key_numbers.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace tensorflow {
namespace {

class KeyNumbersResource : public ResourceBase {
 public:
  std::string DebugString() const override { return absl::StrCat("numbers of ", numbers.size(), " keys"); }
  int64_t MemoryUsed() const override { return numbers.MemoryBytes(); }

  deeprec::embedding::KeyNumbers numbers;
};

absl::Status Open(OpKernelContext* ctx, core::RefCountPtr<KeyNumbersResource>* resource) {
  return LookupOrCreateResource<KeyNumbersResource>(ctx, HandleFromInput(ctx, 0), resource, [](KeyNumbersResource** made) {
    *made = new KeyNumbersResource;
    return absl::OkStatus();
  });
}

class KeyNumbersFindOp : public OpKernel {
 public:
  explicit KeyNumbersFindOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("capacity", &capacity_));
  }
  void Compute(OpKernelContext* ctx) override {
    core::RefCountPtr<KeyNumbersResource> resource;
    OP_REQUIRES_OK(ctx, Open(ctx, &resource));
    const Tensor &keys = ctx->input(1), &insert = ctx->input(2);
    OP_REQUIRES(ctx, insert.NumElements() == 1,
                absl::InvalidArgumentError(absl::StrCat("insert must be a scalar, got shape ", insert.shape().DebugString())));
    Tensor* output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, keys.shape(), &output));
    const int64_t n = keys.NumElements();
    const int64_t* const of_keys = keys.flat<int64_t>().data();
    int64_t* const to = output->flat<int64_t>().data();
    if (!insert.flat<bool>()(0)) return resource->numbers.Find(of_keys, n, to);
    try {
      OP_REQUIRES(ctx, resource->numbers.FindOrNumber(of_keys, n, capacity_, to),
                  absl::ResourceExhaustedError(absl::StrCat(
                      HandleFromInput(ctx, 0).name(), " has room for ", capacity_, " different keys, of which ",
                      resource->numbers.size(), " are taken; this batch brings more new ones than are left")));
    } catch (const std::bad_alloc&) {
      ctx->SetStatus(absl::ResourceExhaustedError(absl::StrCat("Out of memory for ", HandleFromInput(ctx, 0).name())));
    }
  }

 private:
  int64_t capacity_;
};

class KeyNumbersAssignOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    core::RefCountPtr<KeyNumbersResource> resource;
    OP_REQUIRES_OK(ctx, Open(ctx, &resource));
    const Tensor& keys = ctx->input(1);
    OP_REQUIRES(ctx, resource->numbers.Assign(keys.flat<int64_t>().data(), keys.NumElements()),
                absl::InvalidArgumentError(absl::StrCat(HandleFromInput(ctx, 0).name(),
                                                        ": keys must differ, got one of them twice")));
  }
};

class KeyNumbersExportOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    core::RefCountPtr<KeyNumbersResource> resource;
    OP_REQUIRES_OK(ctx, Open(ctx, &resource));
    const std::vector<int64_t> keys = resource->numbers.Keys();
    Tensor* output;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({int64_t(keys.size())}), &output));
    std::copy(keys.begin(), keys.end(), output->flat<int64_t>().data());
  }
};

REGISTER_KERNEL_BUILDER(Name("KeyNumbersHandle").Device(DEVICE_CPU), ResourceHandleOp<KeyNumbersResource>);
REGISTER_KERNEL_BUILDER(Name("KeyNumbersFind").Device(DEVICE_CPU), KeyNumbersFindOp);
REGISTER_KERNEL_BUILDER(Name("KeyNumbersAssign").Device(DEVICE_CPU), KeyNumbersAssignOp);
REGISTER_KERNEL_BUILDER(Name("KeyNumbersExport").Device(DEVICE_CPU), KeyNumbersExportOp);

}  // namespace
}  // namespace tensorflow
