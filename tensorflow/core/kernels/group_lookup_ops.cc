// Kernels of ops/group_lookup_ops.cc.

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/kernels/group_lookup_tables.h"
#include "tensorflow/core/kernels/pool_threads.h"
#include "tensorflow/core/kernels/step_inputs.h"
#include "tensorflow/core/sparse/sparse_combine.h"

namespace tensorflow {
namespace {

using deeprec::sparse::Combiner;
using deeprec::sparse::CombineRule;
using deeprec::sparse::Entries;
using deeprec::sparse::SparseKeys;
using deeprec::sparse::Threads;

// Entries that one thread takes in a go, unless one output row has more.
constexpr int64_t kEntriesOfPart = 1024;
// Of an entry, on one thread: to be prepared.
constexpr double kPrepareNs = 8;
// Of an entry: its keys and factor, and a row that is looked up and added.
double EntryNs(int64_t row_bytes) { return 30 + double(row_bytes) / 8; }

struct ColumnSpec {
  int64_t dim;
  int parts;
  TableKind kind;
  bool div;
  CombineRule rule;
  bool has_weights;
};

// What one run knows of a column.
struct Column {
  const ColumnSpec* spec = nullptr;
  ColumnTable table;
  SparseKeys sparse;
  Entries entries;
};

// A piece of the work: entries of a column that hold whole output rows.
struct Piece {
  int column;
  int64_t begin, end;
};

class GroupLookupBase : public OpKernel {
 public:
  explicit GroupLookupBase(OpKernelConstruction* ctx) : OpKernel(ctx), serves_only_(ServesOnly()) {
    std::vector<int64_t> dims, parts, default_ids;
    std::vector<std::string> kinds, strategies, combiners;
    std::vector<float> max_norms;
    std::vector<bool> prune, fill_empty, has_weights;
    int n, w;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("N", &n));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("W", &w));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dims", &dims));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("parts", &parts));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("kinds", &kinds));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("strategies", &strategies));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("combiners", &combiners));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_norms", &max_norms));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("prune", &prune));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("fill_empty", &fill_empty));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("default_ids", &default_ids));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_weights", &has_weights));
    for (const size_t size : {dims.size(), parts.size(), kinds.size(), strategies.size(), combiners.size(), max_norms.size(),
                              prune.size(), fill_empty.size(), default_ids.size(), has_weights.size()}) {
      OP_REQUIRES(ctx, size == size_t(n),
                  absl::InvalidArgumentError(absl::StrCat("each list attribute must have one element for each of the ", n,
                                                          " columns, got one of ", size)));
    }
    for (int i = 0; i < n; ++i) {
      ColumnSpec spec;
      OP_REQUIRES(ctx, dims[i] > 0 && parts[i] > 0 && parts[i] <= std::numeric_limits<int>::max() && max_norms[i] >= 0,
                  absl::InvalidArgumentError(absl::StrCat("column ", i, ": dims and parts must be positive, max_norms not "
                                                          "negative, got ", dims[i], ", ", parts[i], ", ", max_norms[i])));
      spec.dim = dims[i];
      spec.parts = int(parts[i]);
      spec.kind = kinds[i] == "ev"         ? TableKind::kEmbeddingVariable
                  : kinds[i] == "resource" ? TableKind::kResource
                                           : TableKind::kTensor;
      spec.div = strategies[i] == "div";
      spec.rule.combiner = combiners[i] == "sum"    ? Combiner::kSum
                           : combiners[i] == "mean" ? Combiner::kMean
                                                    : Combiner::kSqrtN;
      spec.rule.prune = prune[i];
      spec.rule.max_norm = max_norms[i];
      spec.rule.fill_empty = fill_empty[i];
      spec.rule.fill_key = default_ids[i];
      spec.has_weights = has_weights[i];
      num_tables_ += spec.parts;
      w -= spec.has_weights;
      specs_.push_back(spec);
    }
    std::vector<DataType> tables;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Ttables", &tables));
    OP_REQUIRES(ctx, w == 0 && num_tables_ == int64_t(tables.size()),
                absl::InvalidArgumentError(absl::StrCat("parts must add up to the number of tables, ", tables.size(), ", got ",
                                                        num_tables_, "; has_weights must be true W times")));
  }

 protected:
  int columns() const { return int(specs_.size()); }

  // Reads everything but the gradients, `first` of the inputs.
  absl::Status Open(OpKernelContext* ctx, int first, std::vector<Column>* columns) const {
    const int n = this->columns();
    const int indices = first + int(num_tables_);
    int table = first, weights = indices + 3 * n;
    *columns = std::vector<Column>(n);
    for (int i = 0; i < n; ++i) {
      Column& column = (*columns)[i];
      column.spec = &specs_[i];
      TF_RETURN_IF_ERROR(column.table.Open(ctx, table, specs_[i].parts, specs_[i].kind, specs_[i].div, specs_[i].dim,
                                           dtype_, serves_only_));
      table += specs_[i].parts;
      TF_RETURN_IF_ERROR(ReadSparse(i, ctx->input(indices + i), ctx->input(indices + n + i), ctx->input(indices + 2 * n + i),
                                    specs_[i].has_weights ? &ctx->input(weights++) : nullptr, &column.sparse));
    }
    return absl::OkStatus();
  }

  // Locks all variables, for as long as the result lives.
  static absl::Status Lock(std::vector<Column>* columns, std::unique_ptr<SharedMutexes>* locks) {
    std::vector<mutex*> mutexes;
    for (const Column& column : *columns) column.table.AddMutexes(&mutexes);
    *locks = std::make_unique<SharedMutexes>(std::move(mutexes));
    for (Column& column : *columns) TF_RETURN_IF_ERROR(column.table.Lock());
    return absl::OkStatus();
  }

  // Prepares the entries of all columns, on the op's threads.
  absl::Status Prepare(OpKernelContext* ctx, std::vector<Column>* columns) const {
    int64_t n = 0;
    for (const Column& column : *columns) n += column.sparse.n;
    return ForParts(ctx, int(columns->size()), double(n) * kPrepareNs,
                    [&](int i) { return PrepareColumn(i, &(*columns)[i]); });
  }

  // Calls work(piece, scratch) for pieces that make up all entries, on the op's threads; returns an error of theirs.
  template <class Work>
  absl::Status ForPieces(OpKernelContext* ctx, const std::vector<Column>& columns, const Work& work) const {
    std::vector<Piece> pieces;
    double cost = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
      const int64_t n = int64_t(columns[c].entries.keys.size());
      cost += double(n) * EntryNs(columns[c].spec->dim * DataTypeSize(dtype_));
      for (int64_t begin = 0; begin < n;) {
        const int64_t end = RowStart(columns[c].entries, std::min(n, begin + kEntriesOfPart));
        pieces.push_back(Piece{int(c), begin, end});
        begin = end;
      }
    }
    return ForParts(ctx, int(pieces.size()), cost, [&](int i) {
      thread_local FoundRows found;
      return work(pieces[i], &found);
    });
  }

  deeprec::sparse::ElementType type() const { return ElementTypeOf(dtype_); }
  int64_t num_tables() const { return num_tables_; }

  // The gradient of column i, which must fit its entries.
  absl::Status ReadGrad(OpKernelContext* ctx, const std::vector<Column>& columns, int i, const Tensor** grad) const {
    *grad = &ctx->input(i);
    const int64_t elements = columns[i].entries.num_rows * columns[i].spec->dim;
    if ((*grad)->NumElements() == elements) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("grads[", i, "] must have ", elements, " elements, got shape ",
                                                   (*grad)->shape().DebugString()));
  }

 private:
  static absl::Status PrepareColumn(int i, Column* column) {
    const std::string wrong = PrepareEntries(column->sparse, column->spec->rule, &column->entries);
    return wrong.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrCat("column ", i, ": ", wrong));
  }

  // Calls work(0) .. work(parts - 1), which take `cost_ns` together.
  template <class Work>
  static absl::Status ForParts(OpKernelContext* ctx, int parts, double cost_ns, const Work& work) {
    mutex mu;
    absl::Status status;
    const auto run = [&](int i) {
      const absl::Status of_part = work(i);
      if (of_part.ok()) return;
      mutex_lock lock(mu);
      status.Update(of_part);
    };
    const Threads threads = PoolThreads(ctx);
    if (parts < 2 || threads.run == nullptr || deeprec::sparse::NumShards(cost_ns, threads.count) == 1) {
      for (int i = 0; i < parts; ++i) run(i);
    } else {
      threads.run(parts, run);
    }
    return status;
  }

  static absl::Status ReadSparse(int i, const Tensor& indices, const Tensor& values, const Tensor& shape,
                                 const Tensor* weights, SparseKeys* sparse) {
    const int64_t n = values.NumElements();
    if (values.dims() != 1 || shape.dims() != 1 || shape.NumElements() < 2 ||
        indices.shape() != TensorShape({n, shape.NumElements()}) || (weights != nullptr && weights->shape() != values.shape())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "column ", i, ": indices, values, dense_shape and weights must have shapes [n,rank], [n], [rank] and [n] with rank "
          "> 1, got ", indices.shape().DebugString(), ", ", values.shape().DebugString(), ", ", shape.shape().DebugString(),
          weights == nullptr ? "" : absl::StrCat(", ", weights->shape().DebugString())));
    }
    sparse->indices = indices.flat<int64_t>().data();
    sparse->keys = values.flat<int64_t>().data();
    sparse->weights = weights == nullptr ? nullptr : weights->flat<float>().data();
    sparse->n = n;
    sparse->shape = shape.flat<int64_t>().data();
    sparse->rank = int(shape.NumElements());
    return absl::OkStatus();
  }

  const bool serves_only_;
  DataType dtype_;
  std::vector<ColumnSpec> specs_;
  int64_t num_tables_ = 0;
};

