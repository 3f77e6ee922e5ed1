#include "tensorflow/core/kafka/group_reader.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace deeprec {
namespace kafka {

absl::StatusOr<std::unique_ptr<GroupReader>> GroupReader::Open(const Options& options, const Places& places,
                                                               const Cancelled& cancelled) {
  std::unique_ptr<GroupReader> reader(new GroupReader(options, places));
  Properties properties = options.properties;
  properties.emplace_back("enable.partition.eof", "true");
  Connection::Callbacks callbacks;
  callbacks.rebalance = Rebalance;
  callbacks.opaque = reader.get();
  absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(kConsumer, properties, callbacks);
  if (!connection.ok()) return connection.status();
  reader->connection_ = std::move(*connection);
  const RdKafka& api = reader->connection_->api();
  Client* const client = reader->connection_->client();
  for (const std::string& name : options.topics) {
    absl::StatusOr<Topic*> topic = reader->connection_->OpenTopic(name);
    if (!topic.ok()) return topic.status();
    const absl::Status status = reader->connection_->CheckPartition(*topic, -1, cancelled);
    if (!status.ok()) return status;
  }
  api.poll_set_consumer(client);
  TopicPartitionList* const topics = api.topic_partition_list_new(options.topics.size());
  for (const std::string& name : options.topics) api.topic_partition_list_add(topics, name.c_str(), kAnyPartition);
  const int error = api.subscribe(client, topics);
  api.topic_partition_list_destroy(topics);
  if (error != kNoError) return reader->connection_->Failed(error, absl::StrJoin(options.topics, ", "));
  return reader;
}

GroupReader::~GroupReader() {
  current_.reset();
  if (connection_ != nullptr) connection_->api().consumer_close(connection_->client());
}

void GroupReader::Rebalance(Client*, int error, TopicPartitionList* partitions, void* reader) {
  static_cast<GroupReader*>(reader)->Rebalance(error, partitions);
}

// Called by librdkafka out of consumer_poll and consumer_close.
void GroupReader::Rebalance(int error, TopicPartitionList* partitions) {
  const RdKafka& api = connection_->api();
  Client* const client = connection_->client();
  const bool incremental = std::string_view(api.rebalance_protocol(client)) == "COOPERATIVE";
  Error* failed = nullptr;
  if (error == kAssignPartitions) {
    for (int i = 0; i < partitions->count; ++i) {
      TopicPartition& given = partitions->elements[i];
      const Partition partition(given.topic, given.partition);
      assigned_.insert(partition);
      const auto place = to_resume_.find(partition);
      if (place == to_resume_.end()) continue;
      given.offset = place->second;
      places_.insert(*place);
    }
    // From now on others read the rest of them.
    to_resume_.clear();
    has_assignment_ = true;
    if (incremental) {
      failed = api.incremental_assign(client, partitions);
    } else {
      api.assign(client, partitions);
    }
  } else {
    for (int i = 0; i < partitions->count; ++i) {
      const Partition partition(partitions->elements[i].topic, partitions->elements[i].partition);
      assigned_.erase(partition);
      at_end_.erase(partition);
      const auto place = places_.find(partition);
      if (place == places_.end()) continue;
      to_resume_.insert(*place);
      places_.erase(place);
    }
    has_assignment_ = incremental;
    if (incremental) {
      failed = api.incremental_unassign(client, partitions);
    } else {
      api.assign(client, nullptr);
    }
  }
  if (failed != nullptr) api.error_destroy(failed);
}

absl::StatusOr<bool> GroupReader::Next(const Cancelled& cancelled, std::string_view* value, std::string_view* key) {
  current_.reset();
  const RdKafka& api = connection_->api();
  Clock::time_point progress = Clock::now();
  Clock::time_point checked = progress;
  while (true) {
    if (cancelled()) return absl::CancelledError("reading from Kafka was cancelled");
    const int64_t waited = MsSince(progress);
    const bool all_read = has_assignment_ && at_end_.size() == assigned_.size();
    if (all_read && options_.stream_timeout_ms >= 0 && waited >= options_.stream_timeout_ms) return false;
    if (MsSince(checked) >= options_.poll_timeout_ms) {
      absl::StatusOr<Topic*> topic = connection_->OpenTopic(options_.topics[0]);
      if (!topic.ok()) return topic.status();
      const absl::Status status = connection_->CheckPartition(*topic, -1, cancelled);
      if (!status.ok()) return status;
      if (!all_read && waited >= options_.poll_timeout_ms) {
        return absl::DeadlineExceededError(absl::StrCat(
            "neither a message nor the end of a partition came within message_poll_timeout (", options_.poll_timeout_ms,
            " ms); topics ", absl::StrJoin(options_.topics, ", "),
            has_assignment_ ? "" : ": the group gave this member no partitions yet"));
      }
      checked = Clock::now();
    }
    RawMessage* const raw = api.consumer_poll(connection_->client(), kWaitMs);
    if (raw == nullptr) continue;
    MessagePtr message = connection_->Own(raw);
    if (Connection::IsTransient(raw->error)) continue;
    const std::string topic = raw->topic == nullptr ? "" : api.topic_name(raw->topic);
    if (raw->error == kPartitionEof) {
      if (assigned_.count({topic, raw->partition}) > 0) at_end_.insert({topic, raw->partition});
      progress = Clock::now();
    } else if (raw->error != kNoError) {
      return connection_->Failed(
          raw->error, absl::StrCat("topic '", topic, "', partition ", raw->partition),
          std::string(static_cast<const char*>(raw->payload), raw->payload == nullptr ? 0 : raw->size));
    } else {
      at_end_.erase({topic, raw->partition});
      places_[{topic, raw->partition}] = raw->offset + 1;
      current_ = std::move(message);
      *value = {static_cast<const char*>(current_->payload), current_->payload == nullptr ? 0 : current_->size};
      *key = {static_cast<const char*>(current_->key), current_->key == nullptr ? 0 : current_->key_size};
      return true;
    }
  }
}

}  // namespace kafka
}  // namespace deeprec
