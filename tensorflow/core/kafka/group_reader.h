// The messages that a member of a consumer group is given.

#ifndef TENSORFLOW_CORE_KAFKA_GROUP_READER_H_
#define TENSORFLOW_CORE_KAFKA_GROUP_READER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensorflow/core/kafka/connection.h"

namespace deeprec {
namespace kafka {

// The group deals the partitions of its topics out to its members, and anew when one comes or goes. Not thread-safe.
class GroupReader {
 public:
  struct Options {
    std::vector<std::string> topics;
    Properties properties;  // with group.id
    int64_t stream_timeout_ms;  // how long to wait for new messages when all are read; negative: for ever
    int64_t poll_timeout_ms;    // how long to wait for the group and for messages that are there
  };

  using Partition = std::pair<std::string, int32_t>;
  // The offset to go on at.
  using Places = std::map<Partition, int64_t>;

  // Joins the group. A partition that is given to this member begins at its place, or, where there is none, at what the group
  // committed, or at auto.offset.reset.
  //
  // NotFound, DeadlineExceeded: as Connection::CheckPartition, of each topic.
  static absl::StatusOr<std::unique_ptr<GroupReader>> Open(const Options& options, const Places& places,
                                                           const Cancelled& cancelled);
  // Leaves the group; commits what was given, unless enable.auto.commit=false.
  ~GroupReader();

  // The next message, whose texts are valid until the next call; false at the end.
  //
  // DeadlineExceeded if neither a message nor the end of the partitions comes in time.
  absl::StatusOr<bool> Next(const Cancelled& cancelled, std::string_view* value, std::string_view* key);

  // Of the partitions that this member has, as far as they were read.
  const Places& places() const { return places_; }

 private:
  GroupReader(const Options& options, const Places& places) : options_(options), to_resume_(places) {}
  static void Rebalance(Client*, int error, TopicPartitionList* partitions, void* reader);
  void Rebalance(int error, TopicPartitionList* partitions);

  const Options options_;
  std::unique_ptr<Connection> connection_;
  MessagePtr current_;
  Places places_;
  // Places of partitions that this member has not got yet, or had until the rebalance that is going on.
  Places to_resume_;
  bool has_assignment_ = false;
  std::set<Partition> assigned_;
  std::set<Partition> at_end_;
};

}  // namespace kafka
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_KAFKA_GROUP_READER_H_
