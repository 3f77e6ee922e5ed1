// What the ops that speak to Kafka have in common.

#ifndef TENSORFLOW_CORE_KERNELS_KAFKA_INPUTS_H_
#define TENSORFLOW_CORE_KERNELS_KAFKA_INPUTS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kafka/connection.h"
#include "tensorflow/core/kafka/subscription.h"

namespace tensorflow {
namespace kafka {

// The strings of an input of rank 0 or 1.
inline absl::Status Strings(OpKernelContext* ctx, const char* name, std::vector<tstring>* values) {
  const Tensor* tensor;
  TF_RETURN_IF_ERROR(ctx->input(name, &tensor));
  if (tensor->dims() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " must be a scalar or a vector, got shape ", tensor->shape().DebugString()));
  }
  const auto flat = tensor->flat<tstring>();
  values->assign(flat.data(), flat.data() + flat.size());
  return absl::OkStatus();
}

// Appends the properties of an input of the form "key=value". A `prefix` in front of a key is left out.
inline absl::Status AppendProperties(const char* name, const std::vector<tstring>& texts, std::string_view prefix,
                                     deeprec::kafka::Properties* properties) {
  for (const std::string text : texts) {
    std::string key, value;
    const std::string error = deeprec::kafka::ParseProperty(text, &key, &value);
    if (!error.empty()) return absl::InvalidArgumentError(absl::StrCat(name, ": ", error));
    if (!prefix.empty() && key.rfind(prefix, 0) == 0) key.erase(0, prefix.size());
    properties->emplace_back(key, value);
  }
  return absl::OkStatus();
}

inline deeprec::kafka::Cancelled CancelledBy(CancellationManager* manager) {
  return [manager] { return manager != nullptr && manager->IsCancelled(); };
}

inline Tensor Text(std::string_view text) {
  Tensor tensor(DT_STRING, TensorShape({}));
  tensor.scalar<tstring>()().assign(text.data(), text.size());
  return tensor;
}

// A dataset of messages. Settings: the op's inputs and attributes, with output_types and output_shapes. Options: the reader's.
template <class Settings, class Options>
class MessageDataset : public data::DatasetBase {
 public:
  MessageDataset(OpKernelContext* ctx, Settings settings, Options options)
      : DatasetBase(data::DatasetContext(ctx)), settings_(std::move(settings)), options_(std::move(options)) {}

  const Settings& settings() const { return settings_; }
  const Options& options() const { return options_; }
  const DataTypeVector& output_dtypes() const override { return settings_.output_types; }
  const std::vector<PartialTensorShape>& output_shapes() const override { return settings_.output_shapes; }
  absl::Status InputDatasets(std::vector<const data::DatasetBase*>* inputs) const override { return absl::OkStatus(); }
  absl::Status CheckExternalState() const override { return absl::OkStatus(); }

 private:
  const Settings settings_;
  const Options options_;
};

}  // namespace kafka
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_KAFKA_INPUTS_H_
