// Kernels of the ops that find bucket boundaries for float features of BoostedTrees.
#include <algorithm>

#include "tensorflow/core/kernels/boosted_trees_resources.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using boosted_trees_internal::ReadColumns;
using boosted_trees_internal::RequireScalar;
using deeprec::boosted_trees::QuantileStream;
using deeprec::boosted_trees::Summary;
using Resource = BoostedTreesQuantileStreamResource;

absl::Status RequireEpsilon(const Tensor& epsilon) {
  TF_RETURN_IF_ERROR(RequireScalar("epsilon", epsilon));
  const float value = epsilon.flat<float>()(0);
  if (value > 0 && value < 1) return absl::OkStatus();
  return errors::InvalidArgument("epsilon must be above 0 and below 1, got ", value);
}

absl::Status WriteSummary(const Summary& summary, int index, OpOutputList* outputs) {
  Tensor* out;
  TF_RETURN_IF_ERROR(outputs->allocate(index, TensorShape({static_cast<int64_t>(summary.size()), 4}), &out));
  auto matrix = out->matrix<float>();
  for (size_t i = 0; i < summary.size(); ++i) {
    matrix(i, 0) = summary[i].value;
    matrix(i, 1) = summary[i].weight;
    matrix(i, 2) = summary[i].min_rank;
    matrix(i, 3) = summary[i].max_rank;
  }
  return absl::OkStatus();
}

class CreateQuantileStreamResourceOp : public OpKernel {
 public:
  explicit CreateQuantileStreamResourceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_elements", &max_elements_));
    OP_REQUIRES(ctx, max_elements_ > 0, errors::InvalidArgument("max_elements must be positive, got ", max_elements_));
  }
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, RequireEpsilon(ctx->input(1)));
    OP_REQUIRES_OK(ctx, RequireScalar("num_streams", ctx->input(2)));
    const int64_t streams = ctx->input(2).flat<int64_t>()(0);
    OP_REQUIRES(ctx, streams >= 0, errors::InvalidArgument("num_streams must not be negative, got ", streams));
    const absl::Status status = CreateResource(
        ctx, HandleFromInput(ctx, 0), new Resource(ctx->input(1).flat<float>()(0), max_elements_, streams));
    if (!absl::IsAlreadyExists(status)) OP_REQUIRES_OK(ctx, status);
  }

 private:
  int64_t max_elements_;
};

class MakeQuantileSummariesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    OpInputList list;
    OpOutputList outputs;
    const Tensor *weights, *epsilon;
    OP_REQUIRES_OK(ctx, ctx->input_list("float_values", &list));
    OP_REQUIRES_OK(ctx, ctx->input("example_weights", &weights));
    OP_REQUIRES_OK(ctx, ctx->input("epsilon", &epsilon));
    OP_REQUIRES_OK(ctx, ctx->output_list("summaries", &outputs));
    OP_REQUIRES_OK(ctx, RequireEpsilon(*epsilon));
    std::vector<const float*> columns;
    int64_t rows;
    OP_REQUIRES_OK(ctx, ReadColumns("float_values", list, &columns, &rows));
    const bool one_weight = weights->NumElements() == 1;
    OP_REQUIRES(ctx, one_weight || weights->NumElements() == rows,
                errors::InvalidArgument("example_weights must be one weight or one for each of the ", rows,
                                        " rows, got shape ", weights->shape().DebugString()));
    const float* weight = weights->flat<float>().data();
    std::vector<Summary> summaries(columns.size());
    auto* workers = ctx->device()->tensorflow_cpu_worker_threads();
    Shard(workers->num_threads, workers->workers, columns.size(), 100 * rows, [&](int64_t begin, int64_t end) {
      for (int64_t f = begin; f < end; ++f) {
        QuantileStream stream(epsilon->flat<float>()(0), rows + 1);
        for (int64_t row = 0; row < rows; ++row) stream.Push(columns[f][row], weight[one_weight ? 0 : row]);
        summaries[f] = stream.Take();
      }
    });
    for (size_t f = 0; f < summaries.size(); ++f) OP_REQUIRES_OK(ctx, WriteSummary(summaries[f], f, &outputs));
  }
};

