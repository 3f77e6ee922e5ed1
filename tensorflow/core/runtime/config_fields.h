// DeepRec's fields of ConfigProto as the runtime sees them.
//
// The descriptor that the runtime was compiled with does not know them (deeprec/config/fields.py adds them in Python), so
// they are unknown fields of its messages: kept, sent on to other processes, and read here by number.

#ifndef TENSORFLOW_CORE_RUNTIME_CONFIG_FIELDS_H_
#define TENSORFLOW_CORE_RUNTIME_CONFIG_FIELDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tensorflow {
class ConfigProto;
}

namespace deeprec {
namespace runtime {

enum class ExecutorPolicy { kNormal = 0, kCostModel = 1, kInline = 2 };

struct StageThreadPool {
  int32_t inter_op_threads = 0;
  int32_t intra_op_threads = 0;
  std::string global_name;
};

struct ConfigFields {
  // Of ConfigProto.
  bool tensor_fuse = false;
  bool run_graph_mode = false;
  bool run_graph_mode_lite = false;
  ExecutorPolicy executor_policy = ExecutorPolicy::kNormal;
  std::vector<StageThreadPool> stage_thread_pools;
  // Of OptimizerOptions.
  int32_t micro_batch_num = 0;
  bool do_op_fusion = false;
  bool do_smart_stage = false;
  bool do_async_embedding = false;
};

// What is not there, or has a wire type that is not the field's, has its default.
ConfigFields ReadConfigFields(const tensorflow::ConfigProto& config);

// The executor policy alone, for what is asked at every step.
ExecutorPolicy ReadExecutorPolicy(const tensorflow::ConfigProto& config);

}  // namespace runtime
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_RUNTIME_CONFIG_FIELDS_H_
