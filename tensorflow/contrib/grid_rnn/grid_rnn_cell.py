"""Grid cells: one cell per dimension, each of which sees what came out of all (Kalchbrenner et al., "Grid LSTM", 2015).

With h_d the output and m_d the memory of dimension d, a cell takes h_0 ... h_(N-2) as its input and (m_d, h_(N-1)) as its state.
"""

import tensorflow as tf
from tensorflow.python.util import nest

_rnn = tf.nn.rnn_cell


class GridRNNCell(_rnn.RNNCell):
    """A cell of several dimensions.

    Variables lie in a scope named after the class: "project_m_<d>" and "project_c_<d>" map the input to dimension d,
    "recurrent/cell_<d>" has the cell of a dimension and "non_recurrent/cell_<d>" the layer of one that has none; tied ones
    lie in "recurrent" and "non_recurrent".

    Args:
      num_units: size of output and of memory in each dimension.
      num_dims: number of dimensions.
      input_dims: a number or list: where inputs replace output and memory of the step before.
      output_dims: a number or list: whose outputs are those of the grid.
      priority_dims: a number or list: these come last, and see the new outputs of the others.
      non_recurrent_dims: a number or list: these have no state; a dense layer stands for the cell.
      tied: whether all dimensions share their weights.
      cell_fn: makes a cell from a number of units; an `LSTMCell` by default.
      non_recurrent_fn: activation of dimensions without state, relu by default.
      state_is_tuple: whether the state is a tuple of the cells' states, or all of them in one tensor.
      output_is_tuple: whether the output is a tuple of one tensor per output dimension, or all of them in one.

    Raises:
      ValueError: `num_dims` is below 1, a dimension is out of range, or `cell_fn` makes no cell.
    """

    def __init__(
        self,
        num_units,
        num_dims=1,
        input_dims=None,
        output_dims=None,
        priority_dims=None,
        non_recurrent_dims=None,
        tied=False,
        cell_fn=None,
        non_recurrent_fn=None,
        state_is_tuple=True,
        output_is_tuple=True,
    ):
        super().__init__()
        if num_dims < 1:
            raise ValueError(f"num_dims: expected at least 1, got {num_dims}")
        self._num_units = num_units
        self._dims = range(num_dims)
        self._inputs = _dimensions("input_dims", input_dims, num_dims)
        self._outputs = _dimensions("output_dims", output_dims, num_dims)
        priority = _dimensions("priority_dims", priority_dims, num_dims)
        without_state = _dimensions("non_recurrent_dims", non_recurrent_dims, num_dims)
        self._recurrents = [dim for dim in self._dims if dim not in without_state]
        self._rounds = [dims for dims in ([d for d in self._dims if d not in priority], priority) if dims]
        self._tied = tied
        self._activation = non_recurrent_fn or tf.nn.relu
        self._state_is_tuple = state_is_tuple
        self._output_is_tuple = output_is_tuple
        make = cell_fn or _rnn.LSTMCell
        cell = make(num_units)
        if not isinstance(cell, _rnn.RNNCell):
            raise ValueError(f"cell_fn: expected it to make an RNNCell, got {cell!r}")
        self._cells = [cell if tied or dim == 0 else make(num_units) for dim in self._dims]
        self._state_width = sum(nest.flatten(cell.state_size))
        # Cells with a memory have it before their output in their state.
        self._has_memory = self._state_width > num_units

    @property
    def output_size(self):
        size = self._cells[0].output_size
        return (size,) * len(self._outputs) if self._output_is_tuple else size * len(self._outputs)

    @property
    def state_size(self):
        if self._state_is_tuple:
            return (self._cells[0].state_size,) * len(self._recurrents)
        return self._state_width * len(self._recurrents)

    def __call__(self, inputs, state, scope=None):
        """One step.

        Args:
          inputs: [batch, size], split evenly over the input dimensions; a tuple of one such tensor for each; or None, or
            of size 0, for none.
          state: of `state_size`.
          scope: variable scope, by default named after the class.

        Returns:
          (outputs, new state), as `output_size` and `state_size` tell.

        Raises:
          ValueError: the number of states or of inputs does not fit.
        """
        memories, outputs = self._unpack(state)
        with tf.variable_scope(scope or type(self).__name__):
            self._project(inputs, memories, outputs)
            new_states = {}
            for first, dims in enumerate(self._rounds):
                # The dimensions of a round all see what there was before it.
                seen = list(outputs)
                if any(output is None for output in seen):
                    raise ValueError("inputs: dimensions without state need an input, got none")
                for dim in dims:
                    shared = self._tied and not (first == 0 and dim == dims[0])
                    outputs[dim], new_state = self._step(dim, seen, memories[dim], shared)
                    if new_state is not None:
                        new_states[dim] = new_state
        result = tuple(outputs[dim] for dim in self._outputs)
        states = tuple(new_states[dim] for dim in self._recurrents)
        like = outputs[0].dtype
        return (
            result if self._output_is_tuple else _joined(result, like),
            states if self._state_is_tuple else _joined(nest.flatten(states), like),
        )

    def _unpack(self, state):
        """The memory and the output that each dimension had; None where there is none."""
        memories, outputs = ([None] * len(self._dims) for _ in range(2))
        units = self._num_units
        if self._state_is_tuple:
            if len(state) != len(self._recurrents):
                raise ValueError(f"state: expected a tuple of {len(self._recurrents)}, got {len(state)}")
            parts = [list(part) if self._has_memory else [part] for part in state]
        else:
            sizes = [units, self._state_width - units] if self._has_memory else [self._state_width]
            pieces = iter(tf.split(state, sizes * len(self._recurrents), 1) if self._recurrents else ())
            parts = [[next(pieces) for _ in sizes] for _ in self._recurrents]
        for dim, part in zip(self._recurrents, parts):
            outputs[dim] = part[-1]
            if self._has_memory:
                memories[dim] = part[0]
        return memories, outputs

    def _project(self, inputs, memories, outputs):
        if inputs is None or not self._inputs:
            return
        if isinstance(inputs, (list, tuple)):
            parts = [tf.convert_to_tensor(part) for part in inputs]
            if len(parts) != len(self._inputs):
                raise ValueError(f"inputs: expected a tuple of {len(self._inputs)}, got {len(parts)}")
        elif inputs.shape.with_rank(2).dims[1].value == 0:
            return
        else:
            parts = tf.split(inputs, len(self._inputs), 1)
        shape = [parts[0].shape.with_rank(2).dims[1].value, self._num_units]
        for part, dim in zip(parts, self._inputs):
            outputs[dim] = tf.matmul(part, tf.get_variable(f"project_m_{dim}", shape, part.dtype))
            if self._has_memory:
                memories[dim] = tf.matmul(part, tf.get_variable(f"project_c_{dim}", shape, part.dtype))

    def _step(self, dim, seen, memory, shared):
        """The new output of a dimension, and its new state or None."""
        recurrent = dim in self._recurrents
        name = "recurrent" if recurrent else "non_recurrent"
        with tf.variable_scope(name if self._tied else f"{name}/cell_{dim}") as scope:
            if shared and _has_variables(scope):
                scope.reuse_variables()
            if not recurrent:
                return self._dense(tf.concat(seen, 1) if len(seen) > 1 else seen[0], scope), None
            others = tf.concat(seen[:-1], 1) if len(seen) > 1 else tf.zeros([tf.shape(seen[0])[0], 0], seen[0].dtype)
            others.set_shape([seen[0].shape[0], self._num_units * (len(seen) - 1)])
            state = seen[-1]
            if self._has_memory:
                state = _rnn.LSTMStateTuple(memory, state)
                if not nest.is_nested(self._cells[dim].state_size):
                    state = tf.concat(state, 1)
            return self._cells[dim](others, state)

    def _dense(self, values, scope):
        from tensorflow.contrib import layers

        return layers.fully_connected(
            values,
            num_outputs=self._num_units,
            activation_fn=self._activation,
            weights_initializer=scope.initializer or layers.xavier_initializer(),
            weights_regularizer=scope.regularizer,
        )


