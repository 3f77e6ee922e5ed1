// What is read of one partition of a Kafka topic.

#ifndef TENSORFLOW_CORE_KAFKA_SUBSCRIPTION_H_
#define TENSORFLOW_CORE_KAFKA_SUBSCRIPTION_H_

#include <cstdint>
#include <string>

namespace deeprec {
namespace kafka {

// Places that are no offsets, as librdkafka numbers them.
constexpr int64_t kBeginning = -2;
constexpr int64_t kEnd = -1;

struct Subscription {
  std::string topic;
  int32_t partition = 0;
  int64_t offset = 0;   // of the first message, or kBeginning, or kEnd
  int64_t length = -1;  // messages to read; -1: all that come
};

// Reads "topic[:partition[:offset[:length]]]". Returns the reason if it is none, else an empty text.
std::string ParseSubscription(const std::string& text, Subscription* subscription);

// Reads "key=value". Returns the reason if it is none, else an empty text.
std::string ParseProperty(const std::string& text, std::string* key, std::string* value);

}  // namespace kafka
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_KAFKA_SUBSCRIPTION_H_
