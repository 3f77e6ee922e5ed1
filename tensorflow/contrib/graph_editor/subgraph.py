"""A view of a part of a graph, with numbered inputs and outputs."""

import copy

import tensorflow as tf
from tensorflow.contrib.graph_editor import select, util


class SubGraphView:
    """Some ops of a graph, the tensors that come in and go out, and tensors that pass through.

    A view does not own or change anything. Its inputs and outputs can be reordered, dropped, and outputs repeated: the methods
    whose names start with `remap` return another view.
    """

    def __init__(self, inside_ops=(), passthrough_ts=()):
        """Computes the inputs and outputs of the ops.

        Args:
          inside_ops: ops of one graph.
          passthrough_ts: tensors of it that are inputs and outputs at once; those that touch the ops are passed over.

        Raises:
          TypeError: something is of another type.
          ValueError: several graphs.
        """
        inside_ops = util.make_list_of_op(inside_ops)
        passthrough_ts = util.make_list_of_t(passthrough_ts)
        self._graph = util.get_unique_graph(inside_ops + passthrough_ts, none_if_empty=True)
        self._ops = inside_ops
        inputs, outputs, insides = select.compute_boundary_ts(inside_ops)
        touching = {*inputs, *outputs, *insides}
        self._passthrough_ts = [t for t in passthrough_ts if t not in touching]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    def __copy__(self):
        other = type(self).__new__(type(self))
        other._graph = self._graph
        for name in ("_ops", "_passthrough_ts", "_input_ts", "_output_ts"):
            setattr(other, name, list(getattr(self, name)))
        return other

    def copy(self):
        """Another view of the same ops with the same inputs and outputs."""
        return copy.copy(self)

    def __bool__(self):
        return self._graph is not None

    def __enter__(self):
        return self.copy()

    def __exit__(self, *exception):
        pass

    def __str__(self):
        def lines(title, items):
            return [f"** {title}:", *(f" {position}: {item}" for position, item in enumerate(items))]

        if not self:
            return "SubGraphView: empty"
        return "\n".join(
            [f"SubGraphView ({id(self._graph)}):"]
            + lines("ops", (op.name for op in self._ops))
            + lines("inputs", (t.name for t in self._input_ts))
            + lines("outputs", (t.name for t in self._output_ts))
        )

    @property
    def graph(self):
        """The graph; None of an empty view."""
        return self._graph

    @property
    def ops(self):
        """List of the ops."""
        return list(self._ops)

    @property
    def inputs(self):
        """List of the input tensors."""
        return list(self._input_ts)

    @property
    def outputs(self):
        """List of the output tensors."""
        return list(self._output_ts)

    @property
    def connected_inputs(self):
        """List of the inputs that do not pass through."""
        return [t for t in self._input_ts if not self.is_passthrough(t)]

    @property
    def connected_outputs(self):
        """List of the outputs that do not pass through."""
        return [t for t in self._output_ts if not self.is_passthrough(t)]

    @property
    def passthroughs(self):
        """List of the tensors that pass through."""
        return list(self._passthrough_ts)

    def is_passthrough(self, t):
        """Whether a tensor passes through."""
        return any(t is other for other in self._passthrough_ts)

    def op(self, op_id):
        """The op at a position."""
        return self._ops[op_id]

    def find_op_by_name(self, op_name):
        """The op of that name.

        Raises:
          ValueError: there is none.
        """
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not found in subgraph.")

    def input_index(self, t):
        """Position of an input tensor.

        Raises:
          ValueError: it is no input.
        """
        return _index(self._input_ts, t, "inputs")

    def output_index(self, t):
        """Position of an output tensor.

        Raises:
          ValueError: it is no output.
        """
        return _index(self._output_ts, t, "outputs")

    def consumers(self):
        """List of the ops outside that take an output."""
        inside = set(self._ops)
        return [op for op in util.get_consuming_ops(self._output_ts) if op not in inside]

    def remap_inputs(self, new_input_indices):
        """A view with the inputs at the given positions (or the given tensors), in that order.

        Raises:
          ValueError: a position is out of range, or given twice.
        """
        other = self.copy()
        positions = _positions(self._input_ts, new_input_indices, "input")
        if len(set(positions)) != len(positions):
            raise ValueError(f"Invalid input indices: {positions} has duplicates")
        other._input_ts = [self._input_ts[i] for i in positions]
        return other

    def remap_outputs(self, new_output_indices):
        """A view with the outputs at the given positions (or the given tensors), in that order; one may come several times.

        Raises:
          ValueError: a position is out of range.
        """
        other = self.copy()
        other._output_ts = [self._output_ts[i] for i in _positions(self._output_ts, new_output_indices, "output")]
        return other

    def remap(self, new_input_indices=None, new_output_indices=None):
        """Both `remap_inputs` and `remap_outputs`; None leaves one as it is."""
        other = self.copy() if new_input_indices is None else self.remap_inputs(new_input_indices)
        return other if new_output_indices is None else other.remap_outputs(new_output_indices)

    def remap_default(self, remove_input_map=True, remove_output_map=True):
        """A view with the inputs, the outputs, or both, that the ops have by themselves."""
        other = self.copy()
        plain = SubGraphView(self._ops, self._passthrough_ts)
        if remove_input_map:
            other._input_ts = plain._input_ts
        if remove_output_map:
            other._output_ts = plain._output_ts
        return other

    def remap_outputs_make_unique(self):
        """A view whose outputs come once each."""
        other = self.copy()
        other._output_ts = util.concatenate_unique([], self._output_ts)
        return other

    def remap_outputs_to_consumers(self):
        """A view in which each output comes as often as an op outside takes it."""
        other = self.remap_outputs_make_unique()
        inside = set(self._ops)
        other._output_ts = [
            t for t in other._output_ts for op in t.consumers() if op not in inside for i in op.inputs if i is t
        ]
        return other

    def remove_unused_ops(self, control_inputs=True):
        """A view without the ops that no output depends on.

        Args:
          control_inputs: whether a control input is a dependence.
        """
        used = set(
            select.get_backward_walk_ops(
                self.connected_outputs, within_ops=self._ops, control_inputs=control_inputs, inclusive=True
            )
        )
        other = self.copy()
        other._ops = [op for op in self._ops if op in used]
        return other


def _index(ts, t, what):
    for position, other in enumerate(ts):
        if other is t:
            return position
    raise ValueError(f"Can't find {t.name} in {what} of the subgraph.")


def _positions(ts, wanted, what):
    positions = [_index(ts, i, what + "s") if isinstance(i, tf.Tensor) else i for i in wanted]
    for i in positions:
        if not 0 <= i < len(ts):
            raise ValueError(f"Invalid {what} index {i}: there are {len(ts)}.")
    return positions


def make_view(*args, **kwargs):
    """A view of ops and passing tensors: a view (as it is), or what `select_ops_and_ts` takes.

    Raises:
      ValueError: an unknown keyword, or an expression without `graph`.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView) and not kwargs:
        return args[0]
    ops, ts = select.select_ops_and_ts(*args, **kwargs)
    return SubGraphView(ops, ts)


def make_view_from_scope(scope, graph):
    """A view of the ops in a name scope."""
    return SubGraphView(select.get_name_scope_ops(graph, scope))
