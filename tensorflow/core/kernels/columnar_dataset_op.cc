// The dataset of the batches of one columnar file.

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/kernels/columnar_file.h"
#include "tensorflow/core/kernels/columnar_tensors.h"
#include "tensorflow/core/kernels/columnar_threads.h"
#include "xla/tsl/platform/statusor.h"

namespace tensorflow {
namespace data {
namespace {

using columnar::Batch;
using columnar::BatchStream;
using columnar::Field;
using columnar::File;
using columnar::Rows;

// The attributes of the op.
struct Settings {
  columnar::FileOptions file;  // its batch_size is an input of the op
  std::vector<Field> fields;
  std::vector<PartialTensorShape> field_shapes;
  bool drop_remainder;
  bool skip_corrupted_data;
  DataTypeVector output_types;
  std::vector<PartialTensorShape> output_shapes;
};

class ColumnarFileDataset : public DatasetBase {
 public:
  ColumnarFileDataset(OpKernelContext* ctx, const Settings& settings, std::string filename)
      : DatasetBase(DatasetContext(ctx)), settings_(settings), filename_(std::move(filename)) {}

  std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override;

  const DataTypeVector& output_dtypes() const override { return settings_.output_types; }

  const std::vector<PartialTensorShape>& output_shapes() const override { return settings_.output_shapes; }

  std::string DebugString() const override { return absl::StrCat("ColumnarFileDatasetOp(", filename_, ")::Dataset"); }

  absl::Status InputDatasets(std::vector<const DatasetBase*>* inputs) const override { return absl::OkStatus(); }

  absl::Status CheckExternalState() const override { return absl::OkStatus(); }

 protected:
  absl::Status AsGraphDefInternal(SerializationContext* ctx, DatasetGraphDefBuilder* b, Node** output) const override {
    Node* filename = nullptr;
    Node* batch_size = nullptr;
    TF_RETURN_IF_ERROR(b->AddScalar(tstring(filename_), &filename));
    TF_RETURN_IF_ERROR(b->AddScalar(settings_.file.batch_size, &batch_size));
    std::vector<int64_t> ragged_ranks;
    for (const Field& field : settings_.fields) ragged_ranks.push_back(field.ragged_rank);
    std::vector<std::pair<absl::string_view, AttrValue>> attrs;
    const auto add = [b, &attrs](absl::string_view name, const auto& value) {
      attrs.emplace_back(name, AttrValue());
      b->BuildAttrValue(value, &attrs.back().second);
    };
    add("format", settings_.file.format);
    add("field_names", settings_.file.columns);
    add("field_ragged_ranks", ragged_ranks);
    add("field_shapes", settings_.field_shapes);
    add("partition_count", settings_.file.partition_count);
    add("partition_index", settings_.file.partition_index);
    add("drop_remainder", settings_.drop_remainder);
    add("skip_corrupted_data", settings_.skip_corrupted_data);
    return b->AddDataset(this, {filename, batch_size}, attrs, output);
  }

 private:
  class Iterator;

  const Settings settings_;
  const std::string filename_;
};

class ColumnarFileDataset::Iterator : public DatasetIterator<ColumnarFileDataset> {
 public:
  explicit Iterator(const Params& params)
      : DatasetIterator<ColumnarFileDataset>(params),
        num_text_fields_(std::count_if(settings().fields.begin(), settings().fields.end(),
                                       [](const Field& field) { return field.dtype == DT_STRING; })) {}

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    mutex_lock lock(mu_);
    const int64_t batch_size = settings().file.batch_size;
    *end_of_sequence = false;
    while (true) {
      TF_RETURN_IF_ERROR(OpenPart());
      if (at_end_) {
        *end_of_sequence = true;
        return absl::OkStatus();
      }
      TF_RETURN_IF_ERROR(Fill(batch_size));
      const int64_t num_rows = std::min(batch_size, num_buffered_);
      if (num_rows == 0 || (num_rows < batch_size && settings().drop_remainder)) {
        NextPart();
        continue;
      }
      const std::vector<Rows> rows = Take(num_rows);
      Allocator* const allocator = ctx->allocator({});
      const std::vector<BatchStream::Column>& columns = columns_;
      const absl::Status status = columnar::MakeFields(
          ctx, settings().fields.size(), num_rows * num_text_fields_,
          [&](int i, std::vector<Tensor>* tensors) {
            return columnar::AppendTensors(settings().fields[i], columns[i], rows, allocator, tensors);
          },
          out_tensors);
      if (!status.ok()) return absl::Status(status.code(), absl::StrCat(filename(), ": ", status.message()));
      row_ += num_rows;
      return absl::OkStatus();
    }
  }

