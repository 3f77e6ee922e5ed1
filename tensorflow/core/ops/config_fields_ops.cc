#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace tensorflow {

REGISTER_OP("DeepRecConfigFields")
    .Output("fields: string")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape)
    .Doc("DeepRec's fields of the ConfigProto of this session, as the process that runs the op sees them: name=value, by blanks.");

}  // namespace tensorflow
