// Kernels of the ops that score rows with a BoostedTrees ensemble.
#include "tensorflow/core/kernels/boosted_trees_resources.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using deeprec::boosted_trees::Buckets;
using deeprec::boosted_trees::Ensemble;
using Resource = BoostedTreesEnsembleResource;

// Nanoseconds for a row to go through a tree, roughly.
constexpr int64_t kCostOfTree = 30;

class ScoreOp : public OpKernel {
 public:
  explicit ScoreOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int logits;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("logits_dimension", &logits));
    OP_REQUIRES(ctx, logits == 1, errors::InvalidArgument("logits_dimension must be 1, got ", logits));
  }

  void Compute(OpKernelContext* ctx) final {
    core::RefCountPtr<Resource> resource;
    OP_REQUIRES_OK(ctx, LookupResource(ctx, HandleFromInput(ctx, 0), &resource));
    OpInputList list;
    OP_REQUIRES_OK(ctx, ctx->input_list("bucketized_features", &list));
    Buckets buckets;
    int64_t rows;
    OP_REQUIRES_OK(ctx, boosted_trees_internal::ReadColumns("bucketized_features", list, &buckets, &rows));
    tf_shared_lock lock(resource->mu);
    OP_REQUIRES(ctx, resource->trees.num_features() <= list.size(),
                errors::InvalidArgument("the ensemble splits ", resource->trees.num_features(),
                                        " features, but bucketized_features has ", list.size()));
    Run(ctx, resource->trees, buckets, rows);
  }

 protected:
  virtual void Run(OpKernelContext* ctx, const Ensemble& trees, const Buckets& buckets, int64_t rows) = 0;

  static void ForEachRow(OpKernelContext* ctx, const Ensemble& trees, int64_t rows,
                         const std::function<void(int64_t)>& work) {
    auto* workers = ctx->device()->tensorflow_cpu_worker_threads();
    Shard(workers->num_threads, workers->workers, rows, kCostOfTree * (trees.num_trees() + 1),
          [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) work(row);
          });
  }
};

class PredictOp : public ScoreOp {
 public:
  using ScoreOp::ScoreOp;
  void Run(OpKernelContext* ctx, const Ensemble& trees, const Buckets& buckets, int64_t rows) override {
    Tensor* logits;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows, 1}, &logits));
    float* out = logits->flat<float>().data();
    ForEachRow(ctx, trees, rows, [&](int64_t row) { out[row] = trees.Predict(buckets, row); });
  }
};

class TrainingPredictOp : public ScoreOp {
 public:
  using ScoreOp::ScoreOp;
  void Run(OpKernelContext* ctx, const Ensemble& trees, const Buckets& buckets, int64_t rows) override {
    const Tensor *cached_trees, *cached_nodes;
    OP_REQUIRES_OK(ctx, ctx->input("cached_tree_ids", &cached_trees));
    OP_REQUIRES_OK(ctx, ctx->input("cached_node_ids", &cached_nodes));
    OP_REQUIRES(ctx, cached_trees->NumElements() == rows && cached_nodes->NumElements() == rows,
                errors::InvalidArgument("cached_tree_ids and cached_node_ids must have an entry for each of the ", rows,
                                        " rows, got shapes ", cached_trees->shape().DebugString(), " and ",
                                        cached_nodes->shape().DebugString()));
    Tensor *logits, *tree_ids, *node_ids;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows, 1}, &logits));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {rows}, &tree_ids));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {rows}, &node_ids));
    const int32_t* from_tree = cached_trees->flat<int32_t>().data();
    const int32_t* from_node = cached_nodes->flat<int32_t>().data();
    if (trees.num_trees() == 0) {
      logits->flat<float>().setZero();
      node_ids->flat<int32_t>().setZero();
      std::copy_n(from_tree, rows, tree_ids->flat<int32_t>().data());
      return;
    }
    for (int64_t row = 0; row < rows; ++row) {
      const int32_t t = from_tree[row], n = from_node[row];
      bool known = t >= 0 && t < trees.num_trees();
      if (known && n >= 0) {
        const auto& tree = trees.tree(t);
        known = n < static_cast<int64_t>(tree.pruned.empty() ? tree.nodes.size() : tree.pruned.size());
      }
      OP_REQUIRES(ctx, known,
                  errors::InvalidArgument("row ", row, " was cached at node ", n, " of tree ", t,
                                          ", which the ensemble does not have"));
    }
    float* out = logits->flat<float>().data();
    int32_t* to_tree = tree_ids->flat<int32_t>().data();
    int32_t* to_node = node_ids->flat<int32_t>().data();
    ForEachRow(ctx, trees, rows, [&](int64_t row) {
      int32_t tree = from_tree[row], node = from_node[row];
      out[row] = trees.PredictFrom(buckets, row, &tree, &node);
      to_tree[row] = tree;
      to_node[row] = node;
    });
  }
};

class ExampleDebugOutputsOp : public ScoreOp {
 public:
  using ScoreOp::ScoreOp;
  void Run(OpKernelContext* ctx, const Ensemble& trees, const Buckets& buckets, int64_t rows) override {
    Tensor* text;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows}, &text));
    tstring* out = text->flat<tstring>().data();
    ForEachRow(ctx, trees, rows, [&](int64_t row) {
      std::vector<int32_t> features;
      std::vector<float> logits;
      trees.Explain(buckets, row, &features, &logits);
      out[row] = deeprec::boosted_trees::SerializeExplanation(features, logits);
    });
  }
};

REGISTER_KERNEL_BUILDER(Name("BoostedTreesPredict").Device(DEVICE_CPU), PredictOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesTrainingPredict").Device(DEVICE_CPU), TrainingPredictOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesExampleDebugOutputs").Device(DEVICE_CPU), ExampleDebugOutputsOp);

}  // namespace
}  // namespace tensorflow
