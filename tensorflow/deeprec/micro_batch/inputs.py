"""Which iterators of a graph are read several times in a step, and how often; led back where another session wants that.

Ops that stand for the rows of several reads carry the number of reads and the tensor they replace as attributes, so that a graph that
was written to a MetaGraphDef is known again.
"""

import threading
import weakref

from tensorflow.core.framework import attr_value_pb2
from tensorflow.deeprec import rewiring
from tensorflow.deeprec.micro_batch import components, joining
from tensorflow.python.platform import tf_logging as logging

# Of the ops that stand for all rows: the number of reads; the replaced tensor and the op, by the names they had when it was made.
_NUMBER, _REPLACED, _NAME = "_deeprec_micro_batch_num", "_deeprec_micro_batch_replaces", "_deeprec_micro_batch_name"
_STATE = "_deeprec_micro_batch"
_CALLS = ("PartitionedCall", "If", "While", "Case", "For", "RemoteCall")
_lock = threading.RLock()


def of(graph, make: bool = False):
    """The inputs of a graph; None if no session has asked for micro batches and `make` is not set."""
    state = getattr(graph, _STATE, None)
    if state is None and make:
        state = Inputs(graph)
        setattr(graph, _STATE, state)
    return state


class Inputs:
    """The iterators of one graph."""

    def __init__(self, graph):
        # The graph holds this object.
        self.graph = weakref.ref(graph)
        self.number = 1
        # Replaced tensor, by reference, -> the tensor that stands for it; operation of the iterator -> the one to run for it.
        self.tensors, self.operations = {}, {}
        self._seen, self._passed_over = 0, set()
        self._find_imported()

    def follow(self, number: int) -> bool:
        """Makes a step read `number` times; what was added to the graph since the last time is seen to.

        Returns:
          Whether something of the graph was changed that was there the last time.

        Raises:
          ValueError: an iterator cannot be read so; the graph is unchanged then.
        """
        with _lock:
            graph = self.graph()
            changed = self.number != number and bool(self.tensors or self.operations)
            if not changed and self.number == number and graph.num_operations() == self._seen:
                return False
            with rewiring.opened(graph):
                if self.number != number:
                    self._undo()
                    self.number = number
                if number > 1:
                    before = len(self.operations)
                    self._join_new()
                    self._lead_readers()
                    changed = changed or len(self.operations) > before
            self._seen = graph.num_operations()
            return changed

    def rows(self, get_next):
        """The tensors that stand for what an iterator gives, each in an Identity of its own; None if it is read once a step."""
        if get_next not in self.operations:
            return None
        scope = get_next.name + joining.SCOPE
        return [tensor for tensor in self.tensors.values() if tensor.op.name.startswith(scope)]

    def _join_new(self) -> None:
        found = []
        graph = self.graph()
        for op in graph.get_operations():
            if op.type == "IteratorGetNext" and op not in self.operations:
                if op._control_flow_context is not None:
                    self._pass_over(op, "is in a loop or a condition")
                elif graph.is_fetchable(op):
                    # Otherwise SmartStage has put another in its place.
                    found.append((op, components.of(op)))
            elif op.type in ("IteratorV2", "OneShotIterator", "IteratorFromStringHandleV2"):
                for reader in op.outputs[0].consumers():
                    if reader.type.endswith(_CALLS) or graph._is_function(reader.type):
                        self._pass_over(reader, "is a call that reads an iterator")
        for get_next, parts in found:
            joined, last = joining.join(get_next, parts, self.number)
            for tensor, rows in joined:
                self.tensors[tensor.ref()] = rows
                _mark(rows.op, self.number, tensor)
            self.operations[get_next] = joined[0][1].op if joined else last

    def _pass_over(self, op, why: str) -> None:
        if op not in self._passed_over:
            self._passed_over.add(op)
            logging.warning("micro_batch_num: %s %s; it reads one batch a step.", op.name, why)

    def _lead_readers(self) -> None:
        for reference, rows in self.tensors.items():
            tensor = reference.deref()
            scope = _iterator(tensor).name + joining.SCOPE
            for reader in tensor.consumers():
                if not reader.name.startswith(scope):
                    rewiring.redirect(reader, tensor, rows)
        for get_next, instead in self.operations.items():
            for follower in list(get_next._control_outputs):
                if not follower.name.startswith(get_next.name + joining.SCOPE):
                    rewiring.replace_controls(follower, {get_next}, instead)

    def _undo(self) -> None:
        """Leads every edge back.

        Raises:
          ValueError: SmartStage has put its stage behind the iterator.
        """
        for rows in self.tensors.values():
            if joining.SCOPE not in rows.op.inputs[0].op.name:
                raise ValueError(
                    f"micro_batch_num must be {self.number}, as in the session before, whose SmartStage reads the iterator so; got another "
                    "number: use another graph"
                )
        for reference, rows in self.tensors.items():
            tensor = reference.deref()
            for reader in list(rows.consumers()):
                rewiring.redirect(reader, rows, tensor)
            _mark(rows.op, 0, tensor)
        for get_next, instead in self.operations.items():
            for follower in list(instead._control_outputs):
                rewiring.replace_controls(follower, {instead}, get_next)
        self.tensors, self.operations = {}, {}

    def _find_imported(self) -> None:
        graph = self.graph()
        for op in graph.get_operations():
            if op.type == "Identity" and joining.SCOPE in op.name and _NUMBER in op.node_def.attr:
                attrs = op.node_def.attr
                number, name = attrs[_NUMBER].i, attrs[_NAME].s.decode()
                if number > 1 and op.name.endswith(name):
                    prefix = op.name.removesuffix(name)
                    tensor = graph.get_tensor_by_name(prefix + attrs[_REPLACED].s.decode())
                    self.number = number
                    self.tensors[tensor.ref()] = op.outputs[0]
                    self.operations.setdefault(_iterator(tensor), op)


def _iterator(tensor):
    """The op that reads the iterator, of a part of a component."""
    return tensor.op if tensor.op.type == "IteratorGetNext" else tensor.op.inputs[0].op


def _mark(op, number: int, replaced) -> None:
    value = attr_value_pb2.AttrValue
    op._set_attr(_NUMBER, value(i=number))
    op._set_attr(_REPLACED, value(s=replaced.name.encode()))
    op._set_attr(_NAME, value(s=op.name.encode()))
