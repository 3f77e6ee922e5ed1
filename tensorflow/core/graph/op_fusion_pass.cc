// `do_op_fusion`: fuses the ops of a graph when a session makes it ready to run.
//
// It is a pass after the rewrite for execution, not a grappler optimizer, because
// - the graph is then pruned, and fetches and feeds are nodes of it: nothing that is read outside can be overlooked;
// - grappler is through: constants are folded, shapes that are known are constants, and the remapper has taken the MatMuls,
//   Convs and normalizations that the runtime fuses itself. What is left is ours, and nothing of the runtime's is taken away;
// - nodes have devices, which new ones inherit;
// - it runs where the session's master runs: for a session of this process here, for one of a tf.train.Server in the server,
//   with the ConfigProto that was sent there, and also on bodies of functions (cond and while of version 2);
// - it runs with grappler turned off too.
// It is the last of that group, behind XLA's clustering: what XLA has taken it fuses better, and it could not compile our ops.

#include <string>

#include "absl/strings/match.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/fusion/rewriter.h"
#include "tensorflow/core/graph/fused_ops.h"
#include "tensorflow/core/graph/fusion_names.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/public/session_options.h"
#include "tensorflow/core/runtime/config_fields.h"

namespace tensorflow {
namespace {

class OpFusionPass : public GraphOptimizationPass {
 public:
  absl::Status Run(const GraphOptimizationPassOptions& options) override {
    if (options.session_options == nullptr || options.graph == nullptr || *options.graph == nullptr) {
      return absl::OkStatus();
    }
    const ConfigProto& config = options.session_options->config;
    if (!deeprec::runtime::ReadConfigFields(config).do_op_fusion) return absl::OkStatus();
    const auto fused = deeprec::fusion::Fuse(options.graph->get(), deeprec::graph::FusionEnabled);
    if (fused.empty()) return absl::OkStatus();
    const std::string& session = config.experimental().session_metadata().name();
    if (absl::StartsWith(session, deeprec::graph::kWatched)) {
      deeprec::graph::KeepFused(session, fused);
    } else {
      LOG(INFO) << "do_op_fusion: " << deeprec::fusion::Summary(fused);
    }
    return absl::OkStatus();
  }
};

constexpr int kAfterXla = 1000;
REGISTER_OPTIMIZATION(OptimizationPassRegistry::POST_REWRITE_FOR_EXEC, kAfterXla, OpFusionPass);

}  // namespace
}  // namespace tensorflow
