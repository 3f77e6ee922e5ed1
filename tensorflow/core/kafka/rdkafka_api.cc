#include "tensorflow/core/kafka/rdkafka_api.h"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace deeprec {
namespace kafka {
namespace {

std::mutex mutex;
std::string first_path;

// confluent_kafka.libs of the site-packages that this library is in. Python tells the path where a dataset is made; a server that runs
// the graphs of others makes none.
std::vector<std::string> NeighbouringLibraries() {
  std::vector<std::string> found;
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&NeighbouringLibraries), &self) == 0) return found;
  const std::filesystem::path site = std::filesystem::path(self.dli_fname).parent_path().parent_path().parent_path();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(site / "confluent_kafka.libs", error)) {
    if (entry.path().filename().string().rfind("librdkafka", 0) == 0) found.push_back(entry.path().string());
  }
  return found;
}

// Returns the name of a function that the library lacks, or null.
const char* Resolve(void* library, RdKafka* api) {
  const auto resolve = [library](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    return *function != nullptr;
  };
#define DEEPREC_RESOLVE(member, name) \
  if (!resolve("rd_kafka_" name, &api->member)) return "rd_kafka_" name
  DEEPREC_RESOLVE(conf_new, "conf_new");
  DEEPREC_RESOLVE(conf_destroy, "conf_destroy");
  DEEPREC_RESOLVE(conf_set, "conf_set");
  DEEPREC_RESOLVE(conf_get, "conf_get");
  DEEPREC_RESOLVE(conf_set_opaque, "conf_set_opaque");
  DEEPREC_RESOLVE(conf_set_log_cb, "conf_set_log_cb");
  DEEPREC_RESOLVE(conf_set_rebalance_cb, "conf_set_rebalance_cb");
  DEEPREC_RESOLVE(conf_set_dr_msg_cb, "conf_set_dr_msg_cb");
  DEEPREC_RESOLVE(new_client, "new");
  DEEPREC_RESOLVE(destroy, "destroy");
  DEEPREC_RESOLVE(poll, "poll");
  DEEPREC_RESOLVE(err2str, "err2str");
  DEEPREC_RESOLVE(last_error, "last_error");
  DEEPREC_RESOLVE(topic_new, "topic_new");
  DEEPREC_RESOLVE(topic_destroy, "topic_destroy");
  DEEPREC_RESOLVE(topic_name, "topic_name");
  DEEPREC_RESOLVE(metadata, "metadata");
  DEEPREC_RESOLVE(metadata_destroy, "metadata_destroy");
  DEEPREC_RESOLVE(queue_new, "queue_new");
  DEEPREC_RESOLVE(queue_destroy, "queue_destroy");
  DEEPREC_RESOLVE(consume_start_queue, "consume_start_queue");
  DEEPREC_RESOLVE(consume_stop, "consume_stop");
  DEEPREC_RESOLVE(consume_queue, "consume_queue");
  DEEPREC_RESOLVE(message_destroy, "message_destroy");
  DEEPREC_RESOLVE(message_timestamp, "message_timestamp");
  DEEPREC_RESOLVE(poll_set_consumer, "poll_set_consumer");
  DEEPREC_RESOLVE(subscribe, "subscribe");
  DEEPREC_RESOLVE(assign, "assign");
  DEEPREC_RESOLVE(rebalance_protocol, "rebalance_protocol");
  DEEPREC_RESOLVE(incremental_assign, "incremental_assign");
  DEEPREC_RESOLVE(incremental_unassign, "incremental_unassign");
  DEEPREC_RESOLVE(error_destroy, "error_destroy");
  DEEPREC_RESOLVE(consumer_poll, "consumer_poll");
  DEEPREC_RESOLVE(consumer_close, "consumer_close");
  DEEPREC_RESOLVE(topic_partition_list_new, "topic_partition_list_new");
  DEEPREC_RESOLVE(topic_partition_list_destroy, "topic_partition_list_destroy");
  DEEPREC_RESOLVE(topic_partition_list_add, "topic_partition_list_add");
  DEEPREC_RESOLVE(produce, "produce");
#undef DEEPREC_RESOLVE
  return nullptr;
}

}  // namespace

void SetRdKafkaPath(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex);
  first_path = path;
}

absl::StatusOr<const RdKafka*> LoadRdKafka() {
  static RdKafka* api = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  if (api != nullptr) return api;
  std::vector<std::string> paths = NeighbouringLibraries();
  if (!first_path.empty()) paths.insert(paths.begin(), first_path);
  paths.push_back("librdkafka.so.1");
  std::vector<std::string> errors;
  for (const std::string& path : paths) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      errors.push_back(dlerror());
      continue;
    }
    auto* const found = new RdKafka();
    const char* const missing = Resolve(library, found);
    if (missing == nullptr) {
      api = found;  // for as long as the process runs
      return api;
    }
    delete found;
    dlclose(library);
    errors.push_back(absl::StrCat(path, " has no function ", missing));
  }
  return absl::NotFoundError(absl::StrCat("Kafka is read by librdkafka, which is not found: pip install confluent-kafka (",
                                          absl::StrJoin(errors, "; "), ")"));
}

}  // namespace kafka
}  // namespace deeprec
