// Kernels of the ops that keep and grow a BoostedTrees ensemble. The runtime defines the ops and has no kernels for them.
#include <map>

#include "tensorflow/core/boosted_trees/split.h"
#include "tensorflow/core/kernels/boosted_trees_resources.h"

namespace tensorflow {
namespace {

using boosted_trees_internal::RequireScalar;
using deeprec::boosted_trees::Pruning;
using deeprec::boosted_trees::Split;
using Resource = BoostedTreesEnsembleResource;

absl::Status Load(Resource* resource, const Tensor& stamp, const Tensor& text) TF_NO_THREAD_SAFETY_ANALYSIS {
  TF_RETURN_IF_ERROR(RequireScalar("stamp_token", stamp));
  TF_RETURN_IF_ERROR(RequireScalar("tree_ensemble_serialized", text));
  const std::string error = resource->trees.Parse(std::string(text.flat<tstring>()(0)));
  if (!error.empty()) return errors::InvalidArgument("tree_ensemble_serialized cannot be read: ", error);
  resource->stamp = stamp.flat<int64_t>()(0);
  return absl::OkStatus();
}

class CreateEnsembleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    core::RefCountPtr<Resource> resource(new Resource);
    OP_REQUIRES_OK(ctx, Load(resource.get(), ctx->input(1), ctx->input(2)));
    const absl::Status status = CreateResource(ctx, HandleFromInput(ctx, 0), resource.release());
    // Another worker was first: its ensemble is the one.
    if (!absl::IsAlreadyExists(status)) OP_REQUIRES_OK(ctx, status);
  }
};

// What all others share: the ensemble of input 0.
class EnsembleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) final {
    core::RefCountPtr<Resource> resource;
    OP_REQUIRES_OK(ctx, LookupResource(ctx, HandleFromInput(ctx, 0), &resource));
    OP_REQUIRES_OK(ctx, Run(ctx, resource.get()));
  }

 protected:
  virtual absl::Status Run(OpKernelContext* ctx, Resource* resource) = 0;
};

class DeserializeEnsembleOp : public EnsembleOp {
 public:
  using EnsembleOp::EnsembleOp;
  absl::Status Run(OpKernelContext* ctx, Resource* resource) override {
    mutex_lock lock(resource->mu);
    return Load(resource, ctx->input(1), ctx->input(2));
  }
};

class SerializeEnsembleOp : public EnsembleOp {
 public:
  using EnsembleOp::EnsembleOp;
  absl::Status Run(OpKernelContext* ctx, Resource* resource) override {
    Tensor *stamp, *text;
    TF_RETURN_IF_ERROR(ctx->allocate_output(0, {}, &stamp));
    TF_RETURN_IF_ERROR(ctx->allocate_output(1, {}, &text));
    tf_shared_lock lock(resource->mu);
    stamp->scalar<int64_t>()() = resource->stamp;
    text->scalar<tstring>()() = resource->trees.Serialize();
    return absl::OkStatus();
  }
};

class GetEnsembleStatesOp : public EnsembleOp {
 public:
  using EnsembleOp::EnsembleOp;
  absl::Status Run(OpKernelContext* ctx, Resource* resource) override {
    Tensor *stamp, *trees, *finalized, *layers, *range;
    TF_RETURN_IF_ERROR(ctx->allocate_output(0, {}, &stamp));
    TF_RETURN_IF_ERROR(ctx->allocate_output(1, {}, &trees));
    TF_RETURN_IF_ERROR(ctx->allocate_output(2, {}, &finalized));
    TF_RETURN_IF_ERROR(ctx->allocate_output(3, {}, &layers));
    TF_RETURN_IF_ERROR(ctx->allocate_output(4, {2}, &range));
    tf_shared_lock lock(resource->mu);
    stamp->scalar<int64_t>()() = resource->stamp;
    trees->scalar<int32_t>()() = resource->trees.num_trees();
    finalized->scalar<int32_t>()() = resource->trees.num_finalized();
    layers->scalar<int32_t>()() = static_cast<int32_t>(resource->trees.layers_attempted());
    range->vec<int32_t>()(0) = resource->trees.layer_first();
    range->vec<int32_t>()(1) = resource->trees.layer_last();
    return absl::OkStatus();
  }
};

class UpdateEnsembleOp : public EnsembleOp {
 public:
  explicit UpdateEnsembleOp(OpKernelConstruction* ctx) : EnsembleOp(ctx) {
    int mode;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pruning_mode", &mode));
    OP_REQUIRES(ctx, mode >= 0 && mode <= 2,
                errors::InvalidArgument("pruning_mode must be 0 (none), 1 (pre) or 2 (post), got ", mode));
    pruning_ = static_cast<Pruning>(mode);
  }

