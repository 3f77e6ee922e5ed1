"""Framework utilities: argument scopes, variables, checkpoints, checks, nests."""

from tensorflow.contrib.framework.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from tensorflow.contrib.framework.checkpoint_ops import (
    load_linear_multiclass_bias_initializer,
    load_variable_slot_initializer,
)
from tensorflow.contrib.framework.checkpoint_utils import (
    init_from_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
)
from tensorflow.contrib.framework.graph_util import (
    fuse_op,
    get_placeholders,
)
from tensorflow.contrib.framework.ops import (
    get_graph_from_inputs,
    get_name_scope,
)
from tensorflow.contrib.framework.script_ops import (
    py_func,
)
from tensorflow.contrib.framework.tensor_util import (
    assert_scalar_int,
    reduce_sum_n,
    remove_squeezable_dimensions,
    with_same_shape,
    with_shape,
)
from tensorflow.contrib.framework.variables import (
    VariableDeviceChooser,
    add_model_variable,
    assert_global_step,
    assert_or_get_global_step,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    create_global_step,
    filter_variables,
    get_global_step,
    get_local_variables,
    get_model_variables,
    get_or_create_global_step,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
    zero_initializer,
)
from tensorflow.python.framework.ops import (
    prepend_name_scope,
    strip_name_scope,
)
from tensorflow.python.framework.smart_cond import (
    smart_case,
    smart_cond,
    smart_constant_value,
)
from tensorflow.python.framework.sparse_tensor import (
    convert_to_tensor_or_sparse_tensor,
)
from tensorflow.python.framework.tensor_spec import (
    BoundedTensorSpec,
    TensorSpec,
)
from tensorflow.python.framework.tensor_util import (
    is_tensor,
)
from tensorflow.python.ops.check_ops import (
    assert_same_float_dtype,
    assert_scalar,
)
from tensorflow.python.ops.data_flow_ops import (
    RecordInput,
)
from tensorflow.python.ops.init_ops import (
    ConvolutionDeltaOrthogonal as convolutional_delta_orthogonal,
    ConvolutionOrthogonal1D as convolutional_orthogonal_1d,
    ConvolutionOrthogonal2D as convolutional_orthogonal_2d,
    ConvolutionOrthogonal3D as convolutional_orthogonal_3d,
)
from tensorflow.python.ops.sort_ops import (
    argsort,
    sort,
)
from tensorflow.python.training.checkpoint_ops import (
    _load_and_remap_matrix_initializer as load_and_remap_matrix_initializer,
    _load_embedding_initializer as load_embedding_initializer,
)
from tensorflow.python.util.deprecation import (
    deprecated,
    deprecated_arg_values,
    deprecated_args,
)

from tensorflow.python.util import nest

__all__ = [
    "BoundedTensorSpec",
    "RecordInput",
    "TensorSpec",
    "VariableDeviceChooser",
    "add_arg_scope",
    "add_model_variable",
    "arg_scope",
    "arg_scoped_arguments",
    "argsort",
    "assert_global_step",
    "assert_or_get_global_step",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_scalar_int",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "convert_to_tensor_or_sparse_tensor",
    "convolutional_delta_orthogonal",
    "convolutional_orthogonal_1d",
    "convolutional_orthogonal_2d",
    "convolutional_orthogonal_3d",
    "create_global_step",
    "current_arg_scope",
    "deprecated",
    "deprecated_arg_values",
    "deprecated_args",
    "filter_variables",
    "fuse_op",
    "get_global_step",
    "get_graph_from_inputs",
    "get_local_variables",
    "get_model_variables",
    "get_name_scope",
    "get_or_create_global_step",
    "get_placeholders",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "has_arg_scope",
    "init_from_checkpoint",
    "is_tensor",
    "list_variables",
    "load_and_remap_matrix_initializer",
    "load_checkpoint",
    "load_embedding_initializer",
    "load_linear_multiclass_bias_initializer",
    "load_variable",
    "load_variable_slot_initializer",
    "local_variable",
    "model_variable",
    "nest",
    "prepend_name_scope",
    "py_func",
    "reduce_sum_n",
    "remove_squeezable_dimensions",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "sort",
    "strip_name_scope",
    "variable",
    "with_same_shape",
    "with_shape",
    "zero_initializer",
]