// What the others share: the streams of input 0, locked.
class StreamsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) final {
    core::RefCountPtr<Resource> resource;
    OP_REQUIRES_OK(ctx, LookupResource(ctx, HandleFromInput(ctx, 0), &resource));
    mutex_lock lock(resource->mu);
    OP_REQUIRES_OK(ctx, Run(ctx, resource.get()));
  }

 protected:
  virtual absl::Status Run(OpKernelContext* ctx, Resource* resource) TF_EXCLUSIVE_LOCKS_REQUIRED(resource->mu) = 0;

  static absl::Status RequireStreams(const char* name, int got, size_t want) {
    if (static_cast<size_t>(got) == want) return absl::OkStatus();
    return errors::InvalidArgument(name, " must have an entry for each of the ", want, " streams, got ", got);
  }
};

class AddSummariesOp : public StreamsOp {
 public:
  using StreamsOp::StreamsOp;
  absl::Status Run(OpKernelContext* ctx, Resource* resource) override TF_NO_THREAD_SAFETY_ANALYSIS {
    OpInputList list;
    TF_RETURN_IF_ERROR(ctx->input_list("summaries", &list));
    TF_RETURN_IF_ERROR(RequireStreams("summaries", list.size(), resource->streams.size()));
    for (int f = 0; f < list.size(); ++f) {
      if (list[f].dims() != 2 || list[f].dim_size(1) != 4) {
        return errors::InvalidArgument("summaries[", f, "] must be [entries, 4], got ", list[f].shape().DebugString());
      }
    }
    for (int f = 0; f < list.size(); ++f) {
      const auto rows = list[f].matrix<float>();
      Summary summary;
      for (int64_t i = 0; i < list[f].dim_size(0); ++i) summary.push_back({rows(i, 0), rows(i, 1), rows(i, 2), rows(i, 3)});
      resource->streams[f].PushSummary(std::move(summary));
    }
    return absl::OkStatus();
  }
};

class FlushQuantileSummariesOp : public StreamsOp {
 public:
  using StreamsOp::StreamsOp;
  absl::Status Run(OpKernelContext* ctx, Resource* resource) override TF_NO_THREAD_SAFETY_ANALYSIS {
    OpOutputList outputs;
    TF_RETURN_IF_ERROR(ctx->output_list("summaries", &outputs));
    TF_RETURN_IF_ERROR(RequireStreams("num_features", outputs.size(), resource->streams.size()));
    for (int f = 0; f < outputs.size(); ++f) {
      TF_RETURN_IF_ERROR(WriteSummary(resource->streams[f].Take(), f, &outputs));
    }
    return absl::OkStatus();
  }
};

class FlushOp : public StreamsOp {
 public:
  explicit FlushOp(OpKernelConstruction* ctx) : StreamsOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("generate_quantiles", &quantiles_));
  }
  absl::Status Run(OpKernelContext* ctx, Resource* resource) override TF_NO_THREAD_SAFETY_ANALYSIS {
    TF_RETURN_IF_ERROR(RequireScalar("num_buckets", ctx->input(1)));
    const int64_t buckets = ctx->input(1).flat<int64_t>()(0);
    if (buckets < 1) return errors::InvalidArgument("num_buckets must be positive, got ", buckets);
    for (size_t f = 0; f < resource->streams.size(); ++f) {
      const Summary summary = resource->streams[f].Take();
      resource->boundaries[f] = quantiles_ ? deeprec::boosted_trees::Quantiles(summary, buckets - 1)
                                           : deeprec::boosted_trees::Boundaries(summary, buckets);
    }
    return absl::OkStatus();
  }

 private:
  bool quantiles_;
};

