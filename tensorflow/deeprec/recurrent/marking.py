"""Loops of `dynamic_rnn` whose cell is a program, and the IdentityN beside them that says so."""

from tensorflow.deeprec import library
from tensorflow.deeprec.marks import mark as marks
from tensorflow.deeprec.recurrent import cell_program
from tensorflow.deeprec.stage.uncounted import uncounted
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import control_flow_util, gen_resource_variable_ops
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.util import nest

KIND = "recurrent"


class Recorder:
    """A cell that remembers the call of it in the body of a loop."""

    def __init__(self, cell):
        self._cell = cell
        self.calls = []

    def __getattr__(self, name):
        return getattr(self._cell, name)

    def __call__(self, inputs, state, *args, **kwargs):
        results = self._cell(inputs, state, *args, **kwargs)
        self.calls.append((inputs, state, *results))
        return results


def may_mark() -> bool:
    """Whether a loop that is built here could be one op: in a graph, a loop of v1 and within no other loop or condition."""
    return marks.may_put() and not control_flow_util.EnableControlFlowV2(ops.get_default_graph())


def mark(recorder: Recorder, inputs, initial_state, sequence_length, results) -> None:
    """Puts a mark beside a loop if it can be one op.

    Args:
      inputs: nest of float32 [steps, batch, width].
      initial_state: nest of float32 [batch, width].
      sequence_length: int32 [batch], or None.
      results: (outputs, final state) of `_dynamic_rnn_loop`, two nests.
    """
    if len(recorder.calls) != 1:
        return
    called = [nest.flatten(part) for part in recorder.calls[0]]
    flat_results = [nest.flatten(part) for part in results]
    arguments = [nest.flatten(inputs), nest.flatten(initial_state)]
    try:
        if any(not isinstance(tensor, ops.Tensor) for part in called + arguments for tensor in part):
            raise cell_program.Unreadable("it takes or returns other things than tensors")
        program = cell_program.read(*called)
    except cell_program.Unreadable as reason:
        logging.vlog(1, "A recurrent loop stays as it is: %s", reason)
        return
    lengths = [] if sequence_length is None else [sequence_length]
    with uncounted(ops.get_default_graph()), ops.name_scope("loop_program"):
        captures = [
            gen_resource_variable_ops.read_variable_op(tensor, dtypes.float32)
            if tensor.dtype == dtypes.resource
            else tensor
            for tensor in program.captures
        ]
        marks.put(
            KIND,
            [*flat_results[0], *flat_results[1]],
            [*arguments[0], *arguments[1], *captures, *lengths],
            {
                "program": program.integers,
                "scalars": program.scalars,
                "outputs": program.outputs,
                "widths": program.widths,
                "states": program.new_states,
                "sizes": [len(arguments[0]), len(captures), len(lengths)],
            },
            loop=True,
        )


@marks.register(KIND)
def _gradient(mark, *grads):
    program, scalars, outputs, new_states, sizes = (
        mark.get_attr(marks.attribute(KIND, name)) for name in ("program", "scalars", "outputs", "states", "sizes")
    )
    parts, at, reads = [], 0, marks.reads_of(mark)
    for size in (sizes[0], len(new_states), sizes[1], sizes[2]):
        parts.append(reads[at : at + size])
        at += size
    of_arguments = library.ops().recurrent_loop_grad(
        *parts,
        outputs_grad=[ops.convert_to_tensor(grad) for grad in grads[: len(outputs)]],
        new_states_grad=[ops.convert_to_tensor(grad) for grad in grads[len(outputs) :]],
        program=program,
        scalars=scalars,
        output_values=outputs,
        new_state_values=new_states,
    )
    return [
        *of_arguments.inputs_grad,
        *of_arguments.initial_states_grad,
        *of_arguments.captures_grad,
        *[None] * sizes[2],
    ]
