// Ops that lived in tf.contrib's own libraries, with their names, inputs and attributes, so that
// old graphs load.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

absl::Status GatherTreeShape(InferenceContext* c) {
  ShapeHandle ids, parents, lengths, end_token;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 3, &ids));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 3, &parents));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &lengths));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &end_token));
  TF_RETURN_IF_ERROR(c->Merge(ids, parents, &ids));
  DimensionHandle batch;
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(ids, 1), c->Dim(lengths, 0), &batch));
  TF_RETURN_IF_ERROR(c->ReplaceDim(ids, 1, batch, &ids));
  c->set_output(0, ids);
  return absl::OkStatus();
}

absl::Status ResamplerShape(InferenceContext* c) {
  ShapeHandle data, warp, output;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &data));
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 2, &warp));
  if (!c->RankKnown(warp)) {
    c->set_output(0, c->UnknownShape());
    return absl::OkStatus();
  }
  TF_RETURN_IF_ERROR(c->ReplaceDim(warp, -1, c->Dim(data, 3), &output));
  c->set_output(0, output);
  return absl::OkStatus();
}

absl::Status ResamplerGradShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  c->set_output(1, c->input(1));
  return absl::OkStatus();
}

absl::Status WalsShape(InferenceContext* c) {
  ShapeHandle factors, unused;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &factors));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &unused));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &unused));
  TF_RETURN_IF_ERROR(c->WithRankAtMost(c->input(3), 1, &unused));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(4), 2, &unused));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(5), 1, &unused));
  TF_RETURN_IF_ERROR(c->WithRankAtMost(c->input(6), 1, &unused));
  DimensionHandle block;
  TF_RETURN_IF_ERROR(c->MakeDimForScalarInput(7, &block));
  const DimensionHandle k = c->Dim(factors, 1);
  c->set_output(0, c->MakeShape({block, k, k}));
  c->set_output(1, c->MakeShape({block, k}));
  return absl::OkStatus();
}

absl::Status BipartiteMatchShape(InferenceContext* c) {
  ShapeHandle distances, unused;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &distances));
  c->set_output(0, c->MakeShape({c->Dim(distances, 0)}));
  c->set_output(1, c->MakeShape({c->Dim(distances, 1)}));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("GatherTree")
    .Input("step_ids: T")
    .Input("parent_ids: T")
    .Input("max_sequence_lengths: int32")
    .Input("end_token: T")
    .Output("beams: T")
    .Attr("T: {int32}")
    .SetShapeFn(GatherTreeShape)
    .Doc(R"doc(
Calculates the full beams of beam search from the ids and parents of each step.

step_ids: [max_time, batch, beam_width] ids.
parent_ids: [max_time, batch, beam_width] beams of the step before.
max_sequence_lengths: [batch] number of steps of the longest beam of each entry.
end_token: the id of the end; fills what lies behind it.
beams: [max_time, batch, beam_width] ids of each final beam.
)doc");

REGISTER_OP("Resampler")
    .Input("data: T")
    .Input("warp: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(ResamplerShape)
    .Doc(R"doc(
Bilinear samples of images.

data: [batch, height, width, channels].
warp: [batch, ..., 2] points (x, y).
output: [batch, ..., channels].
)doc");

REGISTER_OP("ResamplerGrad")
    .Input("data: T")
    .Input("warp: T")
    .Input("grad_output: T")
    .Output("grad_data: T")
    .Output("grad_warp: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(ResamplerGradShape)
    .Doc("Gradients of Resampler.");

REGISTER_OP("WALSComputePartialLhsAndRhs")
    .Input("factors: float32")
    .Input("factor_weights: float32")
    .Input("unobserved_weights: float32")
    .Input("input_weights: float32")
    .Input("input_indices: int64")
    .Input("input_values: float32")
    .Input("entry_weights: float32")
    .Input("input_block_size: int64")
    .Input("input_is_transpose: bool")
    .Output("partial_lhs: float32")
    .Output("partial_rhs: float32")
    .SetShapeFn(WalsShape)
    .Doc(R"doc(
The parts of the normal equations of weighted alternating least squares that come from observed
entries.

factors: [m, k].
factor_weights: [m] weights of the factors' rows.
unobserved_weights: the weight of unobserved entries.
input_weights: [input_block_size] weights of the input's rows, or a scalar; not used if
  entry_weights is not empty.
input_indices: [entries, 2] of the input, a block of rows (or of columns, see input_is_transpose).
input_values: [entries].
entry_weights: [entries] weights of single entries, or empty.
input_block_size: number of rows of the block.
input_is_transpose: whether indices are (factor, row) and not (row, factor).
partial_lhs: [input_block_size, k, k].
partial_rhs: [input_block_size, k].
)doc");

REGISTER_OP("ImageConnectedComponents")
    .Input("image: dtype")
    .Output("components: int64")
    .Attr(
        "dtype: {int64, int32, uint16, int16, uint8, int8, half, bfloat16, float, double, bool, "
        "string}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle image;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 3, &image));
      c->set_output(0, image);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Labels the connected regions of equal, non-zero pixels.

image: [batch, height, width].
components: [batch, height, width] an id of each region, unique in the batch; 0 for zero pixels.
)doc");

REGISTER_OP("BipartiteMatch")
    .Input("distance_mat: float")
    .Input("num_valid_rows: float")
    .Output("row_to_col_match_indices: int32")
    .Output("col_to_row_match_indices: int32")
    .Attr("top_k: int = -1")
    .SetShapeFn(BipartiteMatchShape)
    .Doc(R"doc(
Matches rows and columns greedily by least distance.

distance_mat: [rows, columns].
num_valid_rows: number of the first rows that take part; all if negative.
top_k: the most pairs that are made; no limit if not positive.
row_to_col_match_indices: [rows] the column, or -1.
col_to_row_match_indices: [columns] the row, or -1.
)doc");

REGISTER_OP("SkipGramGenerateCandidates")
    .Input("input_tensor: T")
    .Input("min_skips: int32")
    .Input("max_skips: int32")
    .Input("start: int32")
    .Input("limit: int32")
    .Input("emit_self_as_target: bool")
    .Output("tokens: T")
    .Output("labels: T")
    .Attr("T: type")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &unused));
      for (int i = 1; i < 6; ++i) TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
      c->set_output(0, c->Vector(InferenceContext::kUnknownDim));
      c->set_output(1, c->Vector(InferenceContext::kUnknownDim));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Pairs of each token with its neighbours up to a random distance.

input_tensor: [tokens].
min_skips: the least distance, at least 0.
max_skips: the greatest distance; each token draws one in [min_skips, max_skips].
start: position of the first token that takes part.
limit: number of tokens that take part, all from start if negative.
emit_self_as_target: whether a token is paired with itself too.
seed: with seed2, seed of the distances; 0 and 0 mean a random seed.
seed2: see seed.
tokens: [pairs], in order of position.
labels: [pairs] the neighbours, in order of position for each token.
)doc");

}  // namespace tensorflow
