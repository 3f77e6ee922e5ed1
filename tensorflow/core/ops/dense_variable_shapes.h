// Shape functions of optimizer ops on ordinary variables.

#ifndef TENSORFLOW_CORE_OPS_DENSE_VARIABLE_SHAPES_H_
#define TENSORFLOW_CORE_OPS_DENSE_VARIABLE_SHAPES_H_

#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

// Shape of the variable at `input`: of the tensor behind it for a resource handle, unknown if that is.
shape_inference::ShapeHandle VariableShape(shape_inference::InferenceContext* c, int input);

// Checks that inputs 0 .. n - 1 are variables of one shape, that grad has it, or with indices [n] has n for its rows,
// and that the inputs named in `scalars` are scalars. Sets the output, if there is one.
absl::Status StepShape(shape_inference::InferenceContext* c, int variables,
                       std::initializer_list<const char*> scalars);

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_OPS_DENSE_VARIABLE_SHAPES_H_
