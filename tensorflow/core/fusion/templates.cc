#include "tensorflow/core/fusion/template.h"

namespace deeprec {
namespace fusion {

const std::vector<Template>& Templates() {
  // settings.py has the names too, to know a wrong one in TF_DEEPREC_DISABLE_FUSIONS.
  static const auto* const templates = new std::vector<Template>{
      {"select", {"Select", "SelectV2"}, MatchSelectFill},
      {"sparse_flatten", {"SparseReshape"}, MatchSparseFlatten},
      {"sparse_reshape", {"SparseReshape"}, MatchSparseReshape},
      {"one_hot_sum", {"Sum"}, MatchOneHotSum},
      {"concat_cast", {"Cast", "ConcatV2"}, MatchConcatCast},
      {"l2_normalize", {"Mul"}, MatchL2Normalize},
      {"bias_activation", {"Sigmoid", "Tanh"}, MatchBiasActivation},
  };
  return *templates;
}

}  // namespace fusion
}  // namespace deeprec
