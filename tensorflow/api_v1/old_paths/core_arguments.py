"""Functions and classes outside of Keras whose arguments had other names or another order in 1.15.

Names of the API -> arguments, in the notation of `signatures.with_old_arguments`. Names on one line are one object.
"""

_MATMUL = "a b transpose_a transpose_b adjoint_a adjoint_b a_is_sparse b_is_sparse name"
_SCATTER = "tensor indices updates name"

FUNCTIONS = {
    "autograph.experimental.set_loop_options": "parallel_iterations back_prop= swap_memory maximum_iterations",
    "config.experimental.set_virtual_device_configuration": "device virtual_devices=logical_devices",
    "function": (
        "func input_signature autograph experimental_autograph_options experimental_relax_shapes experimental_compile"
    ),
    "image.adjust_jpeg_quality": "image jpeg_quality name",
    "matmul linalg.matmul": _MATMUL,
    "scatter_nd manip.scatter_nd": "indices updates shape name",
    "math.top_k nn.top_k": "input k sorted name",
    "numpy_function": "func inp Tout name",
    "random.experimental.create_rng_state": "seed algorithm=alg",
    "tensor_scatter_add tensor_scatter_nd_add": _SCATTER,
    "tensor_scatter_nd_sub tensor_scatter_sub": _SCATTER,
}

CLASSES = {
    "OptionalSpec data.experimental.OptionalStructure": "value_structure=element_spec",
}

_CASE = "tensorflow.python.framework.test_util:TensorFlowTestCase"

# "module:Class.method", for modules that load later.
METHODS = {
    f"{_CASE}.assertProtoEquals": "expected_message_maybe_ascii message=validate_message msg",
    f"{_CASE}.assertShapeEqual": "np_array=input_a tf_tensor=input_b msg",
}