 protected:
  std::shared_ptr<model::Node> CreateNode(IteratorContext* ctx, model::Node::Args args) const override {
    return model::MakeSourceNode(std::move(args));
  }

  absl::Status SaveInternal(SerializationContext* ctx, IteratorStateWriter* writer) override {
    mutex_lock lock(mu_);
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "part", part_));
    TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "row", row_));
    return writer->WriteScalar(prefix(), "at_end", int64_t{at_end_});
  }

  absl::Status RestoreInternal(IteratorContext* ctx, IteratorStateReader* reader) override {
    mutex_lock lock(mu_);
    int64_t at_end;
    NextPart();
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "part", &part_));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "row", &row_));
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "at_end", &at_end));
    at_end_ = at_end != 0;
    return absl::OkStatus();
  }

 private:
  const Settings& settings() const { return dataset()->settings_; }
  const std::string& filename() const { return dataset()->filename_; }

  // Passes over data that cannot be decoded, if it may: `status` is OK then.
  bool Skip(absl::Status* status) const {
    if (!settings().skip_corrupted_data || !absl::IsDataLoss(*status)) return false;
    columnar::ReportSkipped(filename(), *status);
    *status = absl::OkStatus();
    return true;
  }

  // Sees to it that a part is open, or that at_end_ says there is none left.
  absl::Status OpenPart() TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (at_end_ || stream_open_) return absl::OkStatus();
    if (file_ == nullptr) {
      absl::StatusOr<std::unique_ptr<File>> file = File::Open(filename(), settings().file);
      if (!file.ok()) {
        absl::Status status = file.status();
        at_end_ = Skip(&status);
        return status;
      }
      file_ = std::move(*file);
    }
    while (part_ < file_->num_parts()) {
      absl::StatusOr<std::unique_ptr<BatchStream>> stream = file_->Read(part_, row_);
      absl::Status status = stream.status();
      if (status.ok()) {
        columns_ = (*stream)->columns();
        TF_RETURN_IF_ERROR(CheckTypes());
        stream_ = std::move(*stream);
        stream_open_ = true;
        return absl::OkStatus();
      }
      if (!Skip(&status)) return status;
      NextPart();
    }
    at_end_ = true;
    file_.reset();
    return absl::OkStatus();
  }

  void NextPart() TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    stream_.reset();
    stream_open_ = false;
    buffered_.clear();
    num_buffered_ = 0;
    ++part_;
    row_ = 0;
  }

  absl::Status CheckTypes() TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Field& field = settings().fields[i];
      const deeprec::columnar::ColumnType& type = columns_[i].type;
      if (columnar::DataTypeOf(type.element) != field.dtype || type.levels.size() < field.ragged_rank ||
          (type.levels.size() > field.ragged_rank && field.shape.empty())) {
        return absl::InvalidArgumentError(absl::StrCat(
            filename(), ": column '", field.name, "' holds ", deeprec::columnar::Name(type.element), " below ",
            type.levels.size(), " list levels, expected ", DataTypeString(field.dtype), " with a ragged_rank of ",
            field.ragged_rank, field.shape.empty() ? "" : " and a shape"));
      }
    }
    return absl::OkStatus();
  }

  // Reads until a batch is there, or the part ends.
  absl::Status Fill(int64_t batch_size) TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    while (stream_ != nullptr && num_buffered_ < batch_size) {
      absl::StatusOr<std::shared_ptr<const Batch>> batch = stream_->Next();
      absl::Status status = batch.status();
      if (!status.ok() && !Skip(&status)) return status;
      if (!batch.ok() || *batch == nullptr) {
        stream_.reset();
        break;
      }
      const int64_t num_rows = (*batch)->array().length;
      if (num_rows > 0) buffered_.push_back({std::move(*batch), 0, num_rows});
      num_buffered_ += num_rows;
    }
    return absl::OkStatus();
  }

  std::vector<Rows> Take(int64_t num_rows) TF_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::vector<Rows> rows;
    num_buffered_ -= num_rows;
    while (num_rows > 0) {
      Rows& first = buffered_.front();
      const int64_t n = std::min(num_rows, first.end - first.begin);
      rows.push_back({first.batch, first.begin, first.begin + n});
      first.begin += n;
      num_rows -= n;
      if (first.begin == first.end) buffered_.pop_front();
    }
    return rows;
  }

  const int64_t num_text_fields_;
  mutex mu_;
  std::unique_ptr<File> file_ TF_GUARDED_BY(mu_);
  bool at_end_ TF_GUARDED_BY(mu_) = false;
  // The part that is read, and the rows of it that were given.
  int64_t part_ TF_GUARDED_BY(mu_) = 0;
  int64_t row_ TF_GUARDED_BY(mu_) = 0;
  // A part stays open when its stream has ended, until what is buffered of it is given.
  bool stream_open_ TF_GUARDED_BY(mu_) = false;
  std::unique_ptr<BatchStream> stream_ TF_GUARDED_BY(mu_);
  std::vector<BatchStream::Column> columns_ TF_GUARDED_BY(mu_);
  std::deque<Rows> buffered_ TF_GUARDED_BY(mu_);
  int64_t num_buffered_ TF_GUARDED_BY(mu_) = 0;
};

