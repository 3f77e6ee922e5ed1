#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/stage/record_buffer.h"

namespace tensorflow {
namespace {

using deeprec::stage::RecordBuffer;
using Outcome = RecordBuffer::Outcome;
using Tensors = std::vector<Tensor>;

// Lives in a container of the device, so it ends with the session, or with the server that the session is on.
class StageBuffer : public ResourceBase {
 public:
  explicit StageBuffer(int64_t capacity) : buffer(RecordBuffer::Create(capacity)) {}
  std::string DebugString() const override { return "records of a stage"; }

  const std::shared_ptr<RecordBuffer> buffer;
};

// The buffer that an op is about.
class BufferName {
 public:
  explicit BufferName(OpKernelConstruction* ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_capacity", &capacity_));
  }

  absl::Status Find(OpKernelContext* ctx, const NodeDef& node, std::shared_ptr<RecordBuffer>* buffer) const {
    ContainerInfo info;
    TF_RETURN_IF_ERROR(info.Init(ctx->resource_manager(), node, /*use_node_name_as_default=*/true));
    StageBuffer* found = nullptr;
    TF_RETURN_IF_ERROR(ctx->resource_manager()->LookupOrCreate<StageBuffer>(info.container(), info.name(), &found,
                                                                            [this](StageBuffer** made) {
                                                                              *made = new StageBuffer(capacity_);
                                                                              return absl::OkStatus();
                                                                            }));
    *buffer = found->buffer;
    found->Unref();
    if (int64_t((*buffer)->capacity()) != capacity_) {
      return absl::InvalidArgumentError(absl::StrCat(
          "shared_capacity of the stage '", info.name(), "' is ", (*buffer)->capacity(), ", got ", capacity_, " in ",
          node.op()));
    }
    return absl::OkStatus();
  }

 private:
  int64_t capacity_;
};

std::string NameOf(const OpKernel& op) {
  std::string name;
  return GetNodeAttr(op.def(), "shared_name", &name).ok() && !name.empty() ? name : op.name();
}

// Some 30 years: what is longer would not fit into a time point.
std::chrono::milliseconds Timeout(int64_t millis) {
  return std::chrono::milliseconds(std::min<int64_t>(millis, 1000000000000));
}

// A put or a take: it never blocks the thread that it runs on, and ends with its run.
class WaitingOp : public AsyncOpKernel {
 public:
  explicit WaitingOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx), buffer_name_(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("timeout_millis", &timeout_));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) final {
    std::shared_ptr<RecordBuffer> buffer;
    OP_REQUIRES_OK_ASYNC(ctx, buffer_name_.Find(ctx, def(), &buffer), done);
    const auto wait = std::make_shared<RecordBuffer::Wait>();
    CancellationManager* const manager = ctx->cancellation_manager();
    CancellationToken token = 0;
    if (manager != nullptr) {
      token = manager->get_cancellation_token();
      if (!manager->RegisterCallback(token, [buffer, wait] { buffer->Cancel(wait); })) buffer->Cancel(wait);
    }
    Start(ctx, *buffer, wait,
          [this, ctx, manager, token, buffer, done = std::move(done)](Outcome outcome, RecordBuffer::Record record) {
            // Not DeregisterCallback: that waits for callbacks that run, and this may be called by one. A callback that is left finds
            // the wait over.
            if (manager != nullptr) manager->TryDeregisterCallback(token);
            ctx->SetStatus(Finish(ctx, *buffer, outcome, record));
            done();
          });
  }

 protected:
  std::chrono::milliseconds timeout() const { return Timeout(timeout_); }

 private:
  virtual void Start(OpKernelContext* ctx, RecordBuffer& buffer, std::shared_ptr<RecordBuffer::Wait> wait,
                     RecordBuffer::Done done) = 0;
  virtual absl::Status Finish(OpKernelContext* ctx, const RecordBuffer& buffer, Outcome outcome,
                              const RecordBuffer::Record& record) const = 0;

  const BufferName buffer_name_;
  int64_t timeout_;
};

class TensorBufferPutOp : public WaitingOp {
 public:
  using WaitingOp::WaitingOp;

 private:
  void Start(OpKernelContext* ctx, RecordBuffer& buffer, std::shared_ptr<RecordBuffer::Wait> wait,
             RecordBuffer::Done done) override {
    auto record = std::make_shared<Tensors>();
    record->reserve(ctx->num_inputs());
    for (int i = 0; i < ctx->num_inputs(); ++i) record->push_back(ctx->input(i));
    buffer.Put(std::move(wait), std::move(record), timeout(), std::move(done));
  }

  absl::Status Finish(OpKernelContext*, const RecordBuffer&, Outcome outcome,
                      const RecordBuffer::Record&) const override {
    switch (outcome) {
      case Outcome::kDone:
        return absl::OkStatus();
      case Outcome::kCancelled:
        return absl::CancelledError(absl::StrCat("The run that put into stage '", NameOf(*this), "' was cancelled"));
      case Outcome::kStopped:
        return absl::CancelledError(absl::StrCat("Stage '", NameOf(*this), "' was stopped"));
      case Outcome::kEnded:
        return absl::FailedPreconditionError(absl::StrCat("Stage '", NameOf(*this), "' has ended and takes no further record"));
      case Outcome::kTimedOut:
        return absl::DeadlineExceededError(absl::StrCat(
            "No record was taken from stage '", NameOf(*this), "' for ", timeout().count(),
                                        " ms; the record is kept"));
    }
    return absl::InternalError("unknown outcome");
  }
};

class TensorBufferTakeOp : public WaitingOp {
 public:
  using WaitingOp::WaitingOp;