  absl::Status Run(OpKernelContext* ctx, Resource* resource) override {
    std::map<int32_t, Split> best;
    TF_RETURN_IF_ERROR(FindBest(ctx, &best));
    const Tensor* max_depth;
    TF_RETURN_IF_ERROR(ctx->input("max_depth", &max_depth));
    TF_RETURN_IF_ERROR(RequireScalar("max_depth", *max_depth));
    mutex_lock lock(resource->mu);
    const std::string error = resource->trees.CheckSplits(best);
    if (!error.empty()) return errors::InvalidArgument("node_ids do not fit the ensemble: ", error);
    ++resource->stamp;
    if (!resource->trees.Grow(best, max_depth->flat<int32_t>()(0), pruning_)) {
      LOG(WARNING) << "BoostedTrees: no layer was added, as no node may be split (min_node_weight).";
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status FindBest(OpKernelContext* ctx, std::map<int32_t, Split>* best) {
    const Tensor *features, *rate;
    OpInputList ids, gains, thresholds, left, right;
    TF_RETURN_IF_ERROR(ctx->input("feature_ids", &features));
    TF_RETURN_IF_ERROR(ctx->input("learning_rate", &rate));
    TF_RETURN_IF_ERROR(ctx->input_list("node_ids", &ids));
    TF_RETURN_IF_ERROR(ctx->input_list("gains", &gains));
    TF_RETURN_IF_ERROR(ctx->input_list("thresholds", &thresholds));
    TF_RETURN_IF_ERROR(ctx->input_list("left_node_contribs", &left));
    TF_RETURN_IF_ERROR(ctx->input_list("right_node_contribs", &right));
    TF_RETURN_IF_ERROR(RequireScalar("learning_rate", *rate));
    if (features->dims() != 1 || features->dim_size(0) != ids.size()) {
      return errors::InvalidArgument("feature_ids must be a vector of ", ids.size(), " features, got shape ",
                                     features->shape().DebugString());
    }
    const float learning_rate = rate->flat<float>()(0);
    for (int f = 0; f < ids.size(); ++f) {
      const int64_t n = ids[f].NumElements();
      for (const OpInputList* list : {&gains, &thresholds, &left, &right}) {
        if ((*list)[f].NumElements() != n) {
          return errors::InvalidArgument("gains, thresholds and contributions must have an entry for each of the ", n,
                                         " node_ids of feature ", f, ", got shape ", (*list)[f].shape().DebugString());
        }
      }
      for (int64_t i = 0; i < n; ++i) {
        Split split;
        split.feature = features->vec<int32_t>()(f);
        split.threshold = thresholds[f].flat<int32_t>()(i);
        split.gain = gains[f].flat<float>()(i);
        split.left = learning_rate * left[f].flat<float>()(i);
        split.right = learning_rate * right[f].flat<float>()(i);
        const auto found = best->emplace(ids[f].flat<int32_t>()(i), split);
        if (found.second) continue;
        Split& champion = found.first->second;
        // Equal gains: the smaller feature, so that the order of the groups does not matter.
        const bool wins = deeprec::boosted_trees::GainsAreEqual(split.gain, champion.gain)
                              ? split.feature < champion.feature
                              : deeprec::boosted_trees::GainIsLarger(split.gain, champion.gain);
        if (wins) champion = split;
      }
    }
    return absl::OkStatus();
  }

  Pruning pruning_;
};

class CenterBiasOp : public EnsembleOp {
 public:
  using EnsembleOp::EnsembleOp;
  absl::Status Run(OpKernelContext* ctx, Resource* resource) override {
    const char* names[] = {"mean_gradients", "mean_hessians", "l1", "l2"};
    float values[4];
    for (int i = 0; i < 4; ++i) {
      TF_RETURN_IF_ERROR(RequireScalar(names[i], ctx->input(i + 1)));
      values[i] = ctx->input(i + 1).flat<float>()(0);
    }
    Tensor* again;
    TF_RETURN_IF_ERROR(ctx->allocate_output(0, {}, &again));
    mutex_lock lock(resource->mu);
    if (resource->trees.num_trees() > 0 && !resource->trees.tree(0).nodes[0].is_leaf) {
      return errors::InvalidArgument("the bias cannot be centered: the first tree is grown already");
    }
    ++resource->stamp;
    again->scalar<bool>()() = resource->trees.CenterBias(
        deeprec::boosted_trees::OptimizeLeaf(values[0], values[1], values[2], values[3]).weight);
    return absl::OkStatus();
  }
};

REGISTER_RESOURCE_HANDLE_KERNEL(BoostedTreesEnsembleResource);
REGISTER_KERNEL_BUILDER(Name("IsBoostedTreesEnsembleInitialized").Device(DEVICE_CPU), IsResourceInitialized<Resource>);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesCreateEnsemble").Device(DEVICE_CPU), CreateEnsembleOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesDeserializeEnsemble").Device(DEVICE_CPU), DeserializeEnsembleOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesSerializeEnsemble").Device(DEVICE_CPU), SerializeEnsembleOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesGetEnsembleStates").Device(DEVICE_CPU), GetEnsembleStatesOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesUpdateEnsemble").Device(DEVICE_CPU), UpdateEnsembleOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesCenterBias").Device(DEVICE_CPU), CenterBiasOp);

}  // namespace
}  // namespace tensorflow
