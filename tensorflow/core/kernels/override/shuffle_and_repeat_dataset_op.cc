// The dataset op ShuffleAndRepeatDataset with the order of TensorFlow 1.15: one random stream, of the op's own seeds, runs
// through all epochs. TensorFlow 2 draws new seeds for every epoch and every iterator. tf.data's optimizer puts this op in
// the place of a shuffle that is repeated, too.

#include <stdlib.h>

#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/kernels/override/register.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random.h"
#include "tensorflow/core/lib/random/random_distributions.h"
#include "tensorflow/core/util/determinism.h"

namespace tensorflow {
namespace data {
namespace {

constexpr char kOpName[] = "ShuffleAndRepeatDataset";
// Short epochs do not fill a large buffer: that would read far ahead, and an element is drawn from the oldest epoch only.
constexpr size_t kMaxEpochsInBuffer = 3;
constexpr int64_t kForever = -1;

struct Settings {
  int64_t buffer_size;  // kUnknownCardinality: a whole epoch
  int64_t seed;
  int64_t seed2;
  int64_t count;  // kForever, or the number of epochs
  bool reshuffle_each_iteration;
};

using Element = std::vector<Tensor>;

class ShuffleAndRepeatDataset : public DatasetBase {
 public:
  ShuffleAndRepeatDataset(OpKernelContext* ctx, const DatasetBase* input, const Settings& settings)
      : DatasetBase(DatasetContext(ctx)), input_(input), settings_(settings) {
    input_->Ref();
  }

  ~ShuffleAndRepeatDataset() override { input_->Unref(); }

  std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override;

  const DataTypeVector& output_dtypes() const override { return input_->output_dtypes(); }

  const std::vector<PartialTensorShape>& output_shapes() const override {
    return input_->output_shapes();
  }

  std::string DebugString() const override {
    return absl::StrCat("ShuffleAndRepeatDatasetOp(", settings_.buffer_size, ", ", settings_.seed, ", ",
                        settings_.seed2, ", ", settings_.count, ")::Dataset");
  }

  int64_t CardinalityInternal(CardinalityOptions options) const override {
    const int64_t one = input_->Cardinality(options);
    if (one == 0) return 0;
    if (one == kInfiniteCardinality || settings_.count == kForever) return kInfiniteCardinality;
    return one == kUnknownCardinality ? one : one * settings_.count;
  }

  absl::Status InputDatasets(std::vector<const DatasetBase*>* inputs) const override {
    inputs->push_back(input_);
    return absl::OkStatus();
  }

  absl::Status CheckExternalState() const override { return input_->CheckExternalState(); }

 protected:
  absl::Status AsGraphDefInternal(SerializationContext* ctx, DatasetGraphDefBuilder* b,
                                  Node** output) const override {
    Node* input = nullptr;
    TF_RETURN_IF_ERROR(b->AddInputDataset(ctx, input_, &input));
    std::vector<Node*> inputs = {input};
    for (int64_t value : {settings_.buffer_size, settings_.seed, settings_.seed2, settings_.count}) {
      Node* node = nullptr;
      TF_RETURN_IF_ERROR(b->AddScalar(value, &node));
      inputs.push_back(node);
    }
    AttrValue reshuffle;
    b->BuildAttrValue(settings_.reshuffle_each_iteration, &reshuffle);
    return b->AddDataset(this, inputs, {{"reshuffle_each_iteration", reshuffle}}, output);
  }

 private:
  class Iterator;

  const DatasetBase* const input_;
  const Settings settings_;
};

class ShuffleAndRepeatDataset::Iterator : public DatasetIterator<ShuffleAndRepeatDataset> {
 public:
  explicit Iterator(const Params& params)
      : DatasetIterator<ShuffleAndRepeatDataset>(params),
        philox_(params.dataset->settings_.seed, params.dataset->settings_.seed2),
        random_(&philox_) {}

  absl::Status Initialize(IteratorContext* ctx) override {
    mutex_lock lock(mu_);
    return StartEpoch(ctx);
  }

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    mutex_lock lock(mu_);
    TF_RETURN_IF_ERROR(Fill(ctx));
    *end_of_sequence = num_buffered_ == 0;
    if (*end_of_sequence) return absl::OkStatus();
    DropFinishedEpochs();
    std::deque<Element>& epoch = epochs_.front();
    // The place that the drawn element leaves takes the oldest one. 1.15's order depends on that.
    Element& drawn = epoch[random_() % epoch.size()];
    ++num_draws_;
    *out_tensors = std::move(drawn);
    if (&drawn != &epoch.front()) drawn = std::move(epoch.front());
    epoch.pop_front();
    --num_buffered_;
    RecordBufferDequeue(ctx, *out_tensors);
    return absl::OkStatus();
  }

