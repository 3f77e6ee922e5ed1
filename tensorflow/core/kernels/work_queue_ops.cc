#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"
#include "tensorflow/core/work_queue/work_queue.h"

namespace tensorflow {
namespace {

using deeprec::WorkQueue;
using Outcome = WorkQueue::Outcome;

// Lives in a container of the device, so it ends with the session, or with the server that it is on.
class WorkQueueResource : public ResourceBase {
 public:
  std::string DebugString() const override { return absl::StrCat("queue of ", queue.size(), " works"); }

  WorkQueue queue;
};

using Found = core::RefCountPtr<WorkQueueResource>;

absl::Status Find(OpKernelContext* ctx, Found* found) {
  const ResourceHandle& handle = HandleFromInput(ctx, 0);
  absl::Status status = LookupResource(ctx, handle, found);
  if (!absl::IsNotFound(status)) return status;
  return absl::FailedPreconditionError(
      absl::StrCat("The work queue '", handle.name(), "' is not initialized: run tf.global_variables_initializer() and ",
                   "the initializers of tf.GraphKeys.RESOURCES, as tf.train.MonitoredTrainingSession does"));
}

// The string of an input that must be a scalar.
absl::Status ScalarInput(OpKernelContext* ctx, const char* name, std::string* value) {
  const Tensor* tensor;
  TF_RETURN_IF_ERROR(ctx->input(name, &tensor));
  if (!TensorShapeUtils::IsScalar(tensor->shape())) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " must be a scalar, got shape ", tensor->shape().DebugString()));
  }
  *value = tensor->scalar<tstring>()();
  return absl::OkStatus();
}

absl::Status Strings(const Tensor& tensor, const std::string& what, std::vector<std::string>* values) {
  if (tensor.dtype() != DT_STRING || !TensorShapeUtils::IsVector(tensor.shape())) {
    return absl::InvalidArgumentError(absl::StrCat(what, " must be a vector of strings, got ",
                                                   DataTypeString(tensor.dtype()), " of shape ",
                                                   tensor.shape().DebugString()));
  }
  const auto flat = tensor.flat<tstring>();
  values->assign(flat.data(), flat.data() + flat.size());
  return absl::OkStatus();
}

template <typename T>
absl::Status ScalarOutput(OpKernelContext* ctx, T value) {
  Tensor* output = nullptr;
  TF_RETURN_IF_ERROR(ctx->allocate_output(0, TensorShape({}), &output));
  output->scalar<T>()() = std::move(value);
  return absl::OkStatus();
}

class HandleOp : public OpKernel {
 public:
  explicit HandleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    ContainerInfo info;
    OP_REQUIRES_OK(ctx, info.Init(ctx->resource_manager(), def(), /*use_node_name_as_default=*/true));
    OP_REQUIRES_OK(ctx, ScalarOutput(ctx, MakeResourceHandle<WorkQueueResource>(ctx, info.container(), info.name())));
  }
};

// An op on a queue that never waits.
class PromptOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) final {
    Found found;
    OP_REQUIRES_OK(ctx, Find(ctx, &found));
    OP_REQUIRES_OK(ctx, Do(ctx, found->queue));
  }

 private:
  virtual absl::Status Do(OpKernelContext* ctx, WorkQueue& queue) const = 0;
};

absl::Status Make(OpKernelContext* ctx, Found* made) {
  WorkQueueResource* resource = nullptr;
  TF_RETURN_IF_ERROR(LookupOrCreateResource<WorkQueueResource>(ctx, HandleFromInput(ctx, 0), &resource,
                                                               [](WorkQueueResource** made) {
                                                                 *made = new WorkQueueResource;
                                                                 return absl::OkStatus();
                                                               }));
  made->reset(resource);
  return absl::OkStatus();
}

class CreateOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    Found made;
    OP_REQUIRES_OK(ctx, Make(ctx, &made));
    made->queue.Reset();
  }
};

class IsInitializedOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    Found found;
    OP_REQUIRES_OK(ctx, ScalarOutput(ctx, LookupResource(ctx, HandleFromInput(ctx, 0), &found).ok()));
  }
};

class PutOp : public PromptOp {
 public:
  using PromptOp::PromptOp;

 private:
  absl::Status Do(OpKernelContext* ctx, WorkQueue& queue) const override {
    std::vector<std::string> works;
    TF_RETURN_IF_ERROR(Strings(ctx->input(1), "works", &works));
    if (queue.Put(std::move(works))) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("The work queue '", HandleFromInput(ctx, 0).name(), "' is closed and takes no further works"));
  }
};

