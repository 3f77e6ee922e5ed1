"""Where a graph is cut at a stage: what runs in front of its buffer, and the edges that come out of it.

An operation moves if everything it depends on is a record of the stage, a constant, or moves itself. The operations stay in the graph,
behind the buffer, where only a fetch of one of them runs it: that value is then of the record of its step. Copies of them run in front
of the buffer, and the edges that lead from them to the rest of the graph come out of it.
"""

from tensorflow.deeprec import rewiring
from tensorflow.deeprec.stage.buffer import Buffer, BufferOptions
from tensorflow.python.framework import dtypes, ops

# Not stateful, but their value is not that of their inputs alone, or they are part of 1.x control flow.
_KEPT_TYPES = frozenset(
    (
        "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "ImmutableConst", "PyFuncStateless", "EagerPyFunc", "Enter", "RefEnter",
        "Exit", "RefExit", "Merge", "RefMerge", "NextIteration", "RefNextIteration", "LoopCond", "Switch", "RefSwitch",
    )
)  # fmt: skip
# Stateful, but of a state that does not change once it is there: a table that is found in is staged if its handle is.
_FIXED_TYPES = frozenset(("Assert", "HashTableV2", "LookupTableFindV2"))
# What reads rows of a table by ids. Its other inputs decide whether it moves, if lookups do.
LOOKUPS = frozenset(
    (
        "GatherV2", "GatherNd", "ResourceGather", "ResourceGatherNd", "KvResourceGather", "GroupEmbeddingLookup",
        "SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN",
    )
)  # fmt: skip
_TABLES = frozenset(("VarHandleOp", "KvVarHandleOp", "VariableV2"))


