"""SmartStage: widens a stage by what follows it and depends on its records alone.

An operation is staged if everything it depends on is a record of one stage, a constant, or staged itself. So parsing, hashing, uniques and
lookups in fixed tables run ahead of the step. What reads a variable, a placeholder or random numbers stays, and what depends on
such a thing: a step computes with the same values as before, and training is the same bit by bit.

The operations themselves stay in the graph, behind the buffer, where only a fetch of one of them runs it: that value is then of the record
of its step. Copies of them run in front of the buffer, and the edges that lead from them to the rest of the graph come out of it.
"""

import contextlib

from tensorflow.deeprec.stage import rewiring, runner, targets
from tensorflow.deeprec.stage.buffer import Buffer, BufferOptions
from tensorflow.deeprec.stage.uncounted import uncounted
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.platform import tf_logging as logging

# Not stateful, but their value is not that of their inputs alone, or they are part of 1.x control flow.
_KEPT_TYPES = frozenset(
    (
        "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "ImmutableConst", "PyFuncStateless", "EagerPyFunc", "Enter", "RefEnter",
        "Exit", "RefExit", "Merge", "RefMerge", "NextIteration", "RefNextIteration", "LoopCond", "Switch", "RefSwitch",
    )
)  # fmt: skip
# Stateful, but of a state that does not change once it is there: a table that is found in is staged if its handle is.
_FIXED_TYPES = frozenset(("Assert", "HashTableV2", "LookupTableFindV2"))
_DONE = "_deeprec_smart_stage"


def widen(graph, options) -> None:
    """Widens the stages of a graph, once; called before a session with `do_smart_stage` is made.

    Args:
      graph: the graph of the session; None: the default graph.
      options: SmartStageOptions, of the stage that is made where the graph has none but one `tf.data` iterator.
    """
    graph = graph or ops.get_default_graph()
    if getattr(graph, _DONE, False):
        return
    with _open(graph):
        stages = graph.get_collection(runner.PREFETCH)
        if not stages:
            from tensorflow.deeprec.stage import iterator_stage

            stages = iterator_stage.make(graph, options)
        if not stages:
            logging.warning(
                "do_smart_stage has no effect: the graph has no tf.staged and not exactly one tf.data iterator."
            )
            return
        setattr(graph, _DONE, True)
        kept = targets.marked(graph)
        for stage in stages:
            _Cut(stage, kept).apply()


@contextlib.contextmanager
def _open(graph):
    """The graph as default graph that may be changed, although a Scaffold has finalized it, free of what is around."""
    finalized = graph.finalized
    graph._unsafe_unfinalize()
    try:
        with (
            graph.as_default(),
            ops.name_scope(None),
            ops.device(None),
            ops.control_dependencies(None),
            uncounted(graph),
        ):
            yield
    finally:
        if finalized:
            graph.finalize()


