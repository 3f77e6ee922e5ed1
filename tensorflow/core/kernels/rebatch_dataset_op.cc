// Batches of another size, with rows in order or shuffled.

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/kernels/columnar_rows.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random.h"
#include "tensorflow/core/lib/random/random_distributions.h"

namespace tensorflow {
namespace data {
namespace {

using columnar::RowBatch;
using columnar::RowRun;

struct Settings {
  int64_t batch_size;
  int64_t min_batch_size;
  int64_t shuffle_buffer_size;
  int64_t seed;
  int64_t seed2;
  bool drop_remainder;
  bool reshuffle_each_iteration;
  std::vector<int64_t> ragged_ranks;
  DataTypeVector output_types;
  std::vector<PartialTensorShape> output_shapes;
};

class RebatchDataset : public DatasetBase {
 public:
  RebatchDataset(OpKernelContext* ctx, const DatasetBase* input, const Settings& settings)
      : DatasetBase(DatasetContext(ctx)), input_(input), settings_(settings) {
    input_->Ref();
  }

  ~RebatchDataset() override { input_->Unref(); }

  std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override;

  const DataTypeVector& output_dtypes() const override { return settings_.output_types; }

  const std::vector<PartialTensorShape>& output_shapes() const override { return settings_.output_shapes; }

  std::string DebugString() const override {
    return absl::StrCat("RebatchColumnarDatasetOp(", settings_.batch_size, ", ", settings_.shuffle_buffer_size,
                        ")::Dataset");
  }

  int64_t CardinalityInternal(CardinalityOptions options) const override {
    const int64_t input = input_->Cardinality(options);
    return input == 0 || input == kInfiniteCardinality ? input : kUnknownCardinality;
  }

  absl::Status InputDatasets(std::vector<const DatasetBase*>* inputs) const override {
    inputs->push_back(input_);
    return absl::OkStatus();
  }

  absl::Status CheckExternalState() const override { return input_->CheckExternalState(); }

 protected:
  absl::Status AsGraphDefInternal(SerializationContext* ctx, DatasetGraphDefBuilder* b, Node** output) const override {
    std::vector<Node*> inputs(1);
    TF_RETURN_IF_ERROR(b->AddInputDataset(ctx, input_, &inputs[0]));
    for (int64_t value : {settings_.batch_size, settings_.min_batch_size, settings_.shuffle_buffer_size, settings_.seed,
                          settings_.seed2}) {
      inputs.push_back(nullptr);
      TF_RETURN_IF_ERROR(b->AddScalar(value, &inputs.back()));
    }
    AttrValue drop_remainder, reshuffle, ragged_ranks;
    b->BuildAttrValue(settings_.drop_remainder, &drop_remainder);
    b->BuildAttrValue(settings_.reshuffle_each_iteration, &reshuffle);
    b->BuildAttrValue(settings_.ragged_ranks, &ragged_ranks);
    return b->AddDataset(this, inputs,
                         {{"drop_remainder", drop_remainder},
                          {"reshuffle_each_iteration", reshuffle},
                          {"field_ragged_ranks", ragged_ranks}},
                         output);
  }

 private:
  class Iterator;

  const DatasetBase* const input_;
  const Settings settings_;
  // Iterators made so far: each shuffles in another order.
  mutable std::atomic<int64_t> num_iterations_{0};
};

class RebatchDataset::Iterator : public DatasetIterator<RebatchDataset> {
 public:
  explicit Iterator(const Params& params)
      : DatasetIterator<RebatchDataset>(params),
        iteration_(settings().reshuffle_each_iteration ? dataset()->num_iterations_++ : 0) {
    RestartRandom();
  }

  absl::Status Initialize(IteratorContext* ctx) override {
    mutex_lock lock(mu_);
    return dataset()->input_->MakeIterator(ctx, this, prefix(), &input_);
  }

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    mutex_lock lock(mu_);
    TF_RETURN_IF_ERROR(Fill(ctx));
    const int64_t num_rows = std::min(settings().batch_size, num_rows_);
    *end_of_sequence = num_rows == 0 || (num_rows < settings().min_batch_size && settings().drop_remainder);
    if (*end_of_sequence) return absl::OkStatus();
    const std::vector<RowRun> runs = is_shuffled() ? Draw(num_rows) : Take(num_rows);
    num_rows_ -= num_rows;
    if (!is_shuffled() && runs.size() == 1 && runs[0].end - runs[0].begin == runs[0].batch->num_rows) {
      *out_tensors = runs[0].batch->tensors;
      return absl::OkStatus();
    }
    return columnar::GatherRows(ctx, settings().ragged_ranks, runs, out_tensors);
  }

 protected:
  std::shared_ptr<model::Node> CreateNode(IteratorContext* ctx, model::Node::Args args) const override {
    return model::MakeUnknownRatioNode(std::move(args));
  }