class GroupEmbeddingLookupOp : public GroupLookupBase {
 public:
  using GroupLookupBase::GroupLookupBase;
  void Compute(OpKernelContext* ctx) override {
    std::vector<Column> columns;
    std::unique_ptr<SharedMutexes> locks;
    OP_REQUIRES_OK(ctx, Open(ctx, 0, &columns));
    OP_REQUIRES_OK(ctx, Prepare(ctx, &columns));
    OP_REQUIRES_OK(ctx, Lock(&columns, &locks));
    std::vector<char*> out(columns.size());
    for (size_t c = 0; c < columns.size(); ++c) {
      TensorShape shape;
      const SparseKeys& sparse = columns[c].sparse;
      for (int d = 0; d + 1 < sparse.rank; ++d) OP_REQUIRES_OK(ctx, shape.AddDimWithStatus(sparse.shape[d]));
      OP_REQUIRES_OK(ctx, shape.AddDimWithStatus(columns[c].spec->dim));
      Tensor* rows;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(int(c), shape, &rows));
      out[c] = static_cast<char*>(rows->data());
      const int64_t bytes = columns[c].spec->dim * DataTypeSize(rows->dtype());
      for (const int64_t row : columns[c].entries.empty_rows) memset(out[c] + row * bytes, 0, bytes);
    }
    OP_REQUIRES_OK(ctx, ForPieces(ctx, columns, [&](const Piece& piece, FoundRows* found) {
                     const Column& column = columns[piece.column];
                     TF_RETURN_IF_ERROR(
                         column.table.Find(column.entries.keys.data() + piece.begin, piece.end - piece.begin, found));
                     CombineRows(type(), column.entries, piece.begin, piece.end, found->rows.data(), column.spec->dim,
                                 column.spec->rule.max_norm, out[piece.column]);
                     return absl::OkStatus();
                   }));
  }
};

