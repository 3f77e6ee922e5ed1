#include "tensorflow/core/kafka/connection.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "absl/log/log.h"
#include "absl/strings/str_cat.h"

namespace deeprec {
namespace kafka {
namespace {

constexpr size_t kTextSize = 512;
// Severities of syslog.
constexpr int kErrorLevel = 3;

void Log(const Client*, int level, const char* facility, const char* text) {
  if (level <= kErrorLevel) {
    LOG(WARNING) << "librdkafka: " << facility << ": " << text;
  } else {
    VLOG(1) << "librdkafka: " << facility << ": " << text;
  }
}

std::string Value(const RdKafka& api, const Config* config, const char* name) {
  char value[kTextSize] = "";
  size_t size = sizeof(value);
  return api.conf_get(config, name, value, &size) == kConfigOk ? value : "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(int kind, const Properties& properties,
                                                             const Callbacks& callbacks) {
  const absl::StatusOr<const RdKafka*> loaded = LoadRdKafka();
  if (!loaded.ok()) return loaded.status();
  const RdKafka* const api = *loaded;
  std::unique_ptr<Connection> connection(new Connection(api));
  char error[kTextSize] = "";
  Config* const config = api->conf_new();
  for (const auto& [name, value] : properties) {
    if (api->conf_set(config, name.c_str(), value.c_str(), error, sizeof(error)) == kConfigOk) continue;
    api->conf_destroy(config);
    return absl::InvalidArgumentError(absl::StrCat("Kafka's property ", name, "=", value, ": ", error));
  }
  api->conf_set_log_cb(config, Log);
  if (callbacks.opaque != nullptr) api->conf_set_opaque(config, callbacks.opaque);
  if (callbacks.rebalance != nullptr) api->conf_set_rebalance_cb(config, callbacks.rebalance);
  if (callbacks.delivery != nullptr) api->conf_set_dr_msg_cb(config, callbacks.delivery);
  connection->servers_ = Value(*api, config, "bootstrap.servers");
  connection->patience_ = std::chrono::milliseconds(
      strtoll(Value(*api, config, "socket.connection.setup.timeout.ms").c_str(), nullptr, 10));
  connection->client_ = api->new_client(kind, config, error, sizeof(error));
  if (connection->client_ == nullptr) {
    api->conf_destroy(config);  // it is the client's only when there is one
    return absl::InvalidArgumentError(absl::StrCat("no client of Kafka at '", connection->servers_, "': ", error));
  }
  return connection;
}

Connection::~Connection() {
  for (const auto& [name, topic] : topics_) api_->topic_destroy(topic);
  if (client_ != nullptr) api_->destroy(client_);
}

absl::StatusOr<Topic*> Connection::OpenTopic(const std::string& name) {
  for (const auto& [known, topic] : topics_) {
    if (known == name) return topic;
  }
  Topic* const topic = api_->topic_new(client_, name.c_str(), nullptr);
  if (topic == nullptr) return Failed(api_->last_error(), absl::StrCat("topic '", name, "'"));
  topics_.emplace_back(name, topic);
  return topic;
}

absl::Status Connection::CheckPartition(Topic* topic, int32_t partition, const Cancelled& cancelled) const {
  const std::string name = api_->topic_name(topic);
  const Clock::time_point end = Clock::now() + patience_;
  while (true) {
    if (cancelled()) return absl::CancelledError("reading from Kafka was cancelled");
    const int64_t left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    const Metadata* metadata = nullptr;
    int error = api_->metadata(client_, 0, topic, &metadata, std::clamp<int64_t>(left, 1, 1000));
    int count = 0;
    if (error == kNoError) {
      error = metadata->topic_count > 0 ? metadata->topics[0].error : int{kUnknownTopicOrPartition};
      count = metadata->topic_count > 0 ? metadata->topics[0].partition_count : 0;
      api_->metadata_destroy(metadata);
      // A topic that is just being made.
      if (error != kNoError && error != kLeaderNotAvailable) return Failed(error, absl::StrCat("topic '", name, "'"));
    } else if (!IsTransient(error)) {
      return Failed(error, absl::StrCat("topic '", name, "'"));
    }
    if (error == kNoError) {
      if (partition < count) return absl::OkStatus();
      return absl::NotFoundError(absl::StrCat("Kafka's topic '", name, "' at ", servers_, " has ", count,
                                              " partitions, so there is no partition ", partition));
    }
    if (Clock::now() >= end) {
      return absl::DeadlineExceededError(absl::StrCat("no broker of Kafka at '", servers_, "' answered for ", patience_.count(),
                                                 " ms (socket.connection.setup.timeout.ms), asked for topic '", name,
                                                 "': ", api_->err2str(error)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kWaitMs));
  }
}

bool Connection::IsTransient(int error) {
  return error == kTransport || error == kAllBrokersDown || error == kTimedOut || error == kResolve;
}

absl::Status Connection::Failed(int error, const std::string& what, const std::string& detail) const {
  const std::string text = absl::StrCat("Kafka at '", servers_, "': ", what, ": ", api_->err2str(error),
                                        detail.empty() ? "" : " (", detail, detail.empty() ? "" : ")");
  // No Unavailable: sessions report it as Internal.
  if (IsTransient(error)) return absl::DeadlineExceededError(text);
  if (error == kUnknownTopic || error == kUnknownPartition || error == kUnknownTopicOrPartition) {
    return absl::NotFoundError(text);
  }
  // No OutOfRange: that is how a dataset ends.
  if (error == kOffsetOutOfRange || error == kAutoOffsetReset) return absl::DataLossError(text);
  return absl::InternalError(text);
}

}  // namespace kafka
}  // namespace deeprec
