// The ops of WorkQueue. Names, inputs and attributes are DeepRec's where the comment does not say that an op is ours.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

absl::Status VectorOut(InferenceContext* c) {
  c->set_output(0, c->Vector(InferenceContext::kUnknownDim));
  return absl::OkStatus();
}

// All inputs, and the output if there is one, are scalars.
absl::Status Scalars(InferenceContext* c) {
  ShapeHandle unused;
  for (int i = 0; i < c->num_inputs(); ++i) TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->Scalar());
  return absl::OkStatus();
}

absl::Status VectorIn(InferenceContext* c) {
  ShapeHandle unused;
  return c->WithRank(c->input(1), 1, &unused);
}

}  // namespace

REGISTER_OP("WorkQueueHandleOp")
    .Output("handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(Scalars)
    .Doc("Names a queue of works; all of one name on a device are one queue.");

REGISTER_OP("WorkQueueCreate")
    .Input("handle: resource")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .Doc("Makes the queue, empty and open; one that is there already begins anew.");

REGISTER_OP("WorkQueueIsInitialized")
    .Input("handle: resource")
    .Output("is_initialized: bool")
    .SetIsStateful()
    .SetShapeFn(Scalars)
    .Doc("Whether the queue has been made.");

REGISTER_OP("WorkQueuePut")
    .Input("handle: resource")
    .Input("works: string")
    .Attr("timeout_millis: int = -1")
    .SetIsStateful()
    .SetShapeFn(VectorIn)
    .Doc("Adds works to an open queue. It is of no fixed size, so this never waits, whatever timeout_millis is.");

REGISTER_OP("WorkQueueClose")
    .Input("handle: resource")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .Doc("Says that all works are in the queue.");

REGISTER_OP("WorkQueueTake")
    .Input("handle: resource")
    .Output("work: string")
    .Attr("num_clients: int >= 1 = 1")
    .SetIsStateful()
    .SetShapeFn(Scalars)
    .Doc(R"doc(
Takes the oldest work; OutOfRange when the queue is closed and empty. Waits while it is open and empty.

num_clients: the number of threads that take; any number works.
)doc");

REGISTER_OP("WorkQueueSize")
    .Input("handle: resource")
    .Output("size: int64")
    .SetIsStateful()
    .SetShapeFn(Scalars)
    .Doc("The number of works that wait.");

REGISTER_OP("WorkQueueSave")
    .Input("handle: resource")
    .Output("works: string")
    .SetIsStateful()
    .SetShapeFn(VectorOut)
    .Doc("What is not finished: works that are lent, in the order of lending, and then those that wait.");

REGISTER_OP("WorkQueueRestore")
    .Input("handle: resource")
    .Input("works: string")
    .SetIsStateful()
    .SetShapeFn(VectorIn)
    .Doc("Makes `works` those of the queue, and closes it.");

REGISTER_OP("WorkQueueImport")
    .Input("handle: resource")
    .Input("prefix: string")
    .Input("queue_name: string")
    .Input("digest: string")
    .Output("restored: bool")
    .SetIsStateful()
    .SetShapeFn(Scalars)
    .Doc(R"doc(
Ours. WorkQueueRestore from the tensor <queue_name>_works of the checkpoint `prefix`, if that has it and <queue_name>_digest is `digest`.

restored: whether it was.
)doc");

REGISTER_OP("WorkQueueLend")
    .Input("handle: resource")
    .Input("client: string")
    .Output("work: string")
    .SetIsStateful()
    .SetShapeFn(Scalars)
    .Doc("Ours. WorkQueueTake of a work that stays the queue's, until `client` settles it.");

REGISTER_OP("WorkQueueSettle")
    .Input("handle: resource")
    .Input("client: string")
    .Attr("keep: int >= 0 = 0")
    .SetIsStateful()
    .SetShapeFn(Scalars)
    .Doc("Ours. The works lent to `client` are finished, but for the newest `keep` of them.");

REGISTER_OP("WorkQueueReclaim")
    .Input("handle: resource")
    .Input("client: string")
    .SetIsStateful()
    .SetShapeFn(Scalars)
    .Doc("Ours. Puts the works lent to `client` in front of the others. Nothing if there is no queue yet.");

REGISTER_OP("WorkQueueClient")
    .Output("client: string")
    .Attr("reader: string = ''")
    .SetIsStateful()
    .SetShapeFn(Scalars)
    .Doc("Ours. The full name of the device that this op is on, and of a reader of works there.");

}  // namespace tensorflow