class Cut:
    """Where the graph is cut for one stage."""

    def __init__(self, stage, kept: set, with_lookups: bool = False):
        """`stage`: its runner; `kept`: operations that do not move; `with_lookups`: whether lookups in tables of variables do."""
        self._stage, self._kept, self._with_lookups = stage, kept, with_lookups
        self._take = stage.take_op
        # Operation -> whether it depends on nothing but records of this stage and constants.
        self._clean = {self._take: True}
        # What holds a record of the stage as it is; it needs no place in the record.
        self._records = {
            op for tensor in self._take.outputs for op in tensor.consumers() if op.type == "Identity" and op not in kept
        }
        self.moved = self._find()

    def _may_move(self, op) -> bool:
        if op in self._kept or op.type in _KEPT_TYPES or op._control_flow_context is not None:
            return False
        if op.op_def is None:
            return False
        if op.op_def.is_stateful and op.type not in _FIXED_TYPES and not self._is_lookup(op):
            return False
        return not any(tensor.dtype._is_ref_dtype for tensor in op.outputs)

    def _is_lookup(self, op) -> bool:
        if not self._with_lookups or op.type not in LOOKUPS or not any(map(_is_table, op.inputs)):
            return False
        # Such a read inserts keys.
        return op.type != "KvResourceGather" or not op.get_attr("is_use_default_value_tensor")

    def lookups(self) -> list:
        """The lookups that move."""
        return [op for op in self.moved if self._is_lookup(op)]

    def _sources(self, op) -> list:
        """What an operation waits for, but for the tables of a lookup."""
        lookup = self._is_lookup(op)
        inputs = [tensor.op for tensor in op.inputs if not (lookup and _is_table(tensor))]
        return inputs + list(op.control_inputs)

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
            sources = self._sources(top)
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
                waiting = [source for source in self._sources(top) if source in found and source not in done]
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
        moved = set(self.moved)
        edges = {}
        for op in self.moved:
            if op in self._records:
                continue
            for tensor in op.outputs:
                readers = [reader for reader in tensor.consumers() if reader not in moved]
                if readers and tensor.dtype not in (dtypes.resource, dtypes.variant):
                    edges[tensor] = readers
        return edges

    def widen(self) -> int:
        """Puts the copies in front of the stage's own buffer, in records with more tensors; returns how many more."""
        edges = self._edges()
        if not edges:
            return 0
        stage, old = self._stage, self._take
        with ops.name_scope(f"{stage.name}/smart_stage/"):
            buffer = Buffer(self._options(stage.name, stage.capacity))
            taken = buffer.take(list(old.outputs) + list(edges))
            puts = {}
            for put in stage.put_ops:
                if put not in puts:
                    copies = self._copy(put.inputs)
                    puts[put] = buffer.put(list(put.inputs) + [copies[tensor] for tensor in edges])
        self._lead(edges, taken, {tensor: tensor.consumers() for tensor in old.outputs}, list(old._control_outputs))
        stage.put_ops, stage.take_op = [puts[put] for put in stage.put_ops], taken[0].op
        return len(edges)

    def add_buffer(self, scope: str, capacity: int) -> tuple:
        """Puts the copies between the stage and a buffer of their own.

        Returns:
          The op that puts a record, the op that takes one, and `Buffer.controls`.
        """
        edges, old = self._edges(), self._take
        readers, followers = {tensor: tensor.consumers() for tensor in old.outputs}, list(old._control_outputs)
        with ops.name_scope(f"{scope}/"):
            buffer = Buffer(self._options(scope, capacity))
            copies = self._copy(old.outputs)
            put = buffer.put(list(old.outputs) + [copies[tensor] for tensor in edges])
            taken = buffer.take(list(old.outputs) + list(edges))
            controls = buffer.controls()
        self._lead(edges, taken, readers, followers)
        return put, taken[0].op, controls

    def _options(self, name: str, capacity: int) -> BufferOptions:
        old = self._take
        return BufferOptions(name, capacity, old.get_attr("shared_threads"), old.get_attr("timeout_millis"))

    def _lead(self, edges: dict, taken: list, readers: dict, followers: list) -> None:
        """Leads the edges out of the new buffer.

        Args:
          edges: see `_edges`.
          taken: what comes out of it: the old record, and the tensors of the edges.
          readers: tensor of the old record -> the operations that are to read the new one.
          followers: the operations that are to wait for it instead of the old one.
        """
        old, take = self._take, taken[0].op
        for tensor, new in zip(old.outputs, taken):
            for reader in readers[tensor]:
                rewiring.redirect(reader, tensor, new)
        for (tensor, staying), new in zip(edges.items(), taken[len(old.outputs) :]):
            for reader in staying:
                rewiring.redirect(reader, tensor, new)
        moved = set(self.moved)
        for op in self.moved:
            for tensor in op.outputs:
                # The value would not reach those that read the copy.
                op.graph.prevent_feeding(tensor)
            for follower in op._control_outputs:
                if follower not in moved:
                    rewiring.replace_controls(follower, moved | {old}, take)
        for follower in followers:
            rewiring.replace_controls(follower, {old}, take)

    def _copy(self, record) -> dict:
        """Copies of the operations that move, for the tensors of `record` instead of those of the stage: tensor -> its copy."""
        tensors = dict(zip(self._take.outputs, record))
        operations = {}
        for op in self.moved:
            if op in self._records:
                tensors[op.outputs[0]] = tensors[op.inputs[0]]
                operations[op] = op.inputs[0].op
                continue
            controls = [operations.get(control, control) for control in op.control_inputs]
            with ops.control_dependencies([control for control in controls if control is not self._take]):
                inputs = [tensors.get(tensor, tensor) for tensor in op.inputs]
                copy = rewiring.copy_of(op, inputs, op.name.rsplit("/", 1)[-1])
            operations[op] = copy
            tensors.update(zip(op.outputs, copy.outputs))
        return tensors


def _is_table(tensor) -> bool:
    """Whether it is the handle of a variable, a reference variable, or what that holds."""
    op = tensor.op
    if op.type == "Identity" and op.inputs[0].dtype._is_ref_dtype:
        op = op.inputs[0].op
    return op.type in _TABLES
