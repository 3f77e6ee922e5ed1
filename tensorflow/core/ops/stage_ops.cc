// The ops of stages: a buffer of records that runner threads fill and training steps empty. Names, inputs and attributes are DeepRec's;
// `shapes` and `timeout_millis` of TensorBufferTake and the op TensorBufferFail are ours.

#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

absl::Status TakeShape(InferenceContext* c) {
  std::vector<PartialTensorShape> shapes;
  TF_RETURN_IF_ERROR(c->GetAttr("shapes", &shapes));
  if (shapes.empty()) return shape_inference::UnknownShape(c);
  if (int(shapes.size()) != c->num_outputs()) {
    return absl::InvalidArgumentError(absl::StrCat("shapes must be empty or have one entry for each of the ", c->num_outputs(),
                                   " dtypes, got ", shapes.size()));
  }
  for (int i = 0; i < c->num_outputs(); ++i) {
    ShapeHandle shape;
    TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shapes[i], &shape));
    c->set_output(i, shape);
  }
  return absl::OkStatus();
}

absl::Status FailShape(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
  return c->WithRank(c->input(1), 0, &unused);
}

}  // namespace

REGISTER_OP("TensorBufferPut")
    .Input("record: dtypes")
    .Attr("container: string = ''")
    .Attr("dtypes: list(type) >= 1")
    .Attr("shared_name: string = ''")
    .Attr("shared_capacity: int >= 1 = 1")
    .Attr("timeout_millis: int >= 1 = 1000")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .Doc(R"doc(
Adds a record to the buffer; waits while that is full.

DeadlineExceeded after timeout_millis, Cancelled by TensorBufferCancel: the record is in the buffer nevertheless, as its
input was used up. Put the next one when TensorBufferSize is below the capacity again.
)doc");

REGISTER_OP("TensorBufferTake")
    .Output("record: dtypes")
    .Attr("container: string = ''")
    .Attr("dtypes: list(type) >= 1")
    .Attr("shapes: list(shape) >= 0 = []")
    .Attr("shared_name: string = ''")
    .Attr("shared_capacity: int >= 1 = 1")
    .Attr("shared_threads: int >= 1 = 1")
    .Attr("timeout_millis: int >= 1 = 300000")
    .SetIsStateful()
    .SetShapeFn(TakeShape)
    .Doc(R"doc(
Takes the oldest record out of the buffer; waits while there is none.

DeadlineExceeded when nobody has begun to fill the buffer (TensorBufferCancel with is_cancelled=False) for timeout_millis. After
TensorBufferClose and the last record: OutOfRange; after TensorBufferFail: that error.

shared_threads: the number of consumers; any number works.
)doc");

REGISTER_OP("TensorBufferCancel")
    .Attr("container: string = ''")
    .Attr("is_cancelled: bool = true")
    .Attr("shared_name: string = ''")
    .Attr("shared_capacity: int >= 1 = 1")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .Doc("Ends every wait and refuses what comes, or, with is_cancelled=False, opens the buffer for a filler that begins.");

REGISTER_OP("TensorBufferClose")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("shared_capacity: int >= 1 = 1")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .Doc("Says that the input has ended: after the records that are there, takes are OutOfRange.");

REGISTER_OP("TensorBufferFail")
    .Input("code: int32")
    .Input("message: string")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("shared_capacity: int >= 1 = 1")
    .SetIsStateful()
    .SetShapeFn(FailShape)
    .Doc("Says that the input has failed: after the records that are there, takes give this error.");

REGISTER_OP("TensorBufferSize")
    .Output("size: int32")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("shared_capacity: int >= 1 = 1")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape)
    .Doc("The number of records in the buffer.");

}  // namespace tensorflow
