#ifndef TENSORFLOW_CORE_KERNELS_BOOSTED_TREES_RESOURCES_H_
#define TENSORFLOW_CORE_KERNELS_BOOSTED_TREES_RESOURCES_H_

#include <string>
#include <vector>

#include "tensorflow/core/boosted_trees/ensemble.h"
#include "tensorflow/core/boosted_trees/quantiles.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace tensorflow {

// The stock op definitions fix the names of both classes.
class BoostedTreesEnsembleResource : public ResourceBase {
 public:
  std::string DebugString() const override {
    tf_shared_lock lock(mu);
    return strings::StrCat("TreeEnsemble with ", trees.num_trees(), " trees");
  }

  mutable mutex mu;
  deeprec::boosted_trees::Ensemble trees TF_GUARDED_BY(mu);
  // Goes up with each change; a worker's statistics for another stamp are stale.
  int64_t stamp TF_GUARDED_BY(mu) = -1;
};

class BoostedTreesQuantileStreamResource : public ResourceBase {
 public:
  BoostedTreesQuantileStreamResource(float epsilon, int64_t max_elements, int64_t num_streams)
      : epsilon(epsilon), max_elements(max_elements), boundaries(num_streams) {
    Restart();
  }
  std::string DebugString() const override { return strings::StrCat(boundaries.size(), " quantile streams"); }

  void Restart() TF_NO_THREAD_SAFETY_ANALYSIS {
    streams.clear();
    for (size_t i = 0; i < boundaries.size(); ++i) streams.emplace_back(epsilon, max_elements);
  }

  const float epsilon;
  const int64_t max_elements;
  mutex mu;
  std::vector<deeprec::boosted_trees::QuantileStream> streams TF_GUARDED_BY(mu);
  std::vector<std::vector<float>> boundaries TF_GUARDED_BY(mu);
};

namespace boosted_trees_internal {

inline absl::Status RequireScalar(const char* name, const Tensor& got) {
  if (got.NumElements() == 1) return absl::OkStatus();
  return errors::InvalidArgument(name, " must be a scalar, got shape ", got.shape().DebugString());
}

// The vectors of a list, all of one length. [batch, 1] counts as a vector.
template <typename T>
absl::Status ReadColumns(const char* name, const OpInputList& list, std::vector<const T*>* columns, int64_t* rows) {
  *rows = list.size() > 0 ? list[0].NumElements() : 0;
  for (int i = 0; i < list.size(); ++i) {
    const Tensor& t = list[i];
    const bool column = t.dims() == 1 || (t.dims() == 2 && t.dim_size(1) == 1);
    if (!column || t.NumElements() != *rows) {
      return errors::InvalidArgument(name, "[", i, "] must be a vector of ", *rows, " rows, got shape ",
                                     t.shape().DebugString());
    }
    columns->push_back(t.flat<T>().data());
  }
  return absl::OkStatus();
}

}  // namespace boosted_trees_internal
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_BOOSTED_TREES_RESOURCES_H_