class GroupEmbeddingLookupGradOp : public GroupLookupBase {
 public:
  explicit GroupEmbeddingLookupGradOp(OpKernelConstruction* ctx) : GroupLookupBase(ctx) {
    int64_t outputs;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("P", &outputs));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("touch_first", &touch_first_));
    OP_REQUIRES(ctx, outputs == num_tables() && int(touch_first_.size()) == columns(),
                absl::InvalidArgumentError(absl::StrCat("P must be ", num_tables(), " and touch_first a list of ", columns(),
                                                        ", got ", outputs, " and ", touch_first_.size())));
  }
  void Compute(OpKernelContext* ctx) override {
    std::vector<Column> columns;
    std::unique_ptr<SharedMutexes> locks;
    OP_REQUIRES_OK(ctx, Open(ctx, this->columns(), &columns));
    OP_REQUIRES_OK(ctx, Prepare(ctx, &columns));
    OP_REQUIRES_OK(ctx, Lock(&columns, &locks));
    std::vector<Target> targets(columns.size());
    int part = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
      OP_REQUIRES_OK(ctx, ReadGrad(ctx, columns, int(c), &targets[c].grad));
      OP_REQUIRES_OK(ctx, Allocate(ctx, columns[c], touch_first_[c], part, &targets[c]));
      part += columns[c].spec->parts;
    }
    OP_REQUIRES_OK(ctx, ForPieces(ctx, columns, [&](const Piece& piece, FoundRows* found) {
                     return Run(columns[piece.column], targets[piece.column], piece, found);
                   }));
  }

 private:
  struct Target {
    const Tensor* grad;
    std::vector<ColumnTable::Place> places;  // of the entries; none where there is one part
    std::vector<int64_t> at;                 // in the outputs of the part
    std::vector<char*> rows;                 // outputs by part
  };

  absl::Status Allocate(OpKernelContext* ctx, const Column& column, bool touch_first, int part, Target* target) const {
    const std::vector<int64_t>& keys = column.entries.keys;
    const int64_t n = int64_t(keys.size()), bytes = column.spec->dim * DataTypeSize(target->grad->dtype());
    const int parts = column.spec->parts;
    const bool touched = touch_first && !column.entries.empty_rows.empty();
    std::vector<int64_t> sizes(parts);
    target->at.resize(n);
    target->places.resize(n);
    for (int64_t i = 0; i < n; ++i) {
      TF_RETURN_IF_ERROR(column.table.Locate(keys[i], &target->places[i]));
      target->at[i] = sizes[target->places[i].part]++;
    }
    // Key 0 is the first row of the first part, by whatever strategy.
    sizes[0] += touched;
    std::vector<int64_t*> key_outputs(parts);
    for (int p = 0; p < parts; ++p) {
      Tensor *of_keys, *of_rows;
      TF_RETURN_IF_ERROR(ctx->allocate_output(part + p, TensorShape({sizes[p]}), &of_keys));
      TF_RETURN_IF_ERROR(ctx->allocate_output(int(num_tables()) + part + p, TensorShape({sizes[p], column.spec->dim}), &of_rows));
      key_outputs[p] = of_keys->flat<int64_t>().data();
      target->rows.push_back(static_cast<char*>(of_rows->data()));
    }
    for (int64_t i = 0; i < n; ++i) key_outputs[target->places[i].part][target->at[i]] = target->places[i].key;
    if (touched) {
      key_outputs[0][sizes[0] - 1] = 0;
      memset(target->rows[0] + (sizes[0] - 1) * bytes, 0, bytes);
    }
    return absl::OkStatus();
  }

  absl::Status Run(const Column& column, const Target& target, const Piece& piece, FoundRows* found) const {
    const int64_t n = piece.end - piece.begin, dim = column.spec->dim, bytes = dim * DataTypeSize(target.grad->dtype());
    const double max_norm = column.spec->rule.max_norm;
    if (max_norm > 0) {
      TF_RETURN_IF_ERROR(column.table.Find(column.entries.keys.data() + piece.begin, n, found));
    }
    const bool one = column.spec->parts == 1;
    std::vector<char> gradients(one ? 0 : n * bytes);
    char* const to = one ? target.rows[0] + piece.begin * bytes : gradients.data();
    RowGradients(type(), column.entries, piece.begin, piece.end, found->rows.data(), dim, max_norm, target.grad->data(), to);
    if (one) return absl::OkStatus();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t entry = piece.begin + i;
      memcpy(target.rows[target.places[entry].part] + target.at[entry] * bytes, gradients.data() + i * bytes, bytes);
    }
    return absl::OkStatus();
  }

  std::vector<bool> touch_first_;
};

