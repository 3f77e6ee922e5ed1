// Ops that record which rows of ordinary variables change, and put the rows of an incremental checkpoint back.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("RecordSparseIndices")
    .Input("indices: Tindices")
    .Attr("table_name: string")
    .Attr("Tindices: {int32, int64}")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) { return absl::OkStatus(); })
    .Doc(R"doc(
Records rows of a variable as changed, if ActivateSparseRecorder has been run for it; does nothing otherwise.

indices: Of any shape, repeated or not.
table_name: Of the variable's recorder, one per name and device.
)doc");

REGISTER_OP("ActivateSparseRecorder")
    .Input("tensor_names: string")
    .Attr("forget_earlier: bool = false")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      return c->WithRank(c->input(0), 1, &unused);
    })
    .Doc(R"doc(
Starts to record changed rows, or begins another generation of what is recorded: to be run before all is saved.

tensor_names: `[n]`, the recorders' names.
forget_earlier: Instead, after all has been saved, forgets what was recorded before the last generation began.
)doc");

REGISTER_OP("CollectSparseIndices")
    .Input("tensor_name: string")
    .Output("indices: int64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
      c->set_output(0, c->Vector(InferenceContext::kUnknownDim));
      return absl::OkStatus();
    })
    .Doc(R"doc(
The rows that are recorded as changed, ascending, each once. FailedPrecondition if they are not being recorded.

tensor_name: The recorder's name, a scalar.
)doc");

REGISTER_OP("IncrRestore")
    .Input("prefix: string")
    .Input("tensor_name: string")
    .Output("indices: int64")
    .Output("rows: dtype")
    .Attr("dtype: type")
    .Attr("row_shape: shape")
    .Attr("first_row: int >= 0 = 0")
    .Attr("num_rows: int >= 0")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused, row, rows;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      PartialTensorShape row_shape;
      TF_RETURN_IF_ERROR(c->GetAttr("row_shape", &row_shape));
      TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(row_shape, &row));
      const ShapeHandle n = c->Vector(InferenceContext::kUnknownDim);
      TF_RETURN_IF_ERROR(c->Concatenate(n, row, &rows));
      c->set_output(0, n);
      c->set_output(1, rows);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Reads the rows of a variable, or of a part of one, that an incremental checkpoint has.

prefix: The checkpoint.
tensor_name: Of the whole variable, `var` or `var/Adagrad`: found by itself or by its parts, `var/part_0/Adagrad` ..., in the
  checkpoint, whose keys count from the first row of the whole.
indices: `[n]`, rows of the part.
rows: `[n] + row_shape`.
first_row: Of the part, in the whole.
num_rows: Of the part.
)doc");

}  // namespace tensorflow
