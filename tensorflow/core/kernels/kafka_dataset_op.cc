// The dataset of the messages of some partitions.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/kafka/partition_reader.h"
#include "tensorflow/core/kernels/kafka_inputs.h"

namespace tensorflow {
namespace data {
namespace {

using deeprec::kafka::PartitionReader;

// The inputs and attributes of the op.
struct Settings {
  std::vector<tstring> topics;
  tstring servers;
  tstring group;
  bool eof;
  int64_t timeout;
  std::vector<tstring> config_global;
  std::vector<tstring> config_topic;
  bool message_key;
  DataTypeVector output_types;
  std::vector<PartialTensorShape> output_shapes;
};

class KafkaDataset : public tensorflow::kafka::MessageDataset<Settings, PartitionReader::Options> {
 public:
  using MessageDataset::MessageDataset;

  std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override;
  std::string DebugString() const override { return "KafkaDatasetOp::Dataset"; }

 protected:
  absl::Status AsGraphDefInternal(SerializationContext* ctx, DatasetGraphDefBuilder* b, Node** output) const override {
    std::vector<Node*> inputs(7);
    TF_RETURN_IF_ERROR(b->AddVector(settings().topics, &inputs[0]));
    TF_RETURN_IF_ERROR(b->AddScalar(settings().servers, &inputs[1]));
    TF_RETURN_IF_ERROR(b->AddScalar(settings().group, &inputs[2]));
    TF_RETURN_IF_ERROR(b->AddScalar(settings().eof, &inputs[3]));
    TF_RETURN_IF_ERROR(b->AddScalar(settings().timeout, &inputs[4]));
    TF_RETURN_IF_ERROR(b->AddVector(settings().config_global, &inputs[5]));
    TF_RETURN_IF_ERROR(b->AddVector(settings().config_topic, &inputs[6]));
    AttrValue message_key;
    b->BuildAttrValue(settings().message_key, &message_key);
    return b->AddDataset(this, inputs, {{"message_key", message_key}}, output);
  }

 private:
  class Iterator;
};

class KafkaDataset::Iterator : public DatasetIterator<KafkaDataset> {
 public:
  using DatasetIterator<KafkaDataset>::DatasetIterator;

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    mutex_lock lock(mu_);
    const deeprec::kafka::Cancelled cancelled = tensorflow::kafka::CancelledBy(ctx->cancellation_manager());
    if (reader_ == nullptr) {
      absl::StatusOr<std::unique_ptr<PartitionReader>> reader =
          PartitionReader::Open(dataset()->options(), places_, cancelled);
      if (!reader.ok()) return reader.status();
      reader_ = std::move(*reader);
    }
    std::string_view value, key;
    const absl::StatusOr<bool> found = reader_->Next(cancelled, &value, &key);
    if (!found.ok()) return found.status();
    *end_of_sequence = !*found;
    if (*end_of_sequence) return absl::OkStatus();
    out_tensors->push_back(tensorflow::kafka::Text(value));
    if (dataset()->settings().message_key) out_tensors->push_back(tensorflow::kafka::Text(key));
    return absl::OkStatus();
  }

 protected:
  std::shared_ptr<model::Node> CreateNode(IteratorContext* ctx, model::Node::Args args) const override {
    return model::MakeSourceNode(std::move(args));
  }

