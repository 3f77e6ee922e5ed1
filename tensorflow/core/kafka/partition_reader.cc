#include "tensorflow/core/kafka/partition_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace deeprec {
namespace kafka {
namespace {

// How often a broker is asked for, at most, while there is nothing to read.
constexpr int64_t kLeastCheckMs = 1000;

std::string Describe(const Subscription& subscription) {
  return absl::StrCat("topic '", subscription.topic, "', partition ", subscription.partition);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PartitionReader>> PartitionReader::Open(const Options& options,
                                                                       const std::vector<Place>& places,
                                                                       const Cancelled& cancelled) {
  std::unique_ptr<PartitionReader> reader(new PartitionReader(options));
  const absl::Status status = reader->Start(places, cancelled);
  if (!status.ok()) return status;
  return reader;
}

absl::Status PartitionReader::Start(const std::vector<Place>& places, const Cancelled& cancelled) {
  Properties properties = {
      {"enable.partition.eof", "true"},
      // The place is in the checkpoints of the program. Going on elsewhere would be a silent loss.
      {"enable.auto.commit", "false"},
      {"auto.offset.reset", "error"},
  };
  properties.insert(properties.end(), options_.properties.begin(), options_.properties.end());
  std::map<std::pair<std::string, int32_t>, size_t> counts;
  for (size_t i = 0; i < options_.subscriptions.size(); ++i) {
    const Subscription& subscription = options_.subscriptions[i];
    const size_t number = counts[{subscription.topic, subscription.partition}]++;
    if (number == connections_.size()) {
      absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(kConsumer, properties, {});
      if (!connection.ok()) return connection.status();
      connections_.push_back(std::move(*connection));
    }
    Connection* const connection = connections_[number].get();
    Source source{&subscription, connection};
    source.place = places.empty() ? Place{subscription.offset, 0} : places[i];
    source.finished = subscription.length >= 0 && source.place.taken >= subscription.length;
    absl::StatusOr<Topic*> topic = connection->OpenTopic(subscription.topic);
    if (!topic.ok()) return topic.status();
    source.topic = *topic;
    const absl::Status status = connection->CheckPartition(source.topic, subscription.partition, cancelled);
    if (!status.ok()) return status;
    if (!source.finished) {
      const RdKafka& api = connection->api();
      Queue* const queue = api.queue_new(connection->client());
      if (api.consume_start_queue(source.topic, subscription.partition, source.place.next, queue) != 0) {
        api.queue_destroy(queue);
        return connection->Failed(api.last_error(), Describe(subscription));
      }
      source.queue = queue;
    }
    sources_.push_back(std::move(source));
  }
  return absl::OkStatus();
}

PartitionReader::~PartitionReader() {
  current_.reset();
  for (Source& source : sources_) Finish(&source);
}

void PartitionReader::Finish(Source* source) {
  source->finished = true;
  source->head.reset();
  if (source->queue == nullptr) return;
  const RdKafka& api = source->connection->api();
  api.consume_stop(source->topic, source->subscription->partition);
  api.queue_destroy(source->queue);
  source->queue = nullptr;
}

absl::Status PartitionReader::Fetch(Source* source, int timeout_ms) {
  const RdKafka& api = source->connection->api();
  RawMessage* const raw = api.consume_queue(source->queue, timeout_ms);
  if (raw == nullptr) return absl::OkStatus();
  MessagePtr message = source->connection->Own(raw);
  if (raw->error == kNoError) {
    source->head = std::move(message);
    source->waited_for = false;
  } else if (raw->error == kPartitionEof) {
    source->waited_for = true;
    message.reset();
    if (options_.stop_at_end) Finish(source);
  } else if (!Connection::IsTransient(raw->error)) {
    return source->connection->Failed(
        raw->error, absl::StrCat(Describe(*source->subscription), ", offset ", source->place.next),
        std::string(static_cast<const char*>(raw->payload), raw->payload == nullptr ? 0 : raw->size));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> PartitionReader::Next(const Cancelled& cancelled, std::string_view* value, std::string_view* key) {
  current_.reset();
  const Clock::time_point start = Clock::now();
  Clock::time_point checked = start;
  while (true) {
    if (cancelled()) return absl::CancelledError("reading from Kafka was cancelled");
    Source* first = nullptr;
    int64_t first_time = std::numeric_limits<int64_t>::max();
    std::vector<Source*> open, awaited;
    for (Source& source : sources_) {
      if (!source.finished && source.head == nullptr) {
        const absl::Status status = Fetch(&source, 0);
        if (!status.ok()) return status;
      }
      if (source.finished) continue;
      if (source.head == nullptr) {
        open.push_back(&source);
        if (!source.waited_for) awaited.push_back(&source);
        continue;
      }
      int kind;
      const int64_t time = source.connection->api().message_timestamp(source.head.get(), &kind);
      if (first == nullptr || time < first_time) {
        first = &source;
        first_time = time;
      }
    }
    if (first != nullptr && !awaited.empty() && MsSince(start) >= options_.timeout_ms) {
      for (Source* const source : awaited) source->waited_for = true;
      awaited.clear();
    }
    if (first != nullptr && awaited.empty()) {
      current_ = std::move(first->head);
      first->place.next = current_->offset + 1;
      ++first->place.taken;
      *value = {static_cast<const char*>(current_->payload), current_->payload == nullptr ? 0 : current_->size};
      *key = {static_cast<const char*>(current_->key), current_->key == nullptr ? 0 : current_->key_size};
      const int64_t length = first->subscription->length;
      if (length >= 0 && first->place.taken >= length) Finish(first);
      return true;
    }
    if (first == nullptr && open.empty()) return false;
    if (first == nullptr && MsSince(checked) >= std::max(options_.timeout_ms, kLeastCheckMs)) {
      for (Source* const source : open) {
        const absl::Status status =
            source->connection->CheckPartition(source->topic, source->subscription->partition, cancelled);
        if (!status.ok()) return status;
      }
      checked = Clock::now();
    }
    const std::vector<Source*>& waiting = awaited.empty() ? open : awaited;
    for (Source* const source : waiting) {
      const absl::Status status = Fetch(source, std::max<int>(kWaitMs / waiting.size(), 1));
      if (!status.ok()) return status;
      if (source->head != nullptr) break;
    }
  }
}

std::vector<PartitionReader::Place> PartitionReader::places() const {
  std::vector<Place> places;
  for (const Source& source : sources_) places.push_back(source.place);
  return places;
}

}  // namespace kafka
}  // namespace deeprec