def _has_variables(scope) -> bool:
    return bool(tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, f"{scope.name}/"))


def _joined(tensors, dtype):
    return tf.concat(tensors, 1) if tensors else tf.zeros([0, 0], dtype)


def _dimensions(name, dims, num_dims) -> list:
    if dims is None:
        return []
    dims = sorted(set(dims if isinstance(dims, (list, tuple)) else [dims]))
    if any(dim < 0 or dim >= num_dims for dim in dims):
        raise ValueError(f"{name}: expected dimensions from 0 to {num_dims - 1}, got {dims}")
    return dims


def _first_dimension(non_recurrent_fn=None):
    """Input, output and priority in dimension 0, which has no state if there is a function for it."""
    return {
        "input_dims": 0,
        "output_dims": 0,
        "priority_dims": 0,
        "non_recurrent_dims": None if non_recurrent_fn is None else 0,
        "non_recurrent_fn": non_recurrent_fn,
    }


class Grid1BasicRNNCell(GridRNNCell):
    """A grid of one dimension with a basic cell; arguments as in `GridRNNCell`."""

    def __init__(self, num_units, state_is_tuple=True, output_is_tuple=True):
        super().__init__(
            num_units,
            cell_fn=_rnn.BasicRNNCell,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
            **_first_dimension(),
        )


