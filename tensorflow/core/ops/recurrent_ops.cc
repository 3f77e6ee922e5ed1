// Recurrent cells over all time steps of a batch. What the cell computes is an attribute: see core/recurrent/program.h.

#include <vector>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

absl::Status LoopShape(InferenceContext* c) {
  std::vector<ShapeHandle> inputs, states;
  TF_RETURN_IF_ERROR(c->input("inputs", &inputs));
  TF_RETURN_IF_ERROR(c->input("initial_states", &states));
  DimensionHandle steps = c->UnknownDim(), batch = c->UnknownDim();
  for (ShapeHandle input : inputs) {
    TF_RETURN_IF_ERROR(c->WithRank(input, 3, &input));
    TF_RETURN_IF_ERROR(c->Merge(steps, c->Dim(input, 0), &steps));
    TF_RETURN_IF_ERROR(c->Merge(batch, c->Dim(input, 1), &batch));
  }
  for (ShapeHandle& state : states) {
    TF_RETURN_IF_ERROR(c->WithRank(state, 2, &state));
    TF_RETURN_IF_ERROR(c->Merge(batch, c->Dim(state, 0), &batch));
  }
  for (ShapeHandle& state : states) TF_RETURN_IF_ERROR(c->ReplaceDim(state, 0, batch, &state));
  std::vector<int64_t> widths;
  TF_RETURN_IF_ERROR(c->GetAttr("output_widths", &widths));
  std::vector<ShapeHandle> outputs;
  for (const int64_t width : widths) outputs.push_back(c->MakeShape({steps, batch, c->MakeDim(width)}));
  TF_RETURN_IF_ERROR(c->set_output("outputs", outputs));
  return c->set_output("new_states", states);
}

absl::Status LoopGradShape(InferenceContext* c) {
  for (const char* name : {"inputs", "initial_states", "captures"}) {
    std::vector<ShapeHandle> shapes;
    TF_RETURN_IF_ERROR(c->input(name, &shapes));
    TF_RETURN_IF_ERROR(c->set_output(std::string(name) + "_grad", shapes));
  }
  return absl::OkStatus();
}

REGISTER_OP("RecurrentLoop")
    .Input("inputs: N * float")
    .Input("initial_states: S * float")
    .Input("captures: C * float")
    .Input("sequence_length: L * int32")
    .Output("outputs: K * float")
    .Output("new_states: S * float")
    .Attr("N: int >= 1")
    .Attr("S: int >= 1")
    .Attr("C: int >= 0")
    .Attr("L: int >= 0")
    .Attr("K: int >= 0")
    .Attr("program: list(int)")
    .Attr("scalars: list(float)")
    .Attr("output_values: list(int)")
    .Attr("output_widths: list(int)")
    .Attr("new_state_values: list(int)")
    .SetShapeFn(LoopShape)
    .Doc(R"doc(
A recurrent cell in all time steps, where tf.nn.dynamic_rnn has a loop of ops.

inputs: each [steps, batch, width].
initial_states: each [batch, width].
captures: matrices [rows, columns] and vectors [columns] that the cell reads.
sequence_length: nothing, or one tensor [batch] with the steps of each row. Outputs behind them are zero, states stay.
outputs: each [steps, batch, width].
new_states: of the last step of each row.
)doc");

REGISTER_OP("RecurrentLoopGrad")
    .Input("inputs: N * float")
    .Input("initial_states: S * float")
    .Input("captures: C * float")
    .Input("sequence_length: L * int32")
    .Input("outputs_grad: K * float")
    .Input("new_states_grad: S * float")
    .Output("inputs_grad: N * float")
    .Output("initial_states_grad: S * float")
    .Output("captures_grad: C * float")
    .Attr("N: int >= 1")
    .Attr("S: int >= 1")
    .Attr("C: int >= 0")
    .Attr("L: int >= 0")
    .Attr("K: int >= 0")
    .Attr("program: list(int)")
    .Attr("scalars: list(float)")
    .Attr("output_values: list(int)")
    .Attr("new_state_values: list(int)")
    .SetShapeFn(LoopGradShape)
    .Doc("The gradients of a RecurrentLoop, which it computes again.");

}  // namespace
}  // namespace tensorflow
