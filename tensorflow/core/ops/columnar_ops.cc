#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

absl::Status DatasetShape(shape_inference::InferenceContext* c) {
  for (int i = 0; i < c->num_inputs(); ++i) {
    shape_inference::ShapeHandle unused;
    TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

REGISTER_OP("ColumnarFileDataset")
    .Input("filename: string")
    .Input("batch_size: int64")
    .Output("handle: variant")
    .Attr("format: {'parquet', 'orc'}")
    .Attr("field_names: list(string) >= 1")
    .Attr("field_ragged_ranks: list(int) >= 1")
    .Attr("field_shapes: list(shape) >= 1")
    .Attr("partition_count: int >= 1 = 1")
    .Attr("partition_index: int = 0")
    .Attr("drop_remainder: bool = false")
    .Attr("skip_corrupted_data: bool = false")
    .Attr("output_types: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    // What a file holds is not known to the op; so it must not be folded to a constant.
    .SetIsStateful()
    .SetShapeFn(DatasetShape)
    .Doc(R"doc(
Makes a dataset of the batches of one columnar file.

An element has for each field its values and then its row splits, outermost first: field_ragged_ranks[i] of them, int32.

filename: a path, or a URI of a file system that pyarrow reads.
batch_size: rows of a batch; a row group (Parquet) or stripe (ORC) ends with a smaller one.
field_ragged_ranks: how many list levels of the column become row splits.
field_shapes: what stands for one value: the shape of the levels below, or [].
partition_index: of partition_count parts, the one to read.
drop_remainder: whether batches with fewer rows than batch_size are left out.
skip_corrupted_data: whether data that cannot be decoded is passed over, or an error.
)doc");

REGISTER_OP("RebatchColumnarDataset")
    .Input("input_dataset: variant")
    .Input("batch_size: int64")
    .Input("min_batch_size: int64")
    .Input("shuffle_buffer_size: int64")
    .Input("seed: int64")
    .Input("seed2: int64")
    .Output("handle: variant")
    .Attr("drop_remainder: bool = false")
    .Attr("reshuffle_each_iteration: bool = true")
    .Attr("field_ragged_ranks: list(int) >= 1")
    .Attr("output_types: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .SetShapeFn(DatasetShape)
    .Doc(R"doc(
Makes batches of another size out of batches of columns, with their rows in order or shuffled.

Elements are as of ColumnarFileDataset; other tensors are fields of ragged rank 0, whose rows are along the first dimension.

batch_size: rows of a batch; the last one may have fewer.
min_batch_size: rows that are enough where an input batch ends; batch_size for none.
shuffle_buffer_size: rows to draw from, or 0 to keep their order.
)doc");

}  // namespace
}  // namespace tensorflow
