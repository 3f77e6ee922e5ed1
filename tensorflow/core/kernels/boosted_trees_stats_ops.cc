// Kernels of the ops that gather gradient statistics of BoostedTrees and find the best splits in them.
#include "tensorflow/core/boosted_trees/split.h"
#include "tensorflow/core/kernels/boosted_trees_resources.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using boosted_trees_internal::RequireScalar;

class MakeStatsSummaryOp : public OpKernel {
 public:
  explicit MakeStatsSummaryOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_splits", &max_splits_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_buckets", &num_buckets_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor *node_ids, *gradients, *hessians;
    OpInputList list;
    OP_REQUIRES_OK(ctx, ctx->input("node_ids", &node_ids));
    OP_REQUIRES_OK(ctx, ctx->input("gradients", &gradients));
    OP_REQUIRES_OK(ctx, ctx->input("hessians", &hessians));
    OP_REQUIRES_OK(ctx, ctx->input_list("bucketized_features_list", &list));
    std::vector<const int32_t*> buckets;
    int64_t rows;
    OP_REQUIRES_OK(ctx, boosted_trees_internal::ReadColumns("bucketized_features_list", list, &buckets, &rows));
    for (const Tensor* t : {node_ids, gradients, hessians}) {
      OP_REQUIRES(ctx, t->NumElements() == rows,
                  errors::InvalidArgument("node_ids, gradients and hessians must have one entry for each of the ", rows,
                                          " rows, got shape ", t->shape().DebugString()));
    }
    Tensor* out_t;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {list.size(), max_splits_, num_buckets_, 2}, &out_t));
    out_t->flat<float>().setZero();
    auto out = out_t->tensor<float, 4>();
    const int32_t* node = node_ids->flat<int32_t>().data();
    const float* g = gradients->flat<float>().data();
    const float* h = hessians->flat<float>().data();
    // In order of the rows: the sums are those of 1.15, bit for bit.
    for (int f = 0; f < list.size(); ++f) {
      for (int64_t row = 0; row < rows; ++row) {
        const int32_t bucket = buckets[f][row];
        OP_REQUIRES(ctx, node[row] >= 0 && node[row] < max_splits_ && bucket >= 0 && bucket < num_buckets_,
                    errors::InvalidArgument("row ", row, " is in node ", node[row], " and bucket ", bucket,
                                            ", but max_splits is ", max_splits_, " and num_buckets ", num_buckets_));
        out(f, node[row], bucket, 0) += g[row];
        out(f, node[row], bucket, 1) += h[row];
      }
    }
  }

 private:
  int max_splits_, num_buckets_;
};

class CalculateBestGainsPerFeatureOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor* range;
    OpInputList stats;
    OP_REQUIRES_OK(ctx, ctx->input("node_id_range", &range));
    OP_REQUIRES_OK(ctx, ctx->input_list("stats_summary_list", &stats));
    OP_REQUIRES(ctx, range->dims() == 1 && range->dim_size(0) == 2,
                errors::InvalidArgument("node_id_range must have shape [2], got ", range->shape().DebugString()));
    const int32_t first = range->vec<int32_t>()(0), last = range->vec<int32_t>()(1);
    const char* names[] = {"l1", "l2", "tree_complexity", "min_node_weight"};
    float scalars[4];
    for (int i = 0; i < 4; ++i) {
      const Tensor* t;
      OP_REQUIRES_OK(ctx, ctx->input(names[i], &t));
      OP_REQUIRES_OK(ctx, RequireScalar(names[i], *t));
      scalars[i] = t->flat<float>()(0);
    }
    const char* outputs[] = {"node_ids_list", "gains_list", "thresholds_list", "left_node_contribs_list",
                             "right_node_contribs_list"};
    OpOutputList out[5];
    for (int i = 0; i < 5; ++i) OP_REQUIRES_OK(ctx, ctx->output_list(outputs[i], &out[i]));

    for (int f = 0; f < stats.size(); ++f) {
      const Tensor& t = stats[f];
      OP_REQUIRES(ctx, t.dims() == 3 && t.dim_size(2) == 2,
                  errors::InvalidArgument("stats_summary_list[", f, "] must be [max_splits, buckets, 2], got ",
                                          t.shape().DebugString()));
      OP_REQUIRES(ctx, 0 <= first && first <= last && last <= t.dim_size(0),
                  errors::InvalidArgument("node_id_range [", first, ", ", last, ") is not within the ", t.dim_size(0),
                                          " nodes of stats_summary_list[", f, "]"));
      std::vector<int32_t> ids;
      std::vector<deeprec::boosted_trees::BucketSplit> splits;
      for (int32_t node = first; node < last; ++node) {
        const auto split = deeprec::boosted_trees::FindBucketSplit(
            t.flat<float>().data() + node * t.dim_size(1) * 2, t.dim_size(1), scalars[0], scalars[1], scalars[3]);
        if (!split.allowed) continue;
        ids.push_back(node);
        splits.push_back(split);
      }
      const int64_t n = static_cast<int64_t>(ids.size());
      Tensor* part[5];
      for (int i = 0; i < 5; ++i) {
        OP_REQUIRES_OK(ctx, out[i].allocate(f, i < 3 ? TensorShape({n}) : TensorShape({n, 1}), &part[i]));
      }
      for (int64_t i = 0; i < n; ++i) {
        part[0]->flat<int32_t>()(i) = ids[i];
        part[1]->flat<float>()(i) = splits[i].gain - scalars[2];
        part[2]->flat<int32_t>()(i) = splits[i].threshold;
        part[3]->flat<float>()(i) = splits[i].left;
        part[4]->flat<float>()(i) = splits[i].right;
      }
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("BoostedTreesMakeStatsSummary").Device(DEVICE_CPU), MakeStatsSummaryOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesCalculateBestGainsPerFeature").Device(DEVICE_CPU),
                        CalculateBestGainsPerFeatureOp);

}  // namespace
}  // namespace tensorflow
