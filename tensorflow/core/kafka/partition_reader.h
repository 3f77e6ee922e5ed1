// The messages of some partitions, in the order of their timestamps.

#ifndef TENSORFLOW_CORE_KAFKA_PARTITION_READER_H_
#define TENSORFLOW_CORE_KAFKA_PARTITION_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/core/kafka/connection.h"
#include "tensorflow/core/kafka/subscription.h"

namespace deeprec {
namespace kafka {

// Messages are merged: of the partitions' next ones the one with the lowest timestamp comes first, and of equal ones that of the
// subscription that is named first. A partition that has nothing is waited for for the timeout, once.
//
// Offsets are the caller's: nothing is committed to a group. Not thread-safe.
class PartitionReader {
 public:
  struct Options {
    std::vector<Subscription> subscriptions;
    Properties properties;
    bool stop_at_end;  // of the partitions, else messages are waited for
    int64_t timeout_ms;
  };

  // How far a subscription is read.
  struct Place {
    int64_t next;   // the offset to go on at
    int64_t taken;  // messages given
  };

  // Begins at `places`, one for each subscription, or where the subscriptions say if there are none.
  //
  // NotFound, DeadlineExceeded: as Connection::CheckPartition, of each subscription.
  static absl::StatusOr<std::unique_ptr<PartitionReader>> Open(const Options& options, const std::vector<Place>& places,
                                                               const Cancelled& cancelled);
  ~PartitionReader();

  // The next message, whose texts are valid until the next call; false at the end.
  //
  // DataLoss if the offset to read is not there any more. DeadlineExceeded if there is nothing to read, and no broker either.
  absl::StatusOr<bool> Next(const Cancelled& cancelled, std::string_view* value, std::string_view* key);

  std::vector<Place> places() const;

 private:
  struct Source {
    const Subscription* subscription;
    Connection* connection;
    Topic* topic = nullptr;
    Queue* queue = nullptr;  // null: not started
    Place place;
    MessagePtr head;
    bool waited_for = false;  // it has nothing now, or did not give it in time
    bool finished = false;
  };

  explicit PartitionReader(const Options& options) : options_(options) {}
  absl::Status Start(const std::vector<Place>& places, const Cancelled& cancelled);
  absl::Status Fetch(Source* source, int timeout_ms);
  void Finish(Source* source);

  const Options options_;
  // A client reads a partition once; the second connection is for those that are subscribed to twice.
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Source> sources_;
  MessagePtr current_;
};

}  // namespace kafka
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_KAFKA_PARTITION_READER_H_