class Grid2BasicRNNCell(GridRNNCell):
    """Two dimensions of basic cells. Input and output are in the first, which has no state if there is a `non_recurrent_fn`."""

    def __init__(self, num_units, tied=False, non_recurrent_fn=None, state_is_tuple=True, output_is_tuple=True):
        super().__init__(
            num_units,
            num_dims=2,
            tied=tied,
            cell_fn=_rnn.BasicRNNCell,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
            **_first_dimension(non_recurrent_fn),
        )


class Grid1BasicLSTMCell(GridRNNCell):
    """A grid of one dimension with a basic LSTM; `forget_bias` is added to its forget gate."""

    def __init__(self, num_units, forget_bias=1, state_is_tuple=True, output_is_tuple=True):
        super().__init__(
            num_units,
            cell_fn=lambda units: _rnn.BasicLSTMCell(units, forget_bias=forget_bias),
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
            **_first_dimension(),
        )


class Grid2BasicLSTMCell(GridRNNCell):
    """Two dimensions of basic LSTMs. Input and output are in the first, which has no state if there is a `non_recurrent_fn`."""

    def __init__(
        self,
        num_units,
        tied=False,
        non_recurrent_fn=None,
        forget_bias=1,
        state_is_tuple=True,
        output_is_tuple=True,
    ):
        super().__init__(
            num_units,
            num_dims=2,
            tied=tied,
            cell_fn=lambda units: _rnn.BasicLSTMCell(units, forget_bias=forget_bias),
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
            **_first_dimension(non_recurrent_fn),
        )


class Grid1LSTMCell(GridRNNCell):
    """A grid of one dimension with an `LSTMCell`, which has peepholes if asked for."""

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        forget_bias=1.0,
        state_is_tuple=True,
        output_is_tuple=True,
    ):
        super().__init__(
            num_units,
            cell_fn=lambda units: _rnn.LSTMCell(units, use_peepholes=use_peepholes, forget_bias=forget_bias),
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
            **_first_dimension(),
        )


class _GridLSTMCell(GridRNNCell):
    """Several dimensions of `LSTMCell`."""

    _num_dims = 0

    def __init__(
        self,
        num_units,
        tied=False,
        non_recurrent_fn=None,
        use_peepholes=False,
        forget_bias=1.0,
        state_is_tuple=True,
        output_is_tuple=True,
    ):
        super().__init__(
            num_units,
            num_dims=self._num_dims,
            tied=tied,
            cell_fn=lambda units: _rnn.LSTMCell(units, use_peepholes=use_peepholes, forget_bias=forget_bias),
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
            **_first_dimension(non_recurrent_fn),
        )


class Grid2LSTMCell(_GridLSTMCell):
    """Two dimensions of `LSTMCell`. Input and output are in the first, which has no state if there is a `non_recurrent_fn`."""

    _num_dims = 2


class Grid3LSTMCell(_GridLSTMCell):
    """Three dimensions of `LSTMCell`. Input and output are in the first, which has no state if there is a `non_recurrent_fn`."""

    _num_dims = 3


class Grid2GRUCell(GridRNNCell):
    """Two dimensions of GRUs. Input and output are in the first, which has no state if there is a `non_recurrent_fn`."""

    def __init__(self, num_units, tied=False, non_recurrent_fn=None, state_is_tuple=True, output_is_tuple=True):
        super().__init__(
            num_units,
            num_dims=2,
            tied=tied,
            cell_fn=_rnn.GRUCell,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
            **_first_dimension(non_recurrent_fn),
        )
