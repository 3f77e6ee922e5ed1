"""`tf.gradients` through marks instead of the sub-graphs they stand for.

The results of a marked sub-graph are the tensors that they always were, and what reads them does not read the mark. A gradient that comes
to such a result goes on at the output of the mark that stands for it, and from there to what the sub-graph reads; so no gradient of
the sub-graph itself is built. Nothing in the graph is changed: only the paths on which `gradients` walks it.

Who asks for a gradient by a tensor within the sub-graph gets the one that TensorFlow builds: that mark is passed by.
"""

import contextlib
import functools
import threading
from typing import Dict, List

from tensorflow.deeprec.marks.mark import is_mark, number_of_results, results_of, tensors_within
from tensorflow.python.framework import ops
from tensorflow.python.framework.tensor import Tensor
from tensorflow.python.ops import gradients_util


class _Paths(threading.local):
    """Of the call of `gradients` that this thread is in: from results to outputs of marks, and back."""

    marks: Dict = {}
    results: Dict = {}


_paths = _Paths()


@contextlib.contextmanager
def _over_marks(graph, wanted):
    """Within, paths lead over the marks that have no tensor of `wanted` inside."""
    before = _paths.marks, _paths.results
    _paths.marks, _paths.results = {}, {}
    wanted = {tensor.ref() for tensor in wanted if isinstance(tensor, Tensor)}
    for op in graph.get_operations():
        if is_mark(op) and not wanted & tensors_within(op):
            for output, result in zip(op.outputs, results_of(op)):
                _paths.marks[result.ref()] = output
                _paths.results[output.ref()] = result
    try:
        yield
    finally:
        _paths.marks, _paths.results = before


def _led(tensors) -> List:
    """With outputs of marks instead of results."""
    return [_paths.marks.get(tensor.ref(), tensor) if isinstance(tensor, Tensor) else tensor for tensor in tensors]


def install() -> None:
    helper, inputs_of, consumers_of = gradients_util._GradientsHelper, gradients_util._Inputs, gradients_util._Consumers

    @functools.wraps(helper)
    def gradients_helper(ys, xs, *args, **kwargs):
        graph = kwargs.get("src_graph") or ops.get_default_graph()
        if graph.building_function:
            return helper(ys, xs, *args, **kwargs)
        # Its arguments behind xs: grad_ys, name, colocation, gates, the method of aggregation, stop_gradients.
        args, xs = list(args), gradients_util._AsList(xs)
        stops = gradients_util._AsList((args[5] if len(args) > 5 else kwargs.get("stop_gradients")) or [])
        with _over_marks(graph, [*xs, *stops]):
            if len(args) > 5:
                args[5] = _led(stops)
            elif stops:
                kwargs["stop_gradients"] = _led(stops)
            return helper(_led(gradients_util._AsList(ys)), _led(xs), *args, **kwargs)

    @functools.wraps(inputs_of)
    def inputs(op, xs_set):
        released = inputs_of(op, xs_set)
        if not _paths.marks:
            return released
        if is_mark(op):
            # In place of the results any other input: they get no gradient, and the sub-graph is not looked at.
            count = number_of_results(op)
            return [released[count]] * count + _led(released[count:])
        return _led(released)

    @functools.wraps(consumers_of)
    def consumers(t, func_graphs):
        released = consumers_of(t, func_graphs)
        result = _paths.results.get(t.ref()) if _paths.results else None
        return released if result is None else [*released, *consumers_of(result, func_graphs)]

    gradients_util._GradientsHelper = gradients_helper
    gradients_util._Inputs = inputs
    gradients_util._Consumers = consumers
