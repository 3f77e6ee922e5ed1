// What graph fusion did, kept for who asked.

#ifndef TENSORFLOW_CORE_GRAPH_FUSED_OPS_H_
#define TENSORFLOW_CORE_GRAPH_FUSED_OPS_H_

#include <string>
#include <vector>

#include "tensorflow/core/fusion/rewriter.h"

namespace deeprec {
namespace graph {

// Sessions whose `config.experimental.session_metadata.name` begins with this are watched: theirs is kept until it is taken.
constexpr char kWatched[] = "deeprec_fused_ops/";

void KeepFused(const std::string& session, const std::vector<fusion::Fused>& fused);

// What was kept for the session since the last call.
std::vector<fusion::Fused> TakeFused(const std::string& session);

}  // namespace graph
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_GRAPH_FUSED_OPS_H_