class CloseOp : public PromptOp {
 public:
  using PromptOp::PromptOp;

 private:
  absl::Status Do(OpKernelContext*, WorkQueue& queue) const override {
    queue.Close();
    return absl::OkStatus();
  }
};

class SizeOp : public PromptOp {
 public:
  using PromptOp::PromptOp;

 private:
  absl::Status Do(OpKernelContext* ctx, WorkQueue& queue) const override {
    return ScalarOutput(ctx, int64_t(queue.size()));
  }
};

class SaveOp : public PromptOp {
 public:
  using PromptOp::PromptOp;

 private:
  absl::Status Do(OpKernelContext* ctx, WorkQueue& queue) const override {
    const std::vector<std::string> works = queue.Unfinished();
    Tensor* output = nullptr;
    TF_RETURN_IF_ERROR(ctx->allocate_output(0, TensorShape({int64_t(works.size())}), &output));
    std::copy(works.begin(), works.end(), output->flat<tstring>().data());
    return absl::OkStatus();
  }
};

class RestoreOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    std::vector<std::string> works;
    OP_REQUIRES_OK(ctx, Strings(ctx->input(1), "works", &works));
    Found made;
    OP_REQUIRES_OK(ctx, Make(ctx, &made));
    made->queue.Restore(std::move(works));
  }
};

class ImportOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    bool restored = false;
    OP_REQUIRES_OK(ctx, Import(ctx, &restored));
    OP_REQUIRES_OK(ctx, ScalarOutput(ctx, restored));
  }

 private:
  static absl::Status Import(OpKernelContext* ctx, bool* restored) {
    std::string prefix, name, digest;
    TF_RETURN_IF_ERROR(ScalarInput(ctx, "prefix", &prefix));
    TF_RETURN_IF_ERROR(ScalarInput(ctx, "queue_name", &name));
    TF_RETURN_IF_ERROR(ScalarInput(ctx, "digest", &digest));
    BundleReader reader(ctx->env(), prefix);
    TF_RETURN_IF_ERROR(reader.status());
    const std::string digest_name = name + "_digest", works_name = name + "_works";
    if (!reader.Contains(digest_name) || !reader.Contains(works_name)) return absl::OkStatus();
    Tensor saved_digest, saved_works;
    TF_RETURN_IF_ERROR(Read(&reader, digest_name, &saved_digest));
    if (saved_digest.dtype() != DT_STRING || saved_digest.NumElements() != 1) {
      return absl::InvalidArgumentError(absl::StrCat("Tensor ", digest_name, " of the checkpoint ", prefix,
                                                     " must be a string, got ", saved_digest.DebugString()));
    }
    if (saved_digest.flat<tstring>()(0) != digest) return absl::OkStatus();
    TF_RETURN_IF_ERROR(Read(&reader, works_name, &saved_works));
    std::vector<std::string> works;
    TF_RETURN_IF_ERROR(
        Strings(saved_works, absl::StrCat("Tensor ", works_name, " of the checkpoint ", prefix), &works));
    Found made;
    TF_RETURN_IF_ERROR(Make(ctx, &made));
    made->queue.Restore(std::move(works));
    *restored = true;
    return absl::OkStatus();
  }

  static absl::Status Read(BundleReader* reader, const std::string& name, Tensor* tensor) {
    DataType dtype;
    TensorShape shape;
    TF_RETURN_IF_ERROR(reader->LookupDtypeAndShape(name, &dtype, &shape));
    *tensor = Tensor(dtype, shape);
    return reader->Lookup(name, tensor);
  }
};