class _Cut:
    """Where the graph is cut for one stage."""

    def __init__(self, stage, kept: set):
        self._stage, self._kept = stage, kept
        self._take = stage.take_op
        # Operation -> whether it depends on nothing but records of this stage and constants.
        self._clean = {self._take: True}
        # What holds a record of the stage as it is; it needs no place in the record.
        self._records = {
            op for tensor in self._take.outputs for op in tensor.consumers() if op.type == "Identity" and op not in kept
        }
        self._moved = self._find()

    def _may_move(self, op) -> bool:
        if op in self._kept or op.type in _KEPT_TYPES or op._control_flow_context is not None:
            return False
        if op.op_def is None or (op.op_def.is_stateful and op.type not in _FIXED_TYPES):
            return False
        return not any(tensor.dtype._is_ref_dtype for tensor in op.outputs)

    def _is_clean(self, op) -> bool:
        """Depth first, with a stack of its own: chains of operations are longer than Python's."""
        stack = [op]
        while stack:
            top = stack[-1]
            if top in self._clean:
                stack.pop()
                continue
            if not self._may_move(top):
                self._clean[top] = False
                continue
            sources = _sources(top)
            unknown = [source for source in sources if source not in self._clean]
            if unknown and all(self._clean.get(source, True) for source in sources):
                stack.extend(unknown)
            else:
                self._clean[top] = not unknown and all(self._clean[source] for source in sources)
        return self._clean[op]

    def _find(self) -> list:
        """The operations to stage, each behind those it depends on."""
        found, stack = {}, [self._take]
        while stack:
            op = stack.pop()
            for follower in [op for tensor in op.outputs for op in tensor.consumers()] + list(op._control_outputs):
                if follower not in found and self._is_clean(follower):
                    found[follower] = True
                    stack.append(follower)
        ordered, done = [], set()
        for op in found:
            stack = [op]
            while stack:
                top = stack[-1]
                waiting = [source for source in _sources(top) if source in found and source not in done]
                if top in done or not waiting:
                    stack.pop()
                    if top not in done:
                        done.add(top)
                        ordered.append(top)
                else:
                    stack.extend(waiting)
        return ordered

    def _edges(self) -> dict:
        """Tensor -> operations that stay and read it, for the tensors that the records lack."""
        moved = set(self._moved)
        edges = {}
        for op in self._moved:
            if op in self._records:
                continue
            for tensor in op.outputs:
                readers = [reader for reader in tensor.consumers() if reader not in moved]
                if readers and tensor.dtype not in (dtypes.resource, dtypes.variant):
                    edges[tensor] = readers
        return edges

    def apply(self) -> None:
        """Makes the copies and a wider put and take, and leads the edges there."""
        edges = self._edges()
        if not edges:
            return
        stage, old = self._stage, self._take
        options = BufferOptions(
            stage.name,
            stage.capacity,
            old.get_attr("shared_threads"),
            old.get_attr("timeout_millis"),
        )
        with ops.name_scope(f"{stage.name}/smart_stage/"):
            buffer = Buffer(options)
            taken = buffer.take(list(old.outputs) + list(edges))
            puts = {}
            for put in stage.put_ops:
                if put not in puts:
                    copies = self._copy(put)
                    puts[put] = buffer.put(list(put.inputs) + [copies[tensor] for tensor in edges])
        take = taken[0].op
        for tensor, new in zip(old.outputs, taken):
            for reader in tensor.consumers():
                rewiring.redirect(reader, tensor, new)
        for (tensor, readers), new in zip(edges.items(), taken[len(old.outputs) :]):
            for reader in readers:
                rewiring.redirect(reader, tensor, new)
        moved = set(self._moved)
        for op in self._moved:
            for tensor in op.outputs:
                # The value would not reach those that read the copy.
                op.graph.prevent_feeding(tensor)
            for follower in op._control_outputs:
                if follower not in moved:
                    rewiring.replace_controls(follower, moved | {old}, take)
        for follower in old._control_outputs:
            rewiring.replace_controls(follower, {old}, take)
        stage.put_ops, stage.take_op = [puts[put] for put in stage.put_ops], take
        logging.info(
            "SmartStage: %d operations run in stage %r, %d tensors more.", len(self._moved), stage.name, len(edges)
        )

    def _copy(self, put) -> dict:
        """Copies of the staged operations that read what `put` puts: tensor -> its copy."""
        graph = put.graph
        tensors = dict(zip(self._take.outputs, put.inputs))
        operations = {}
        for op in self._moved:
            if op in self._records:
                tensors[op.outputs[0]] = tensors[op.inputs[0]]
                operations[op] = op.inputs[0].op
                continue
            attrs = {
                name: op.node_def.attr[name] for name in op.node_def.attr if name not in ("_class", "_output_shapes")
            }
            controls = [operations.get(control, control) for control in op.control_inputs]
            with ops.control_dependencies([control for control in controls if control is not self._take]):
                copy = graph._create_op_internal(
                    op.type,
                    [tensors.get(tensor, tensor) for tensor in op.inputs],
                    [tensor.dtype for tensor in op.outputs],
                    name=op.name.rsplit("/", 1)[-1],
                    attrs=attrs,
                    op_def=op.op_def,
                    compute_device=False,
                )
            copy._set_device(op.device)
            operations[op] = copy
            tensors.update(zip(op.outputs, copy.outputs))
        return tensors


def _sources(op) -> list:
    return [tensor.op for tensor in op.inputs] + list(op.control_inputs)