 private:
  void Start(OpKernelContext*, RecordBuffer& buffer, std::shared_ptr<RecordBuffer::Wait> wait,
             RecordBuffer::Done done) override {
    buffer.Take(std::move(wait), timeout(), std::move(done));
  }

  absl::Status Finish(OpKernelContext* ctx, const RecordBuffer& buffer, Outcome outcome,
                      const RecordBuffer::Record& record) const override {
    switch (outcome) {
      case Outcome::kDone:
        return SetOutputs(ctx, *static_cast<const Tensors*>(record.get()));
      case Outcome::kCancelled:
        return absl::CancelledError(absl::StrCat("The run that took from stage '", NameOf(*this), "' was cancelled"));
      case Outcome::kStopped:
        return absl::CancelledError(absl::StrCat("Stage '", NameOf(*this), "' was stopped"));
      case Outcome::kEnded: {
        const RecordBuffer::Ending ending = buffer.ending();
        return absl::Status(absl::StatusCode(ending.code), ending.message);
      }
      case Outcome::kTimedOut:
        return absl::DeadlineExceededError(absl::StrCat(
            "Nothing has filled stage '", NameOf(*this), "' for ", timeout().count(),
                                        " ms: give tf.make_prefetch_hook() to the hooks of the session, or start the "
                                        "runners of tf.get_collection(\"prefetch\") with create_threads"));
    }
    return absl::InternalError("unknown outcome");
  }

  absl::Status SetOutputs(OpKernelContext* ctx, const Tensors& record) const {
    bool fits = int(record.size()) == ctx->num_outputs();
    for (int i = 0; fits && i < ctx->num_outputs(); ++i) fits = record[i].dtype() == output_type(i);
    if (!fits) {
      DataTypeVector got;
      for (const Tensor& tensor : record) got.push_back(tensor.dtype());
      return absl::InvalidArgumentError(absl::StrCat("dtypes of the records in stage '", NameOf(*this), "' are ",
                                     DataTypeVectorString(got), ", expected ", DataTypeVectorString(output_types())));
    }
    for (int i = 0; i < ctx->num_outputs(); ++i) ctx->set_output(i, record[i]);
    return absl::OkStatus();
  }
};

// An op that never waits.
class PromptOp : public OpKernel {
 public:
  explicit PromptOp(OpKernelConstruction* ctx) : OpKernel(ctx), buffer_name_(ctx) {}

  void Compute(OpKernelContext* ctx) final {
    std::shared_ptr<RecordBuffer> buffer;
    OP_REQUIRES_OK(ctx, buffer_name_.Find(ctx, def(), &buffer));
    OP_REQUIRES_OK(ctx, Do(ctx, *buffer));
  }

 private:
  virtual absl::Status Do(OpKernelContext* ctx, RecordBuffer& buffer) const = 0;

  const BufferName buffer_name_;
};

class TensorBufferCancelOp : public PromptOp {
 public:
  explicit TensorBufferCancelOp(OpKernelConstruction* ctx) : PromptOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("is_cancelled", &is_cancelled_));
  }

 private:
  absl::Status Do(OpKernelContext*, RecordBuffer& buffer) const override {
    is_cancelled_ ? buffer.Stop() : buffer.Resume();
    return absl::OkStatus();
  }

  bool is_cancelled_;
};

class TensorBufferCloseOp : public PromptOp {
 public:
  using PromptOp::PromptOp;

 private:
  absl::Status Do(OpKernelContext*, RecordBuffer& buffer) const override {
    buffer.End({int(absl::StatusCode::kOutOfRange), "Stage '" + NameOf(*this) + "' has no further record"});
    return absl::OkStatus();
  }
};

class TensorBufferFailOp : public PromptOp {
 public:
  using PromptOp::PromptOp;

 private:
  absl::Status Do(OpKernelContext* ctx, RecordBuffer& buffer) const override {
    const Tensor& code = ctx->input(0);
    const Tensor& message = ctx->input(1);
    if (!TensorShapeUtils::IsScalar(code.shape()) || !TensorShapeUtils::IsScalar(message.shape())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "code and message must be scalars, got shapes ", code.shape().DebugString(), " and ",
                                     message.shape().DebugString()));
    }
    const int value = code.scalar<int32_t>()();
    if (value < 1 || value > 16) {
      return absl::InvalidArgumentError(absl::StrCat("code must be that of an error, from 1 to 16, got ", value));
    }
    buffer.End({value, message.scalar<tstring>()()});
    return absl::OkStatus();
  }
};

class TensorBufferSizeOp : public PromptOp {
 public:
  using PromptOp::PromptOp;

 private:
  absl::Status Do(OpKernelContext* ctx, RecordBuffer& buffer) const override {
    Tensor* size = nullptr;
    TF_RETURN_IF_ERROR(ctx->allocate_output(0, TensorShape({}), &size));
    size->scalar<int32_t>()() = int32_t(std::min<size_t>(buffer.size(), std::numeric_limits<int32_t>::max()));
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("TensorBufferPut").Device(DEVICE_CPU), TensorBufferPutOp);
REGISTER_KERNEL_BUILDER(Name("TensorBufferTake").Device(DEVICE_CPU), TensorBufferTakeOp);
REGISTER_KERNEL_BUILDER(Name("TensorBufferCancel").Device(DEVICE_CPU), TensorBufferCancelOp);
REGISTER_KERNEL_BUILDER(Name("TensorBufferClose").Device(DEVICE_CPU), TensorBufferCloseOp);
REGISTER_KERNEL_BUILDER(Name("TensorBufferFail").Device(DEVICE_CPU), TensorBufferFailOp);
REGISTER_KERNEL_BUILDER(Name("TensorBufferSize").Device(DEVICE_CPU), TensorBufferSizeOp);

}  // namespace
}  // namespace tensorflow
