#include "tensorflow/core/ops/dense_variable_shapes.h"

#include <vector>

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

ShapeHandle VariableShape(InferenceContext* c, int input) {
  const auto* handle_data = c->input_handle_shapes_and_types(input);
  // References have an output, handles have none.
  if (c->num_outputs() > 0) return c->input(input);
  if (handle_data == nullptr || handle_data->empty()) return c->UnknownShape();
  return (*handle_data)[0].shape;
}

absl::Status StepShape(InferenceContext* c, int variables, std::initializer_list<const char*> scalars) {
  ShapeHandle var = VariableShape(c, 0), unused;
  for (int i = 1; i < variables; ++i) TF_RETURN_IF_ERROR(c->Merge(var, VariableShape(c, i), &var));
  std::vector<ShapeHandle> inputs;
  for (const char* name : scalars) {
    TF_RETURN_IF_ERROR(c->input(name, &inputs));
    TF_RETURN_IF_ERROR(c->WithRank(inputs[0], 0, &unused));
  }
  ShapeHandle expected = var;
  if (c->input("indices", &inputs).ok()) {
    ShapeHandle indices;
    TF_RETURN_IF_ERROR(c->WithRank(inputs[0], 1, &indices));
    TF_RETURN_IF_ERROR(c->WithRankAtLeast(var, 1, &var));
    expected = c->UnknownShape();
    if (c->RankKnown(var)) TF_RETURN_IF_ERROR(c->ReplaceDim(var, 0, c->Dim(indices, 0), &expected));
  }
  TF_RETURN_IF_ERROR(c->input("grad", &inputs));
  TF_RETURN_IF_ERROR(c->Merge(inputs[0], expected, &unused));
  // References have an output, handles have none.
  if (c->num_outputs() > 0) c->set_output(0, var);
  return absl::OkStatus();
}

}  // namespace tensorflow
