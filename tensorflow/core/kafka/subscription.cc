#include "tensorflow/core/kafka/subscription.h"

#include <charconv>
#include <limits>
#include <vector>

namespace deeprec {
namespace kafka {
namespace {

std::string Wrong(const std::string& text, const std::string& what) {
  return "a subscription must be \"topic:partition:offset:length\", got \"" + text + "\": " + what;
}

bool ParseNumber(const std::string& text, int64_t least, int64_t most, int64_t* number) {
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, *number);
  return result.ec == std::errc() && result.ptr == end && *number >= least && *number <= most;
}

}  // namespace

std::string ParseSubscription(const std::string& text, Subscription* subscription) {
  std::vector<std::string> parts = {""};
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts[0].empty()) return Wrong(text, "it has no topic");
  if (parts.size() > 4) return Wrong(text, "it has " + std::to_string(parts.size()) + " parts");
  *subscription = Subscription();
  subscription->topic = parts[0];
  int64_t partition = 0;
  if (parts.size() > 1 && !ParseNumber(parts[1], 0, std::numeric_limits<int32_t>::max(), &partition)) {
    return Wrong(text, "the partition is no number of at least 0");
  }
  subscription->partition = static_cast<int32_t>(partition);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (parts.size() > 2 && !ParseNumber(parts[2], kBeginning, kMost, &subscription->offset)) {
    return Wrong(text, "the offset is no number of at least 0, nor -2 (the beginning) or -1 (the end)");
  }
  if (parts.size() > 3 && !ParseNumber(parts[3], -1, kMost, &subscription->length)) {
    return Wrong(text, "the length is no number of at least 0, nor -1 (all that come)");
  }
  return "";
}

std::string ParseProperty(const std::string& text, std::string* key, std::string* value) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return "a property must be \"key=value\", got \"" + text + "\"";
  *key = text.substr(0, equals);
  *value = text.substr(equals + 1);
  return "";
}

}  // namespace kafka
}  // namespace deeprec