class DeserializeOp : public StreamsOp {
 public:
  using StreamsOp::StreamsOp;
  absl::Status Run(OpKernelContext* ctx, Resource* resource) override TF_NO_THREAD_SAFETY_ANALYSIS {
    OpInputList list;
    TF_RETURN_IF_ERROR(ctx->input_list("bucket_boundaries", &list));
    TF_RETURN_IF_ERROR(RequireStreams("bucket_boundaries", list.size(), resource->boundaries.size()));
    for (int f = 0; f < list.size(); ++f) {
      const auto values = list[f].flat<float>();
      if (!std::is_sorted(values.data(), values.data() + values.size())) {
        return errors::InvalidArgument("bucket_boundaries[", f, "] must ascend");
      }
      resource->boundaries[f].assign(values.data(), values.data() + values.size());
    }
    resource->Restart();
    return absl::OkStatus();
  }
};

class GetBucketBoundariesOp : public StreamsOp {
 public:
  using StreamsOp::StreamsOp;
  absl::Status Run(OpKernelContext* ctx, Resource* resource) override TF_NO_THREAD_SAFETY_ANALYSIS {
    OpOutputList outputs;
    TF_RETURN_IF_ERROR(ctx->output_list("bucket_boundaries", &outputs));
    TF_RETURN_IF_ERROR(RequireStreams("num_features", outputs.size(), resource->boundaries.size()));
    for (int f = 0; f < outputs.size(); ++f) {
      const std::vector<float>& values = resource->boundaries[f];
      Tensor* out;
      TF_RETURN_IF_ERROR(outputs.allocate(f, TensorShape({static_cast<int64_t>(values.size())}), &out));
      std::copy(values.begin(), values.end(), out->flat<float>().data());
    }
    return absl::OkStatus();
  }
};

class BucketizeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    OpInputList values, boundaries;
    OpOutputList outputs;
    OP_REQUIRES_OK(ctx, ctx->input_list("float_values", &values));
    OP_REQUIRES_OK(ctx, ctx->input_list("bucket_boundaries", &boundaries));
    OP_REQUIRES_OK(ctx, ctx->output_list("buckets", &outputs));
    std::vector<const float*> columns;
    int64_t rows;
    OP_REQUIRES_OK(ctx, ReadColumns("float_values", values, &columns, &rows));
    for (int f = 0; f < values.size(); ++f) {
      Tensor* out;
      OP_REQUIRES_OK(ctx, outputs.allocate(f, TensorShape({rows}), &out));
      const float* begin = boundaries[f].flat<float>().data();
      const float* end = begin + boundaries[f].NumElements();
      auto buckets = out->vec<int32_t>();
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t bucket = std::lower_bound(begin, end, columns[f][row]) - begin;
        // Values above the last boundary belong to the last bucket; without boundaries there is one bucket.
        buckets(row) = static_cast<int32_t>(std::max<int64_t>(std::min<int64_t>(bucket, end - begin - 1), 0));
      }
    }
  }
};

REGISTER_RESOURCE_HANDLE_KERNEL(BoostedTreesQuantileStreamResource);
REGISTER_KERNEL_BUILDER(Name("IsBoostedTreesQuantileStreamResourceInitialized").Device(DEVICE_CPU),
                        IsResourceInitialized<Resource>);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesCreateQuantileStreamResource").Device(DEVICE_CPU),
                        CreateQuantileStreamResourceOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesMakeQuantileSummaries").Device(DEVICE_CPU), MakeQuantileSummariesOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesFlushQuantileSummaries").Device(DEVICE_CPU), FlushQuantileSummariesOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesQuantileStreamResourceAddSummaries").Device(DEVICE_CPU), AddSummariesOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesQuantileStreamResourceFlush").Device(DEVICE_CPU), FlushOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesQuantileStreamResourceDeserialize").Device(DEVICE_CPU), DeserializeOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesQuantileStreamResourceGetBucketBoundaries").Device(DEVICE_CPU),
                        GetBucketBoundariesOp);
REGISTER_KERNEL_BUILDER(Name("BoostedTreesBucketize").Device(DEVICE_CPU), BucketizeOp);

}  // namespace
}  // namespace tensorflow
