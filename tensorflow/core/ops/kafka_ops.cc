#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

// Ranks of the inputs: topics and properties are vectors, all else is a scalar.
absl::Status DatasetShape(shape_inference::InferenceContext* c) {
  shape_inference::ShapeHandle unused;
  for (int i = 0; i < c->num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(c->WithRankAtMost(c->input(i), 1, &unused));
  }
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

REGISTER_OP("DeeprecKafkaDataset")
    .Input("topics: string")
    .Input("servers: string")
    .Input("group: string")
    .Input("eof: bool")
    .Input("timeout: int64")
    .Input("config_global: string")
    .Input("config_topic: string")
    .Output("handle: variant")
    .Attr("message_key: bool = false")
    .Attr("output_types: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .SetIsStateful()
    .SetShapeFn(DatasetShape)
    .Doc(R"doc(
Makes a dataset of the messages of partitions of Kafka's topics, in the order of their timestamps.

topics: "topic:partition:offset:length", one for each partition.
servers: brokers, "host:port", separated by commas.
eof: whether the dataset ends with the partitions.
timeout: milliseconds for which a partition without messages holds up the others.
config_global: properties of librdkafka, "key=value".
config_topic: the same, of topics.
message_key: whether an element is a message and its key, or a message.
)doc");

REGISTER_OP("DeeprecKafkaGroupDataset")
    .Input("topics: string")
    .Input("group_id: string")
    .Input("servers: string")
    .Input("stream_timeout: int64")
    .Input("message_poll_timeout: int64")
    .Input("configuration: string")
    .Output("handle: variant")
    .Attr("output_types: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .SetIsStateful()
    .SetShapeFn(DatasetShape)
    .Doc(R"doc(
Makes a dataset of the messages, and their keys, that a member of a consumer group is given.

topics: names of topics.
servers: brokers, "host:port", separated by commas.
stream_timeout: milliseconds to wait for new messages when all are read; negative: for ever.
message_poll_timeout: milliseconds to wait for the group, and for messages that are there.
configuration: properties of librdkafka, "key=value".
)doc");

REGISTER_OP("DeeprecWriteKafka")
    .Input("message: string")
    .Input("topic: string")
    .Input("servers: string")
    .Output("content: string")
    .SetIsStateful()
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      shape_inference::ShapeHandle unused;
      for (int i = 0; i < 3; ++i) TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
      c->set_output(0, c->Scalar());
      return absl::OkStatus();
    })
    .Doc(R"doc(
Writes a message to a topic of Kafka, and gives it back when the broker has it.

topic: "topic" or "topic:partition".
servers: brokers, "host:port", separated by commas.
)doc");

}  // namespace
}  // namespace tensorflow