  absl::Status SaveInternal(SerializationContext* ctx, IteratorStateWriter* writer) override {
    mutex_lock lock(mu_);
    const std::vector<PartitionReader::Place> places = reader_ == nullptr ? places_ : reader_->places();
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "partitions", static_cast<int64_t>(places.size())));
    for (size_t i = 0; i < places.size(); ++i) {
      // With the names, so that a program that reads others by now is told.
      TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), absl::StrCat("topic_", i), dataset()->settings().topics[i]));
      TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), absl::StrCat("offset_", i), places[i].next));
      TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), absl::StrCat("taken_", i), places[i].taken));
    }
    return absl::OkStatus();
  }

  absl::Status RestoreInternal(IteratorContext* ctx, IteratorStateReader* reader) override {
    mutex_lock lock(mu_);
    reader_.reset();
    places_.clear();
    const std::vector<tstring>& topics = dataset()->settings().topics;
    int64_t count;
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "partitions", &count));
    // None: saved before the first message.
    if (count != 0 && count != static_cast<int64_t>(topics.size())) return Other(absl::StrCat(count, " subscriptions"));
    for (int64_t i = 0; i < count; ++i) {
      tstring topic;
      PartitionReader::Place place;
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), absl::StrCat("topic_", i), &topic));
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), absl::StrCat("offset_", i), &place.next));
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), absl::StrCat("taken_", i), &place.taken));
      if (topic != topics[i]) return Other(absl::StrCat("'", topic, "' at place ", i));
      places_.push_back(place);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Other(const std::string& saved) const {
    std::string now;
    for (const tstring& topic : dataset()->settings().topics) absl::StrAppend(&now, now.empty() ? "" : ", ", topic);
    return absl::InvalidArgumentError(
        absl::StrCat("the state of a KafkaDataset is of other topics: saved were ", saved, ", now it reads ", now));
  }

  mutex mu_;
  std::unique_ptr<PartitionReader> reader_ TF_GUARDED_BY(mu_);
  // Where to begin; empty: at the beginning.
  std::vector<PartitionReader::Place> places_ TF_GUARDED_BY(mu_);
};

std::unique_ptr<IteratorBase> KafkaDataset::MakeIteratorInternal(const std::string& prefix) const {
  return std::make_unique<Iterator>(Iterator::Params{this, absl::StrCat(prefix, "::Kafka")});
}

class KafkaDatasetOp : public DatasetOpKernel {
 public:
  explicit KafkaDatasetOp(OpKernelConstruction* ctx) : DatasetOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("message_key", &settings_.message_key));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_types", &settings_.output_types));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &settings_.output_shapes));
    const size_t count = settings_.message_key ? 2 : 1;
    OP_REQUIRES(ctx, settings_.output_types == DataTypeVector(count, DT_STRING) && settings_.output_shapes.size() == count,
                absl::InvalidArgumentError(absl::StrCat("output_types must be ", count, " strings, with as many output_shapes")));
  }

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase** output) override {
    Settings settings = settings_;
    OP_REQUIRES_OK(ctx, tensorflow::kafka::Strings(ctx, "topics", &settings.topics));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<tstring>(ctx, "servers", &settings.servers));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<tstring>(ctx, "group", &settings.group));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<bool>(ctx, "eof", &settings.eof));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "timeout", &settings.timeout));
    OP_REQUIRES_OK(ctx, tensorflow::kafka::Strings(ctx, "config_global", &settings.config_global));
    OP_REQUIRES_OK(ctx, tensorflow::kafka::Strings(ctx, "config_topic", &settings.config_topic));
    OP_REQUIRES(ctx, !settings.topics.empty(), absl::InvalidArgumentError("topics must have at least one, got none"));
    OP_REQUIRES(ctx, settings.timeout > 0,
                absl::InvalidArgumentError(
                    absl::StrCat("timeout must be at least 1 (millisecond), got ", settings.timeout)));
    PartitionReader::Options options;
    options.stop_at_end = settings.eof;
    options.timeout_ms = settings.timeout;
    for (const tstring& topic : settings.topics) {
      deeprec::kafka::Subscription subscription;
      const std::string error = deeprec::kafka::ParseSubscription(topic, &subscription);
      OP_REQUIRES(ctx, error.empty(), absl::InvalidArgumentError(absl::StrCat("topics: ", error)));
      options.subscriptions.push_back(std::move(subscription));
    }
    options.properties.emplace_back("bootstrap.servers", settings.servers);
    if (!settings.group.empty()) options.properties.emplace_back("group.id", settings.group);
    OP_REQUIRES_OK(ctx, tensorflow::kafka::AppendProperties("config_global", settings.config_global, "",
                                                            &options.properties));
    OP_REQUIRES_OK(ctx, tensorflow::kafka::AppendProperties("config_topic", settings.config_topic, "",
                                                            &options.properties));
    *output = new KafkaDataset(ctx, std::move(settings), std::move(options));
  }

 private:
  Settings settings_;
};

REGISTER_KERNEL_BUILDER(Name("DeeprecKafkaDataset").Device(DEVICE_CPU), KafkaDatasetOp);

}  // namespace
}  // namespace data
}  // namespace tensorflow