 protected:
  std::shared_ptr<model::Node> CreateNode(IteratorContext* ctx,
                                          model::Node::Args args) const override {
    return model::MakeKnownRatioNode(std::move(args), /*ratio=*/1);
  }

  absl::Status SaveInternal(SerializationContext* ctx, IteratorStateWriter* writer) override {
    mutex_lock lock(mu_);
    // The seeds too: without seeds of its own, the dataset of the program that restores has drawn others.
    const Settings& settings = dataset()->settings_;
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "seed", settings.seed));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "seed2", settings.seed2));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "num_draws", num_draws_));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "epoch", epoch_));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "epoch_is_empty", epoch_is_empty_));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "input_exhausted", input_ == nullptr));
    if (input_ != nullptr) TF_RETURN_IF_ERROR(SaveInput(ctx, writer, input_));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "num_epochs", epochs_.size()));
    for (size_t i = 0; i < epochs_.size(); ++i) {
      const std::string key = absl::StrCat("epoch_", i);
      TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), key, epochs_[i].size()));
      for (size_t j = 0; j < epochs_[i].size(); ++j) {
        const Element& element = epochs_[i][j];
        const std::string element_key = absl::StrCat(key, "_", j);
        TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), element_key, element.size()));
        for (size_t k = 0; k < element.size(); ++k) {
          TF_RETURN_IF_ERROR(
              writer->WriteTensor(prefix(), absl::StrCat(element_key, "_", k), element[k]));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status RestoreInternal(IteratorContext* ctx, IteratorStateReader* reader) override {
    mutex_lock lock(mu_);
    int64_t seed, seed2, epoch_is_empty, input_exhausted, num_epochs;
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "seed", &seed));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "seed2", &seed2));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "num_draws", &num_draws_));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "epoch", &epoch_));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "epoch_is_empty", &epoch_is_empty));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "input_exhausted", &input_exhausted));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "num_epochs", &num_epochs));
    seed_ = seed;
    seed2_ = seed2;
    const int64_t draws = num_draws_;
    RestartRandom();
    random_.Skip(draws);
    num_draws_ = draws;
    epoch_is_empty_ = epoch_is_empty != 0;
    input_.reset();
    if (!input_exhausted) {
      TF_RETURN_IF_ERROR(MakeInput(ctx));
      TF_RETURN_IF_ERROR(RestoreInput(ctx, reader, input_));
    }
    epochs_.assign(num_epochs, {});
    num_buffered_ = 0;
    for (int64_t i = 0; i < num_epochs; ++i) {
      const std::string key = absl::StrCat("epoch_", i);
      int64_t num_elements;
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), key, &num_elements));
      for (int64_t j = 0; j < num_elements; ++j) {
        const std::string element_key = absl::StrCat(key, "_", j);
        int64_t num_tensors;
        TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), element_key, &num_tensors));
        Element element(num_tensors);
        for (int64_t k = 0; k < num_tensors; ++k) {
          TF_RETURN_IF_ERROR(reader->ReadTensor(ctx->flr(), prefix(),
                                                absl::StrCat(element_key, "_", k), &element[k]));
        }
        RecordBufferEnqueue(ctx, element);
        epochs_[i].push_back(std::move(element));
        ++num_buffered_;
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status MakeInput(IteratorContext* ctx) TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return dataset()->input_->MakeIterator(ctx, this, absl::StrCat(prefix(), "[", epoch_, "]"),
                                           &input_);
  }

  // Opens the input for the epoch number `epoch_`, or leaves it closed after the last one.
  absl::Status StartEpoch(IteratorContext* ctx) TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const int64_t count = dataset()->settings_.count;
    epoch_is_empty_ = true;
    if (count != kForever && epoch_ >= count) return absl::OkStatus();
    epochs_.emplace_back();
    return MakeInput(ctx);
  }

  // Reads until the buffer is full, or enough epochs are in it.
  absl::Status Fill(IteratorContext* ctx) TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const Settings& settings = dataset()->settings_;
    const bool whole_epoch = settings.buffer_size == kUnknownCardinality;
    const int64_t size =
        whole_epoch ? std::numeric_limits<int64_t>::max() : settings.buffer_size;
    DropFinishedEpochs();
    while (input_ != nullptr && num_buffered_ < size) {
      if (whole_epoch ? epochs_.size() > 1 && num_buffered_ > 0
                      : epochs_.size() > kMaxEpochsInBuffer && num_buffered_ > 0) {
        break;
      }
      Element element;
      bool end_of_epoch = false;
      TF_RETURN_IF_ERROR(input_->GetNext(ctx, &element, &end_of_epoch));
      if (!end_of_epoch) {
        epoch_is_empty_ = false;
        RecordBufferEnqueue(ctx, element);
        epochs_.back().push_back(std::move(element));
        ++num_buffered_;
        continue;
      }
      input_.reset();
      // An input that gives nothing would be opened again for ever.
      if (epoch_is_empty_ && settings.count == kForever) break;
      ++epoch_;
      TF_RETURN_IF_ERROR(StartEpoch(ctx));
    }
    return absl::OkStatus();
  }

  // Makes the oldest epoch that has elements the first one.
  void DropFinishedEpochs() TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    while (epochs_.size() > 1 && epochs_.front().empty()) {
      epochs_.pop_front();
      if (!dataset()->settings_.reshuffle_each_iteration) RestartRandom();
    }
  }

  void RestartRandom() TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    philox_ = random::PhiloxRandom(seed_, seed2_);
    random_ = random::SingleSampleAdapter<random::PhiloxRandom>(&philox_);
    num_draws_ = 0;
  }

  mutex mu_;
  std::unique_ptr<IteratorBase> input_ TF_GUARDED_BY(mu_);
  // The seeds that the stream started from: the dataset's, or those of a checkpoint.
  int64_t seed_ TF_GUARDED_BY(mu_) = dataset()->settings_.seed;
  int64_t seed2_ TF_GUARDED_BY(mu_) = dataset()->settings_.seed2;
  random::PhiloxRandom philox_ TF_GUARDED_BY(mu_);
  random::SingleSampleAdapter<random::PhiloxRandom> random_ TF_GUARDED_BY(mu_);
  int64_t num_draws_ TF_GUARDED_BY(mu_) = 0;
  int64_t epoch_ TF_GUARDED_BY(mu_) = 0;
  bool epoch_is_empty_ TF_GUARDED_BY(mu_) = true;
  // What was read and not drawn, epoch by epoch. The last one is being read.
  std::deque<std::deque<Element>> epochs_ TF_GUARDED_BY(mu_);
  int64_t num_buffered_ TF_GUARDED_BY(mu_) = 0;
};