  absl::Status SaveInternal(SerializationContext* ctx, IteratorStateWriter* writer) override {
    mutex_lock lock(mu_);
    // The seeds too: without seeds of its own, the dataset of the program that restores has drawn others.
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "seed", seed_));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "seed2", seed2_));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "iteration", iteration_));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "num_draws", num_draws_));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "input_exhausted", int64_t{input_ == nullptr}));
    if (input_ != nullptr) TF_RETURN_IF_ERROR(SaveInput(ctx, writer, input_));
    std::unordered_map<const RowBatch*, int64_t> places;
    Tensor runs(DT_INT64, TensorShape({static_cast<int64_t>(runs_.size()), 3}));
    for (size_t i = 0; i < runs_.size(); ++i) {
      const auto [place, is_new] = places.emplace(runs_[i].batch.get(), places.size());
      if (is_new) {
        const std::vector<Tensor>& tensors = runs_[i].batch->tensors;
        for (size_t t = 0; t < tensors.size(); ++t) {
          TF_RETURN_IF_ERROR(writer->WriteTensor(prefix(), absl::StrCat("batch_", place->second, "_", t), tensors[t]));
        }
      }
      const int64_t row[] = {place->second, runs_[i].begin, runs_[i].end};
      std::copy(std::begin(row), std::end(row), runs.flat<int64_t>().data() + 3 * i);
    }
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "num_batches", static_cast<int64_t>(places.size())));
    return writer->WriteTensor(prefix(), "runs", runs);
  }

  absl::Status RestoreInternal(IteratorContext* ctx, IteratorStateReader* reader) override {
    mutex_lock lock(mu_);
    int64_t num_draws, input_exhausted, num_batches;
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "seed", &seed_));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "seed2", &seed2_));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "iteration", &iteration_));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "num_draws", &num_draws));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "input_exhausted", &input_exhausted));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "num_batches", &num_batches));
    RestartRandom();
    random_.Skip(num_draws);
    num_draws_ = num_draws;
    input_.reset();
    if (!input_exhausted) {
      TF_RETURN_IF_ERROR(dataset()->input_->MakeIterator(ctx, this, prefix(), &input_));
      TF_RETURN_IF_ERROR(RestoreInput(ctx, reader, input_));
    }
    std::vector<std::shared_ptr<const RowBatch>> batches(num_batches);
    for (int64_t b = 0; b < num_batches; ++b) {
      std::vector<Tensor> tensors(settings().output_types.size());
      for (size_t t = 0; t < tensors.size(); ++t) {
        TF_RETURN_IF_ERROR(
            reader->ReadTensor(ctx->flr(), prefix(), absl::StrCat("batch_", b, "_", t), &tensors[t]));
      }
      TF_RETURN_IF_ERROR(columnar::MakeRowBatch(settings().ragged_ranks, std::move(tensors), &batches[b]));
    }
    Tensor runs;
    TF_RETURN_IF_ERROR(reader->ReadTensor(ctx->flr(), prefix(), "runs", &runs));
    runs_.clear();
    num_rows_ = 0;
    const auto rows = runs.matrix<int64_t>();
    for (int64_t i = 0; i < runs.dim_size(0); ++i) {
      runs_.push_back({batches.at(rows(i, 0)), rows(i, 1), rows(i, 2)});
      num_rows_ += rows(i, 2) - rows(i, 1);
    }
    return absl::OkStatus();
  }

 private:
  const Settings& settings() const { return dataset()->settings_; }
  bool is_shuffled() const { return settings().shuffle_buffer_size > 0; }

  // Reads until there are rows enough for a batch, and to draw from, or the input ends.
  absl::Status Fill(IteratorContext* ctx) TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const int64_t enough = is_shuffled() ? std::max(settings().batch_size, settings().shuffle_buffer_size)
                                         : settings().min_batch_size;
    while (input_ != nullptr && num_rows_ < enough) {
      std::vector<Tensor> tensors;
      bool end = false;
      TF_RETURN_IF_ERROR(input_->GetNext(ctx, &tensors, &end));
      if (end) {
        input_.reset();
        break;
      }
      std::shared_ptr<const RowBatch> batch;
      TF_RETURN_IF_ERROR(columnar::MakeRowBatch(settings().ragged_ranks, std::move(tensors), &batch));
      num_rows_ += batch->num_rows;
      if (is_shuffled()) {
        for (int64_t row = 0; row < batch->num_rows; ++row) runs_.push_back({batch, row, row + 1});
      } else if (batch->num_rows > 0) {
        const int64_t num_rows = batch->num_rows;
        runs_.push_back({std::move(batch), 0, num_rows});
      }
    }
    return absl::OkStatus();
  }

  // The first rows of the buffer.
  std::vector<RowRun> Take(int64_t num_rows) TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::vector<RowRun> runs;
    while (num_rows > 0) {
      RowRun& first = runs_.front();
      const int64_t n = std::min(num_rows, first.end - first.begin);
      runs.push_back({first.batch, first.begin, first.begin + n});
      first.begin += n;
      num_rows -= n;
      if (first.begin == first.end) runs_.pop_front();
    }
    return runs;
  }

  // Rows from anywhere in the buffer: as many steps of a Fisher-Yates shuffle, from its end.
  std::vector<RowRun> Draw(int64_t num_rows) TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::vector<RowRun> runs;
    runs.reserve(num_rows);
    for (int64_t i = 0; i < num_rows; ++i) {
      const uint64_t high = random_();
      const uint64_t at = (high << 32 | random_()) % runs_.size();
      num_draws_ += 2;
      std::swap(runs_[at], runs_.back());
      runs.push_back(std::move(runs_.back()));
      runs_.pop_back();
    }
    return runs;
  }

  void RestartRandom() TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // The golden ratio spreads the numbers of iterations over all bits.
    philox_ = random::PhiloxRandom(seed_ ^ (static_cast<uint64_t>(iteration_) * 0x9E3779B97F4A7C15u), seed2_);
    random_ = random::SingleSampleAdapter<random::PhiloxRandom>(&philox_);
    num_draws_ = 0;
  }

  mutex mu_;
  std::unique_ptr<IteratorBase> input_ TF_GUARDED_BY(mu_);
  int64_t iteration_ TF_GUARDED_BY(mu_);
  int64_t seed_ TF_GUARDED_BY(mu_) = settings().seed;
  int64_t seed2_ TF_GUARDED_BY(mu_) = settings().seed2;
  random::PhiloxRandom philox_ TF_GUARDED_BY(mu_);
  random::SingleSampleAdapter<random::PhiloxRandom> random_ TF_GUARDED_BY(mu_){&philox_};
  int64_t num_draws_ TF_GUARDED_BY(mu_) = 0;
  // Rows that were read and not given; one row each where they are shuffled.
  std::deque<RowRun> runs_ TF_GUARDED_BY(mu_);
  int64_t num_rows_ TF_GUARDED_BY(mu_) = 0;
};