class GroupEmbeddingLookupWeightsGradOp : public GroupLookupBase {
 public:
  using GroupLookupBase::GroupLookupBase;
  void Compute(OpKernelContext* ctx) override {
    std::vector<Column> columns;
    std::unique_ptr<SharedMutexes> locks;
    OP_REQUIRES_OK(ctx, Open(ctx, this->columns(), &columns));
    OP_REQUIRES_OK(ctx, Prepare(ctx, &columns));
    OP_REQUIRES_OK(ctx, Lock(&columns, &locks));
    std::vector<const Tensor*> grads(columns.size());
    std::vector<float*> out(columns.size());
    int output = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
      OP_REQUIRES_OK(ctx, ReadGrad(ctx, columns, int(c), &grads[c]));
      if (!columns[c].spec->has_weights) continue;
      Tensor* of_weights;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(output++, TensorShape({columns[c].sparse.n}), &of_weights));
      out[c] = of_weights->flat<float>().data();
      std::fill_n(out[c], columns[c].sparse.n, 0.0f);
    }
    OP_REQUIRES_OK(ctx, ForPieces(ctx, columns, [&](const Piece& piece, FoundRows* found) {
                     const Column& column = columns[piece.column];
                     if (out[piece.column] == nullptr) return absl::OkStatus();
                     TF_RETURN_IF_ERROR(
                         column.table.Find(column.entries.keys.data() + piece.begin, piece.end - piece.begin, found));
                     WeightGradients(type(), column.entries, column.sparse, column.spec->rule, piece.begin, piece.end,
                                     found->rows.data(), column.spec->dim, grads[piece.column]->data(), out[piece.column]);
                     return absl::OkStatus();
                   }));
  }
};

REGISTER_KERNEL_BUILDER(Name("GroupEmbeddingLookup").Device(DEVICE_CPU), GroupEmbeddingLookupOp);
REGISTER_KERNEL_BUILDER(Name("GroupEmbeddingLookupGrad").Device(DEVICE_CPU), GroupEmbeddingLookupGradOp);
REGISTER_KERNEL_BUILDER(Name("GroupEmbeddingLookupWeightsGrad").Device(DEVICE_CPU), GroupEmbeddingLookupWeightsGradOp);

}  // namespace
}  // namespace tensorflow