std::unique_ptr<IteratorBase> ShuffleAndRepeatDataset::MakeIteratorInternal(
    const std::string& prefix) const {
  return std::make_unique<Iterator>(
      Iterator::Params{this, absl::StrCat(prefix, "::ShuffleAndRepeat")});
}

class ShuffleAndRepeatDatasetOp : public UnaryDatasetOpKernel {
 public:
  explicit ShuffleAndRepeatDatasetOp(OpKernelConstruction* ctx) : UnaryDatasetOpKernel(ctx) {
    // Graphs of 1.15 do not have it.
    if (ctx->HasAttr("reshuffle_each_iteration")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("reshuffle_each_iteration", &reshuffle_each_iteration_));
    }
  }

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase* input, DatasetBase** output) override {
    Settings settings;
    settings.reshuffle_each_iteration = reshuffle_each_iteration_;
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "buffer_size", &settings.buffer_size));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "seed", &settings.seed));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "seed2", &settings.seed2));
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "count", &settings.count));
    OP_REQUIRES(ctx, settings.buffer_size > 0 || settings.buffer_size == kUnknownCardinality,
                errors::InvalidArgument(
                    "buffer_size must be greater than zero or UNKNOWN_CARDINALITY, got ",
                    settings.buffer_size));
    OP_REQUIRES(ctx,
                settings.buffer_size != kUnknownCardinality ||
                    input->Cardinality(CardinalityOptions()) != kInfiniteCardinality,
                errors::InvalidArgument("buffer_size is UNKNOWN_CARDINALITY, a whole epoch, but the "
                                        "input dataset is infinite"));
    OP_REQUIRES(ctx, settings.count > 0 || settings.count == kForever,
                errors::InvalidArgument("count must be greater than zero or equal to -1, got ",
                                        settings.count));
    if (settings.seed == 0 && settings.seed2 == 0) {
      OP_REQUIRES(ctx, !OpDeterminismRequired(),
                  errors::InvalidArgument(
                      "seed and seed2 must not both be zero when op determinism is enabled"));
      settings.seed = random::New64();
      settings.seed2 = random::New64();
    }
    *output = new ShuffleAndRepeatDataset(ctx, input, settings);
  }

 private:
  bool reshuffle_each_iteration_ = true;
};

const bool registered = [] {
  // The 2.x root keeps the order of the release it is.
  const char* const root = getenv("TF_DEEPREC_ROOT");
  if (root != nullptr && strcmp(root, "2") == 0) return false;
  KernelDefBuilder constraints(kOpName);
  return RegisterOverride(kOpName, constraints, [](OpKernelConstruction* ctx) -> OpKernel* {
    return new ShuffleAndRepeatDatasetOp(ctx);
  });
}();

}  // namespace
}  // namespace data
}  // namespace tensorflow
