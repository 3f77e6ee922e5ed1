#include "tensorflow/core/graph/fusion_names.h"

#include <stdlib.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace deeprec {
namespace graph {

bool FusionEnabled(const std::string& name) {
  static const std::string* const list = [] {
    const char* const value = getenv("TF_DEEPREC_DISABLE_FUSIONS");
    return new std::string(value == nullptr ? "" : value);
  }();
  for (absl::string_view disabled : absl::StrSplit(*list, ',')) {
    disabled = absl::StripAsciiWhitespace(disabled);
    if (disabled == name || disabled == "all") return false;
  }
  return true;
}

}  // namespace graph
}  // namespace deeprec
