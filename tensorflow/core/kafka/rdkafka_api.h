// The functions of librdkafka that are used here. Its C interface is stable within soname librdkafka.so.1, so it is loaded when a
// program first needs it, from the confluent-kafka package or from the system, and the wheel needs no Kafka client.
//
// Declared after https://docs.confluent.io/platform/current/clients/librdkafka/html/rdkafka_8h.html.

#ifndef TENSORFLOW_CORE_KAFKA_RDKAFKA_API_H_
#define TENSORFLOW_CORE_KAFKA_RDKAFKA_API_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace deeprec {
namespace kafka {

// Handles that only librdkafka looks into.
struct Client;
struct Config;
struct Topic;
struct TopicConfig;
struct Queue;
struct Error;

// rd_kafka_resp_err_t: negative ones are the library's own, the others are the broker's.
enum ErrorCode : int {
  kRevokePartitions = -174,
  kAssignPartitions = -175,
  kTimedOut = -185,
  kAllBrokersDown = -187,
  kUnknownTopic = -188,
  kUnknownPartition = -190,
  kPartitionEof = -191,
  kResolve = -193,
  kTransport = -195,
  kNoError = 0,
  kOffsetOutOfRange = 1,
  kUnknownTopicOrPartition = 3,
  kLeaderNotAvailable = 5,
  kAutoOffsetReset = -140,
};

// rd_kafka_message_t
struct RawMessage {
  int error;
  Topic* topic;
  int32_t partition;
  void* payload;  // where there is an error, its text
  size_t size;
  void* key;
  size_t key_size;
  int64_t offset;
  void* opaque;
};

// rd_kafka_topic_partition_t
struct TopicPartition {
  char* topic;
  int32_t partition;
  int64_t offset;
  void* metadata;
  size_t metadata_size;
  void* opaque;
  int error;
  void* internal;
};

// rd_kafka_topic_partition_list_t
struct TopicPartitionList {
  int count;
  int capacity;
  TopicPartition* elements;
};

// rd_kafka_metadata_partition
struct PartitionMetadata {
  int32_t id;
  int error;
  int32_t leader;
  int replica_count;
  int32_t* replicas;
  int isr_count;
  int32_t* isrs;
};

// rd_kafka_metadata_topic
struct TopicMetadata {
  char* topic;
  int partition_count;
  PartitionMetadata* partitions;
  int error;
};

// rd_kafka_metadata_t
struct Metadata {
  int broker_count;
  void* brokers;
  int topic_count;
  TopicMetadata* topics;
  int32_t origin_id;
  char* origin_name;
};

constexpr int kProducer = 0;  // rd_kafka_type_t
constexpr int kConsumer = 1;
constexpr int kConfigOk = 0;  // rd_kafka_conf_res_t
constexpr int kCopyPayload = 2;  // RD_KAFKA_MSG_F_COPY
constexpr int32_t kAnyPartition = -1;

using RebalanceCallback = void (*)(Client*, int error, TopicPartitionList*, void* opaque);
using LogCallback = void (*)(const Client*, int level, const char* facility, const char* text);
using DeliveryCallback = void (*)(Client*, const RawMessage*, void* opaque);

// Each member is the function rd_kafka_<its name>.
struct RdKafka {
  Config* (*conf_new)();
  void (*conf_destroy)(Config*);
  int (*conf_set)(Config*, const char* name, const char* value, char* error, size_t error_size);
  int (*conf_get)(const Config*, const char* name, char* value, size_t* size);
  void (*conf_set_opaque)(Config*, void* opaque);
  void (*conf_set_log_cb)(Config*, LogCallback);
  void (*conf_set_rebalance_cb)(Config*, RebalanceCallback);
  void (*conf_set_dr_msg_cb)(Config*, DeliveryCallback);
  Client* (*new_client)(int type, Config*, char* error, size_t error_size);  // rd_kafka_new
  void (*destroy)(Client*);
  int (*poll)(Client*, int timeout_ms);
  const char* (*err2str)(int error);
  int (*last_error)();
  Topic* (*topic_new)(Client*, const char* name, TopicConfig*);
  void (*topic_destroy)(Topic*);
  const char* (*topic_name)(const Topic*);
  int (*metadata)(Client*, int all_topics, Topic* only, const Metadata**, int timeout_ms);
  void (*metadata_destroy)(const Metadata*);
  Queue* (*queue_new)(Client*);
  void (*queue_destroy)(Queue*);
  int (*consume_start_queue)(Topic*, int32_t partition, int64_t offset, Queue*);
  int (*consume_stop)(Topic*, int32_t partition);
  RawMessage* (*consume_queue)(Queue*, int timeout_ms);
  void (*message_destroy)(RawMessage*);
  int64_t (*message_timestamp)(const RawMessage*, int* kind);
  int (*poll_set_consumer)(Client*);
  int (*subscribe)(Client*, const TopicPartitionList*);
  int (*assign)(Client*, const TopicPartitionList*);
  const char* (*rebalance_protocol)(Client*);
  Error* (*incremental_assign)(Client*, const TopicPartitionList*);
  Error* (*incremental_unassign)(Client*, const TopicPartitionList*);
  void (*error_destroy)(Error*);
  RawMessage* (*consumer_poll)(Client*, int timeout_ms);
  int (*consumer_close)(Client*);
  TopicPartitionList* (*topic_partition_list_new)(int capacity);
  void (*topic_partition_list_destroy)(TopicPartitionList*);
  TopicPartition* (*topic_partition_list_add)(TopicPartitionList*, const char* topic, int32_t partition);
  int (*produce)(Topic*, int32_t partition, int flags, void* payload, size_t size, const void* key, size_t key_size,
                 void* opaque);
};

// Where to look first; before the first LoadRdKafka. An empty path: nowhere in particular.
void SetRdKafkaPath(const std::string& path);

// The functions, loaded at the first call that succeeds. NotFound, with what to install, if there is no librdkafka.
absl::StatusOr<const RdKafka*> LoadRdKafka();

}  // namespace kafka
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_KAFKA_RDKAFKA_API_H_
