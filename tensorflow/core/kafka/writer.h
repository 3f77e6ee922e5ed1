// Messages written to Kafka, one by one.

#ifndef TENSORFLOW_CORE_KAFKA_WRITER_H_
#define TENSORFLOW_CORE_KAFKA_WRITER_H_

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "tensorflow/core/kafka/connection.h"

namespace deeprec {
namespace kafka {

// Thread-safe.
class Writer {
 public:
  static absl::StatusOr<std::shared_ptr<Writer>> Open(const std::string& servers);

  // Returns when the broker has the message. `topic`: "topic" or "topic:partition"; 0 without.
  //
  // InvalidArgument for another text; NotFound, DeadlineExceeded: as Connection::CheckPartition; or what the broker says.
  absl::Status Write(const std::string& topic, std::string_view message, const Cancelled& cancelled);

 private:
  static void Delivered(Client*, const RawMessage* message, void*);

  std::unique_ptr<Connection> connection_;
  std::mutex topics_;
};

}  // namespace kafka
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_KAFKA_WRITER_H_
