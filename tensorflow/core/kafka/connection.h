// A client of a Kafka cluster.

#ifndef TENSORFLOW_CORE_KAFKA_CONNECTION_H_
#define TENSORFLOW_CORE_KAFKA_CONNECTION_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/kafka/rdkafka_api.h"

namespace deeprec {
namespace kafka {

// librdkafka's properties, global ones and those of topics; a later one replaces an earlier one.
using Properties = std::vector<std::pair<std::string, std::string>>;

// Whether the caller has given up. Asked at least each 100 ms where something is waited for, once a second where brokers are.
using Cancelled = std::function<bool()>;

using Clock = std::chrono::steady_clock;

// The longest wait between two looks at whether the caller has given up.
constexpr int kWaitMs = 100;

inline int64_t MsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

struct MessageDeleter {
  const RdKafka* api;
  void operator()(RawMessage* message) const { api->message_destroy(message); }
};
using MessagePtr = std::unique_ptr<RawMessage, MessageDeleter>;

class Connection {
 public:
  struct Callbacks {
    RebalanceCallback rebalance = nullptr;
    DeliveryCallback delivery = nullptr;
    void* opaque = nullptr;
  };

  // Makes a client of kind kConsumer or kProducer, which connects in threads of its own. InvalidArgument for a property that
  // librdkafka does not take; NotFound if there is no librdkafka.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(int kind, const Properties& properties,
                                                          const Callbacks& callbacks);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const RdKafka& api() const { return *api_; }
  Client* client() const { return client_; }

  // The handle of a topic, which lives as long as the connection.
  absl::StatusOr<Topic*> OpenTopic(const std::string& name);

  // Asks the brokers whether a topic has a partition, or any if it is negative.
  //
  // NotFound if it has not; DeadlineExceeded if no broker answers within socket.connection.setup.timeout.ms.
  absl::Status CheckPartition(Topic* topic, int32_t partition, const Cancelled& cancelled) const;

  // Whether an error is one that librdkafka mends by itself, as soon as a broker is there again.
  static bool IsTransient(int error);

  // The status for an error of librdkafka; `what` it happened to.
  absl::Status Failed(int error, const std::string& what, const std::string& detail = "") const;

  MessagePtr Own(RawMessage* message) const { return MessagePtr(message, MessageDeleter{api_}); }

 private:
  explicit Connection(const RdKafka* api) : api_(api) {}

  const RdKafka* const api_;
  Client* client_ = nullptr;
  std::string servers_;
  std::chrono::milliseconds patience_{};
  std::vector<std::pair<std::string, Topic*>> topics_;
};

}  // namespace kafka
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_KAFKA_CONNECTION_H_
