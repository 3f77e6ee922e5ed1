// Which fusions are on.

#ifndef TENSORFLOW_CORE_GRAPH_FUSION_NAMES_H_
#define TENSORFLOW_CORE_GRAPH_FUSION_NAMES_H_

#include <string>

namespace deeprec {
namespace graph {

// By TF_DEEPREC_DISABLE_FUSIONS; settings.py has checked the names.
bool FusionEnabled(const std::string& name);

}  // namespace graph
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_GRAPH_FUSION_NAMES_H_
