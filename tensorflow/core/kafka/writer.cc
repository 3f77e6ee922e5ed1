#include "tensorflow/core/kafka/writer.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/kafka/subscription.h"

namespace deeprec {
namespace kafka {
namespace {

struct Delivery {
  std::atomic<bool> done{false};
  int error = kNoError;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Writer>> Writer::Open(const std::string& servers) {
  auto writer = std::make_shared<Writer>();
  Connection::Callbacks callbacks;
  callbacks.delivery = Delivered;
  absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(
      // One message at a time: nothing is gained by waiting for more.
      kProducer, {{"bootstrap.servers", servers}, {"linger.ms", "0"}, {"message.timeout.ms", "30000"}}, callbacks);
  if (!connection.ok()) return connection.status();
  writer->connection_ = std::move(*connection);
  return writer;
}

void Writer::Delivered(Client*, const RawMessage* message, void*) {
  auto* const delivery = static_cast<Delivery*>(message->opaque);
  delivery->error = message->error;
  delivery->done.store(true);
}

absl::Status Writer::Write(const std::string& topic, std::string_view message, const Cancelled& cancelled) {
  Subscription to;
  const std::string error = ParseSubscription(topic, &to);
  if (!error.empty() || topic.find(':', to.topic.size() + 1) != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("topic must be \"topic\" or \"topic:partition\", got \"", topic, "\""));
  }
  const RdKafka& api = connection_->api();
  Topic* handle;
  {
    const std::lock_guard<std::mutex> lock(topics_);
    absl::StatusOr<Topic*> opened = connection_->OpenTopic(to.topic);
    if (!opened.ok()) return opened.status();
    handle = *opened;
  }
  const absl::Status status = connection_->CheckPartition(handle, to.partition, cancelled);
  if (!status.ok()) return status;
  Delivery delivery;
  if (api.produce(handle, to.partition, kCopyPayload, const_cast<char*>(message.data()), message.size(), nullptr, 0,
                  &delivery) != 0) {
    return connection_->Failed(api.last_error(), absl::StrCat("topic '", topic, "'"));
  }
  // Ends by message.timeout.ms at the latest. Until then the message points here, so a cancelled caller waits as well.
  while (!delivery.done.load()) api.poll(connection_->client(), kWaitMs);
  if (delivery.error == kNoError) return absl::OkStatus();
  return connection_->Failed(delivery.error, absl::StrCat("topic '", topic, "'"));
}

}  // namespace kafka
}  // namespace deeprec