// A take: it never blocks the thread that it runs on, and ends with its run.
class WaitingOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) final {
    Found found;
    OP_REQUIRES_OK_ASYNC(ctx, Find(ctx, &found), done);
    std::string client;
    OP_REQUIRES_OK_ASYNC(ctx, Client(ctx, &client), done);
    // Held by whoever may still call.
    const std::shared_ptr<WorkQueueResource> kept(found.release(), [](WorkQueueResource* r) { r->Unref(); });
    const auto wait = std::make_shared<WorkQueue::Wait>();
    CancellationManager* const manager = ctx->cancellation_manager();
    CancellationToken token = 0;
    if (manager != nullptr) {
      token = manager->get_cancellation_token();
      if (!manager->RegisterCallback(token, [kept, wait] { kept->queue.Cancel(wait); })) kept->queue.Cancel(wait);
    }
    const std::string name = HandleFromInput(ctx, 0).name();
    auto end = [ctx, manager, token, kept, name, done = std::move(done)](Outcome outcome, std::string work) {
      // Not DeregisterCallback: that waits for callbacks that run, and this may be called by one. A callback that is left finds the
      // wait over.
      if (manager != nullptr) manager->TryDeregisterCallback(token);
      ctx->SetStatus(Finish(ctx, name, outcome, std::move(work)));
      done();
    };
    Start(kept->queue, std::move(client), wait, std::move(end));
  }

 private:
  virtual absl::Status Client(OpKernelContext* ctx, std::string* client) const { return absl::OkStatus(); }
  virtual void Start(WorkQueue& queue, std::string client, std::shared_ptr<WorkQueue::Wait> wait,
                     WorkQueue::Done done) = 0;

  static absl::Status Finish(OpKernelContext* ctx, const std::string& name, Outcome outcome, std::string work) {
    switch (outcome) {
      case Outcome::kTaken:
        return ScalarOutput(ctx, tstring(std::move(work)));
      case Outcome::kExhausted:
        return absl::OutOfRangeError(absl::StrCat("All works of the work queue '", name, "' are taken"));
      case Outcome::kCancelled:
        return absl::CancelledError(absl::StrCat("The run that took from the work queue '", name, "' was cancelled"));
    }
    return absl::InternalError("unknown outcome");
  }
};

class TakeOp : public WaitingOp {
 public:
  using WaitingOp::WaitingOp;

 private:
  void Start(WorkQueue& queue, std::string, std::shared_ptr<WorkQueue::Wait> wait, WorkQueue::Done done) override {
    queue.Take(std::move(wait), std::move(done));
  }
};

class LendOp : public WaitingOp {
 public:
  using WaitingOp::WaitingOp;

 private:
  absl::Status Client(OpKernelContext* ctx, std::string* client) const override {
    return ScalarInput(ctx, "client", client);
  }
  void Start(WorkQueue& queue, std::string client, std::shared_ptr<WorkQueue::Wait> wait,
             WorkQueue::Done done) override {
    queue.Lend(std::move(client), std::move(wait), std::move(done));
  }
};

class SettleOp : public PromptOp {
 public:
  explicit SettleOp(OpKernelConstruction* ctx) : PromptOp(ctx) { OP_REQUIRES_OK(ctx, ctx->GetAttr("keep", &keep_)); }

 private:
  absl::Status Do(OpKernelContext* ctx, WorkQueue& queue) const override {
    std::string client;
    TF_RETURN_IF_ERROR(ScalarInput(ctx, "client", &client));
    queue.Settle(client, keep_);
    return absl::OkStatus();
  }

  int64_t keep_ = 0;
};

class ReclaimOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    std::string client;
    OP_REQUIRES_OK(ctx, ScalarInput(ctx, "client", &client));
    Found found;
    const absl::Status status = LookupResource(ctx, HandleFromInput(ctx, 0), &found);
    if (absl::IsNotFound(status)) return;
    OP_REQUIRES_OK(ctx, status);
    found->queue.Reclaim(client);
  }
};

class ClientOp : public OpKernel {
 public:
  explicit ClientOp(OpKernelConstruction* ctx) : OpKernel(ctx) { OP_REQUIRES_OK(ctx, ctx->GetAttr("reader", &reader_)); }

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, ScalarOutput(ctx, tstring(absl::StrCat(ctx->device()->name(), "/", reader_))));
  }

 private:
  std::string reader_;
};

REGISTER_KERNEL_BUILDER(Name("WorkQueueHandleOp").Device(DEVICE_CPU), HandleOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueCreate").Device(DEVICE_CPU), CreateOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueIsInitialized").Device(DEVICE_CPU), IsInitializedOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueuePut").Device(DEVICE_CPU), PutOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueClose").Device(DEVICE_CPU), CloseOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueSize").Device(DEVICE_CPU), SizeOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueSave").Device(DEVICE_CPU), SaveOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueRestore").Device(DEVICE_CPU), RestoreOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueImport").Device(DEVICE_CPU), ImportOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueTake").Device(DEVICE_CPU), TakeOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueLend").Device(DEVICE_CPU), LendOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueSettle").Device(DEVICE_CPU), SettleOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueReclaim").Device(DEVICE_CPU), ReclaimOp);
REGISTER_KERNEL_BUILDER(Name("WorkQueueClient").Device(DEVICE_CPU), ClientOp);

}  // namespace
}  // namespace tensorflow
