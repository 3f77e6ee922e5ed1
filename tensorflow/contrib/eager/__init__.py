# ruff: noqa: F401
"""Eager execution: what contrib had, most of it from the core."""

import tensorflow as _tf
from tensorflow.python.eager.backprop import (
    GradientTape,
    gradients_function,
    implicit_grad as implicit_gradients,
    implicit_val_and_grad as implicit_value_and_gradients,
    val_and_grad_function as value_and_gradients_function,
)
from tensorflow.python.eager.context import (
    ASYNC,
    DEVICE_PLACEMENT_EXPLICIT,
    DEVICE_PLACEMENT_SILENT,
    DEVICE_PLACEMENT_WARN,
    SYNC,
    async_clear_error,
    async_wait,
    executing_eagerly,
    execution_mode,
    num_gpus,
    set_execution_mode,
    set_server_def,
)
from tensorflow.python.framework.ops import (
    eager_run as run,
    enable_eager_execution,
    enable_eager_execution_internal as enable_remote_eager_execution,
)
from tensorflow.python.framework.tensor import TensorSpec
from tensorflow.python.ops.custom_gradient import custom_gradient
from tensorflow.python.ops.resource_variable_ops import ResourceVariable as Variable
from tensorflow.python.ops.script_ops import eager_py_func as py_func
from tensorflow.python.ops.template import make_template_internal as make_template
from tensorflow.python.ops.variable_scope import EagerVariableStore
from tensorflow.python.trackable.autotrackable import AutoTrackable as Checkpointable

from tensorflow.contrib.eager import metrics
from tensorflow.contrib.eager.datasets import Iterator
from tensorflow.contrib.eager.execution_callbacks import (
    ExecutionCallback,
    add_execution_callback,
    clear_execution_callbacks,
    errstate,
    inf_callback,
    inf_nan_callback,
    nan_callback,
    seterr,
)
from tensorflow.contrib.eager.network import (
    Network,
    Sequential,
    restore_network_checkpoint,
    save_network_checkpoint,
)
from tensorflow.contrib.eager.saver import Saver, get_optimizer_variables, restore_variables_on_create

Checkpoint = _tf.train.Checkpoint
connect_to_remote_host = _tf.config.experimental_connect_to_host
function = _tf.function
in_eager_mode = executing_eagerly


def defun(
    func=None,
    input_signature=None,
    autograph=True,
    experimental_autograph_options=None,
    experimental_relax_shapes=False,
):
    """`tf.function`, by its first name; arguments as there."""
    return _tf.function(
        func,
        input_signature=input_signature,
        autograph=autograph,
        experimental_autograph_options=experimental_autograph_options,
        reduce_retracing=experimental_relax_shapes or None,
    )


def list_devices():
    """Names of the devices that ops can run on."""
    return _tf.config.experimental_list_devices()


def run_all_tests_in_graph_and_eager_modes(cls):
    """Decorator: each test of a test case runs in graphs and eagerly."""
    from tensorflow.python.framework import test_util

    return test_util.run_all_in_graph_and_eager_modes(cls)


def run_test_in_graph_and_eager_modes(
    func=None, config=None, use_gpu=True, reset_test=True, assert_no_eager_garbage=False
):
    """Decorator: a test runs in graphs and eagerly, always set up anew between the two (`reset_test`).

    Raises:
      NotImplementedError: `reset_test` is False.
    """
    from tensorflow.python.framework import test_util

    if not reset_test:
        raise NotImplementedError("run_test_in_graph_and_eager_modes: reset_test=False is not supported")

    return test_util.run_in_graph_and_eager_modes(func, config, use_gpu, assert_no_eager_garbage)


_OWN = ("datasets", "execution_callbacks", "metrics_impl", "network", "network_base", "saver")
__all__ = [name for name in dir() if not name.startswith("_") and name not in _OWN]
