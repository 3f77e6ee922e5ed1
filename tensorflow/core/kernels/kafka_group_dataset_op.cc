// The dataset of the messages that a member of a consumer group is given.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/kafka/group_reader.h"
#include "tensorflow/core/kernels/kafka_inputs.h"

namespace tensorflow {
namespace data {
namespace {

using deeprec::kafka::GroupReader;

// The inputs and attributes of the op.
struct Settings {
  std::vector<tstring> topics;
  tstring group_id;
  tstring servers;
  int64_t stream_timeout;
  int64_t message_poll_timeout;
  std::vector<tstring> configuration;
  DataTypeVector output_types;
  std::vector<PartialTensorShape> output_shapes;
};

class KafkaGroupDataset : public tensorflow::kafka::MessageDataset<Settings, GroupReader::Options> {
 public:
  using MessageDataset::MessageDataset;

  std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override;
  std::string DebugString() const override { return "KafkaGroupDatasetOp::Dataset"; }

 protected:
  absl::Status AsGraphDefInternal(SerializationContext* ctx, DatasetGraphDefBuilder* b, Node** output) const override {
    std::vector<Node*> inputs(6);
    TF_RETURN_IF_ERROR(b->AddVector(settings().topics, &inputs[0]));
    TF_RETURN_IF_ERROR(b->AddScalar(settings().group_id, &inputs[1]));
    TF_RETURN_IF_ERROR(b->AddScalar(settings().servers, &inputs[2]));
    TF_RETURN_IF_ERROR(b->AddScalar(settings().stream_timeout, &inputs[3]));
    TF_RETURN_IF_ERROR(b->AddScalar(settings().message_poll_timeout, &inputs[4]));
    TF_RETURN_IF_ERROR(b->AddVector(settings().configuration, &inputs[5]));
    return b->AddDataset(this, inputs, output);
  }

 private:
  class Iterator;
};

class KafkaGroupDataset::Iterator : public DatasetIterator<KafkaGroupDataset> {
 public:
  using DatasetIterator<KafkaGroupDataset>::DatasetIterator;

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    mutex_lock lock(mu_);
    *end_of_sequence = ended_;
    if (ended_) return absl::OkStatus();
    const deeprec::kafka::Cancelled cancelled = tensorflow::kafka::CancelledBy(ctx->cancellation_manager());
    if (reader_ == nullptr) {
      absl::StatusOr<std::unique_ptr<GroupReader>> reader = GroupReader::Open(dataset()->options(), places_, cancelled);
      if (!reader.ok()) return reader.status();
      reader_ = std::move(*reader);
    }
    std::string_view value, key;
    const absl::StatusOr<bool> found = reader_->Next(cancelled, &value, &key);
    if (!found.ok()) return found.status();
    if (!*found) {
      // A member that reads no more must leave: the others wait for it in the next rebalance.
      places_ = reader_->places();
      reader_.reset();
      ended_ = *end_of_sequence = true;
      return absl::OkStatus();
    }
    out_tensors->push_back(tensorflow::kafka::Text(value));
    out_tensors->push_back(tensorflow::kafka::Text(key));
    return absl::OkStatus();
  }

 protected:
  std::shared_ptr<model::Node> CreateNode(IteratorContext* ctx, model::Node::Args args) const override {
    return model::MakeSourceNode(std::move(args));
  }

  absl::Status SaveInternal(SerializationContext* ctx, IteratorStateWriter* writer) override {
    mutex_lock lock(mu_);
    const GroupReader::Places& places = reader_ == nullptr ? places_ : reader_->places();
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "partitions", static_cast<int64_t>(places.size())));
    int64_t i = 0;
    for (const auto& [partition, offset] : places) {
      TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), absl::StrCat("topic_", i), tstring(partition.first)));
      TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), absl::StrCat("partition_", i), int64_t{partition.second}));
      TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), absl::StrCat("offset_", i), offset));
      ++i;
    }
    return absl::OkStatus();
  }

  absl::Status RestoreInternal(IteratorContext* ctx, IteratorStateReader* reader) override {
    mutex_lock lock(mu_);
    reader_.reset();
    // What came since is read.
    ended_ = false;
    places_.clear();
    int64_t count;
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "partitions", &count));
    for (int64_t i = 0; i < count; ++i) {
      tstring topic;
      int64_t partition, offset;
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), absl::StrCat("topic_", i), &topic));
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), absl::StrCat("partition_", i), &partition));
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), absl::StrCat("offset_", i), &offset));
      places_[{topic, static_cast<int32_t>(partition)}] = offset;
    }
    return absl::OkStatus();
  }

 private:
  mutex mu_;
  std::unique_ptr<GroupReader> reader_ TF_GUARDED_BY(mu_);
  // Where to begin, or where it ended.
  GroupReader::Places places_ TF_GUARDED_BY(mu_);
  bool ended_ TF_GUARDED_BY(mu_) = false;
};

std::unique_ptr<IteratorBase> KafkaGroupDataset::MakeIteratorInternal(const std::string& prefix) const {
  return std::make_unique<Iterator>(Iterator::Params{this, absl::StrCat(prefix, "::KafkaGroup")});
}

class KafkaGroupDatasetOp : public DatasetOpKernel {
 public:
  explicit KafkaGroupDatasetOp(OpKernelConstruction* ctx) : DatasetOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_types", &settings_.output_types));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &settings_.output_shapes));
    OP_REQUIRES(ctx, settings_.output_types == DataTypeVector(2, DT_STRING) && settings_.output_shapes.size() == 2,
                absl::InvalidArgumentError("output_types must be 2 strings, with as many output_shapes"));
  }

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase** output) override {
    Settings settings = settings_;
    OP_REQUIRES_OK(ctx, tensorflow::kafka::Strings(ctx, "topics", &settings.topics));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<tstring>(ctx, "group_id", &settings.group_id));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<tstring>(ctx, "servers", &settings.servers));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "stream_timeout", &settings.stream_timeout));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "message_poll_timeout", &settings.message_poll_timeout));
    OP_REQUIRES_OK(ctx, tensorflow::kafka::Strings(ctx, "configuration", &settings.configuration));
    OP_REQUIRES(ctx, !settings.topics.empty(), absl::InvalidArgumentError("topics must have at least one, got none"));
    OP_REQUIRES(ctx, !settings.group_id.empty(), absl::InvalidArgumentError("group_id must not be empty"));
    OP_REQUIRES(ctx, settings.message_poll_timeout > 0,
                absl::InvalidArgumentError(absl::StrCat("message_poll_timeout must be at least 1 (millisecond), got ",
                                                        settings.message_poll_timeout)));
    GroupReader::Options options;
    options.topics.assign(settings.topics.begin(), settings.topics.end());
    options.stream_timeout_ms = settings.stream_timeout;
    options.poll_timeout_ms = settings.message_poll_timeout;
    options.properties = {{"bootstrap.servers", settings.servers}, {"group.id", settings.group_id}};
    OP_REQUIRES_OK(ctx, tensorflow::kafka::AppendProperties("configuration", settings.configuration, "conf.topic.",
                                                            &options.properties));
    *output = new KafkaGroupDataset(ctx, std::move(settings), std::move(options));
  }

 private:
  Settings settings_;
};

REGISTER_KERNEL_BUILDER(Name("DeeprecKafkaGroupDataset").Device(DEVICE_CPU), KafkaGroupDatasetOp);

}  // namespace
}  // namespace data
}  // namespace tensorflow