std::unique_ptr<IteratorBase> ColumnarFileDataset::MakeIteratorInternal(const std::string& prefix) const {
  return std::make_unique<Iterator>(Iterator::Params{this, absl::StrCat(prefix, "::ColumnarFile")});
}

class ColumnarFileDatasetOp : public DatasetOpKernel {
 public:
  explicit ColumnarFileDatasetOp(OpKernelConstruction* ctx) : DatasetOpKernel(ctx) {
    std::vector<int64_t> ragged_ranks;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("format", &settings_.file.format));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("field_names", &settings_.file.columns));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("field_ragged_ranks", &ragged_ranks));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("field_shapes", &settings_.field_shapes));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("partition_count", &settings_.file.partition_count));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("partition_index", &settings_.file.partition_index));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("drop_remainder", &settings_.drop_remainder));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("skip_corrupted_data", &settings_.skip_corrupted_data));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_types", &settings_.output_types));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &settings_.output_shapes));
    const size_t count = settings_.file.partition_count;
    OP_REQUIRES(ctx, settings_.file.partition_index >= 0 && size_t(settings_.file.partition_index) < count,
                absl::InvalidArgumentError(absl::StrCat("partition_index must be at least 0 and less than partition_count (",
                                                        count, "), got ", settings_.file.partition_index)));
    const std::vector<std::string>& names = settings_.file.columns;
    OP_REQUIRES(ctx, ragged_ranks.size() == names.size() && settings_.field_shapes.size() == names.size(),
                absl::InvalidArgumentError(absl::StrCat(
                    "field_names, field_ragged_ranks and field_shapes must be of one length, got ", names.size(), ", ",
                    ragged_ranks.size(), " and ", settings_.field_shapes.size())));
    size_t output = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      const PartialTensorShape& shape = settings_.field_shapes[i];
      OP_REQUIRES(ctx, ragged_ranks[i] >= 0,
                  absl::InvalidArgumentError(absl::StrCat("field_ragged_ranks must not be negative, got ", ragged_ranks[i],
                                                          " for column '", names[i], "'")));
      OP_REQUIRES(ctx, shape.IsFullyDefined(),
                  absl::InvalidArgumentError(absl::StrCat("field_shapes must be fully defined, got ", shape.DebugString(),
                                                          " for column '", names[i], "'")));
      OP_REQUIRES(ctx, output + ragged_ranks[i] < settings_.output_types.size(), TooFewTypes());
      Field field;
      field.name = names[i];
      field.dtype = settings_.output_types[output];
      field.ragged_rank = ragged_ranks[i];
      for (int d = 0; d < shape.dims(); ++d) field.shape.push_back(shape.dim_size(d));
      settings_.fields.push_back(std::move(field));
      output += 1 + ragged_ranks[i];
    }
    OP_REQUIRES(ctx, output == settings_.output_types.size() && output == settings_.output_shapes.size(), TooFewTypes());
  }

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase** output) override {
    tstring filename;
    OP_REQUIRES_OK(ctx, ParseScalarArgument<tstring>(ctx, "filename", &filename));
    Settings settings = settings_;
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "batch_size", &settings.file.batch_size));
    OP_REQUIRES(ctx, settings.file.batch_size > 0,
                absl::InvalidArgumentError(
                    absl::StrCat("batch_size must be at least 1, got ", settings.file.batch_size)));
    *output = new ColumnarFileDataset(ctx, settings, filename);
  }

 private:
  absl::Status TooFewTypes() const {
    return absl::InvalidArgumentError(
        absl::StrCat("output_types and output_shapes must have an entry for the values and one for each row splits of every "
                     "field, got ",
                     settings_.output_types.size(), " and ", settings_.output_shapes.size()));
  }

  Settings settings_;
};

REGISTER_KERNEL_BUILDER(Name("ColumnarFileDataset").Device(DEVICE_CPU), ColumnarFileDatasetOp);

}  // namespace
}  // namespace data
}  // namespace tensorflow