std::unique_ptr<IteratorBase> RebatchDataset::MakeIteratorInternal(const std::string& prefix) const {
  return std::make_unique<Iterator>(Iterator::Params{this, absl::StrCat(prefix, "::RebatchColumnar")});
}

class RebatchDatasetOp : public UnaryDatasetOpKernel {
 public:
  explicit RebatchDatasetOp(OpKernelConstruction* ctx) : UnaryDatasetOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("drop_remainder", &settings_.drop_remainder));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("reshuffle_each_iteration", &settings_.reshuffle_each_iteration));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("field_ragged_ranks", &settings_.ragged_ranks));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_types", &settings_.output_types));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &settings_.output_shapes));
    int64_t count = 0;
    for (int64_t rank : settings_.ragged_ranks) {
      OP_REQUIRES(ctx, rank >= 0,
                  absl::InvalidArgumentError(absl::StrCat("field_ragged_ranks must not be negative, got ", rank)));
      count += 1 + rank;
    }
    OP_REQUIRES(ctx, count == int64_t(settings_.output_types.size()),
                absl::InvalidArgumentError(absl::StrCat("field_ragged_ranks are of ", count, " components, output_types of ",
                                                        settings_.output_types.size())));
  }

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase* input, DatasetBase** output) override {
    Settings settings = settings_;
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "batch_size", &settings.batch_size));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "min_batch_size", &settings.min_batch_size));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "shuffle_buffer_size", &settings.shuffle_buffer_size));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "seed", &settings.seed));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "seed2", &settings.seed2));
    OP_REQUIRES(ctx, settings.batch_size > 0,
                absl::InvalidArgumentError(absl::StrCat("batch_size must be at least 1, got ", settings.batch_size)));
    OP_REQUIRES(ctx, settings.min_batch_size > 0 && settings.min_batch_size <= settings.batch_size,
                absl::InvalidArgumentError(absl::StrCat("min_batch_size must be at least 1 and at most batch_size (",
                                                        settings.batch_size, "), got ", settings.min_batch_size)));
    OP_REQUIRES(ctx, settings.shuffle_buffer_size >= 0,
                absl::InvalidArgumentError(
                    absl::StrCat("shuffle_buffer_size must not be negative, got ", settings.shuffle_buffer_size)));
    OP_REQUIRES(ctx, input->output_dtypes() == settings.output_types,
                absl::InvalidArgumentError(absl::StrCat("the input gives ", DataTypeVectorString(input->output_dtypes()),
                                                        ", output_types are ",
                                                        DataTypeVectorString(settings.output_types))));
    if (settings.seed == 0 && settings.seed2 == 0) {
      settings.seed = random::New64();
      settings.seed2 = random::New64();
    }
    *output = new RebatchDataset(ctx, input, settings);
  }

 private:
  Settings settings_;
};

REGISTER_KERNEL_BUILDER(Name("RebatchColumnarDataset").Device(DEVICE_CPU), RebatchDatasetOp);

}  // namespace
}  // namespace data
}  // namespace tensorflow
