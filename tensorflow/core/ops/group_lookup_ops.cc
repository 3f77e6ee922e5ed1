// Sparse lookups of many columns in one op.

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// A column's output: the dense shape of its ids without the last dimension, then the dim.
absl::Status GroupLookupShape(InferenceContext* c) {
  int n;
  std::vector<int64_t> dims;
  std::vector<DataType> tables;
  TF_RETURN_IF_ERROR(c->GetAttr("N", &n));
  TF_RETURN_IF_ERROR(c->GetAttr("dims", &dims));
  TF_RETURN_IF_ERROR(c->GetAttr("Ttables", &tables));
  if (int64_t(dims.size()) != n) {
    return absl::InvalidArgumentError("dims must have one number for each column");
  }
  for (int i = 0; i < n; ++i) {
    ShapeHandle shape, rows, out;
    TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(int(tables.size()) + 2 * n + i, &shape));
    if (!c->RankKnown(shape)) {
      c->set_output(i, c->UnknownShape());
      continue;
    }
    TF_RETURN_IF_ERROR(c->WithRankAtLeast(shape, 2, &shape));
    TF_RETURN_IF_ERROR(c->Subshape(shape, 0, -1, &rows));
    TF_RETURN_IF_ERROR(c->Concatenate(rows, c->Vector(dims[i]), &out));
    c->set_output(i, out);
  }
  return absl::OkStatus();
}

#define GROUP_LOOKUP_INPUTS         \
  Input("tables: Ttables")          \
      .Input("indices: N * int64")  \
      .Input("values: N * int64")   \
      .Input("shapes: N * int64")   \
      .Input("weights: W * float")

#define GROUP_LOOKUP_ATTRS                                              \
  Attr("T: {half, bfloat16, float, double}")                            \
      .Attr("Ttables: list({resource, half, bfloat16, float, double})") \
      .Attr("N: int >= 1")                                              \
      .Attr("W: int >= 0")                                              \
      .Attr("dims: list(int)")                                          \
      .Attr("parts: list(int)")                                         \
      .Attr("kinds: list({'ev', 'resource', 'tensor'})")                \
      .Attr("strategies: list({'mod', 'div'})")                         \
      .Attr("combiners: list({'sum', 'mean', 'sqrtn'})")                \
      .Attr("max_norms: list(float)")                                   \
      .Attr("prune: list(bool)")                                        \
      .Attr("fill_empty: list(bool)")                                   \
      .Attr("default_ids: list(int)")                                   \
      .Attr("has_weights: list(bool)")                                  \
      .Attr("touch_first: list(bool)")                                  \
      .SetIsStateful()

REGISTER_OP("GroupEmbeddingLookup")
    .GROUP_LOOKUP_INPUTS.Output("rows: N * T")
    .GROUP_LOOKUP_ATTRS.SetShapeFn(GroupLookupShape)
    .Doc(R"doc(
Combined sparse lookups of N columns, each in its own table.

tables: The parts of the first column's table, then of the second's, and so on: handles of EmbeddingVariables or of resource
  variables `[rows, dim]`, or tensors of that shape.
indices, values, shapes: Of each column a SparseTensor of keys `[d_0, ..., d_n]`, n > 0, in row-major order.
weights: `[number of values]`, of the columns that have_weights, in order.
rows: Of each column `[d_0, ..., d_{n-1}, dim]`.
dims: Elements of a row of each column's table.
parts: Number of parts of each column's table. Key k of an EmbeddingVariable is in part (k mod 1000) mod parts.
kinds: What the parts are.
strategies: How the keys of variables and tensors are spread over parts.
max_norms: L2 norm that rows are clipped to before they are combined; 0: they are not.
prune: Whether keys below 0 and, unless the combiner is sum, weights that are not positive are left out.
fill_empty: Whether rows without keys read default_ids; else they are 0.
touch_first: For the gradient: whether a column with empty rows also gives key 0 a gradient of zeros, as lookups do that fill
  such rows with it.
)doc");

REGISTER_OP("GroupEmbeddingLookupGrad")
    .Input("grads: N * T")
    .GROUP_LOOKUP_INPUTS.Output("keys: P * int64")
    .Output("row_grads: P * T")
    .GROUP_LOOKUP_ATTRS.Attr("P: int >= 1")
    .SetShapeFn([](InferenceContext* c) {
      int p;
      std::vector<int64_t> dims, parts;
      TF_RETURN_IF_ERROR(c->GetAttr("P", &p));
      TF_RETURN_IF_ERROR(c->GetAttr("dims", &dims));
      TF_RETURN_IF_ERROR(c->GetAttr("parts", &parts));
      if (dims.size() != parts.size()) return absl::InvalidArgumentError("dims and parts must be of one length");
      int part = 0;
      for (size_t i = 0; i < parts.size(); ++i) {
        for (int64_t k = 0; k < parts[i] && part < p; ++k, ++part) {
          c->set_output(part, c->Vector(InferenceContext::kUnknownDim));
          c->set_output(p + part, c->Matrix(InferenceContext::kUnknownDim, dims[i]));
        }
      }
      return absl::OkStatus();
    })
    .Doc(R"doc(
Gradient of GroupEmbeddingLookup by the rows of its tables: for each part the keys that were read, once for each occurrence, and the
gradients of their rows. Keys of variables and tensors are row numbers of the part.

P: Number of tables.
)doc");

REGISTER_OP("GroupEmbeddingLookupWeightsGrad")
    .Input("grads: N * T")
    .GROUP_LOOKUP_INPUTS.Output("weight_grads: W * float")
    .GROUP_LOOKUP_ATTRS
    .SetShapeFn([](InferenceContext* c) {
      int n, w;
      std::vector<DataType> tables;
      TF_RETURN_IF_ERROR(c->GetAttr("N", &n));
      TF_RETURN_IF_ERROR(c->GetAttr("W", &w));
      TF_RETURN_IF_ERROR(c->GetAttr("Ttables", &tables));
      for (int i = 0; i < w; ++i) c->set_output(i, c->input(int(tables.size()) + 4 * n + i));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Gradient of GroupEmbeddingLookup by its weights; 0 for those that were pruned.
)doc");

}  // namespace
}  // namespace tensorflow
