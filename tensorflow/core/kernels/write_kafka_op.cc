#include <map>
#include <memory>
#include <string>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kafka/rdkafka_api.h"
#include "tensorflow/core/kafka/writer.h"
#include "tensorflow/core/kernels/kafka_inputs.h"

// How Python tells where librdkafka is.
extern "C" __attribute__((visibility("default"))) void deeprec_set_kafka_library(const char* path) {
  deeprec::kafka::SetRdKafkaPath(path);
}

namespace tensorflow {
namespace {

using deeprec::kafka::Writer;

// Keeps its connections: making one takes longer than writing a message.
class WriteKafkaOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    tstring message, topic, servers;
    OP_REQUIRES_OK(ctx, data::ParseScalarArgument<tstring>(ctx, "message", &message));
    OP_REQUIRES_OK(ctx, data::ParseScalarArgument<tstring>(ctx, "topic", &topic));
    OP_REQUIRES_OK(ctx, data::ParseScalarArgument<tstring>(ctx, "servers", &servers));
    std::shared_ptr<Writer> writer;
    OP_REQUIRES_OK(ctx, Find(servers, &writer));
    OP_REQUIRES_OK(ctx, writer->Write(topic, message, kafka::CancelledBy(ctx->cancellation_manager())));
    ctx->set_output(0, ctx->input(0));
  }

 private:
  absl::Status Find(const std::string& servers, std::shared_ptr<Writer>* writer) {
    mutex_lock lock(mu_);
    std::shared_ptr<Writer>& found = writers_[servers];
    if (found == nullptr) {
      absl::StatusOr<std::shared_ptr<Writer>> opened = Writer::Open(servers);
      if (!opened.ok()) return opened.status();
      found = *opened;
    }
    *writer = found;
    return absl::OkStatus();
  }

  mutex mu_;
  std::map<std::string, std::shared_ptr<Writer>> writers_ TF_GUARDED_BY(mu_);
};

REGISTER_KERNEL_BUILDER(Name("DeeprecWriteKafka").Device(DEVICE_CPU), WriteKafkaOp);

}  // namespace
}  // namespace tensorflow
