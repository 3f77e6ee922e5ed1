"""Runs a train.py and traces some of its steps: `traced.py OUT.json WAY PATH/train.py FLAGS`.

OUT.json holds, for each op type, how often it ran in a step, its microseconds on all threads, floating-point operations of
matrix products, and bytes that it read and wrote.
"""

import json
import math
import os
import statistics
import sys
import time
from typing import Dict, List, NamedTuple, Tuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import hooked
from common.errors import InputError

WARM_UP, EVERY = 20, 10  # the first steps make threads, memory pools and plans; tracing one step disturbs the next
_FEWEST = (WARM_UP // EVERY + 1) * EVERY

_VARIABLES = ("VariableV2", "Variable", "VarHandleOp", "KvVarHandleOp", "ReadVariableOp")
_UPDATES = ("Apply", "Assign", "Scatter")
# Their outputs are their inputs' buffers, or were there before.
_HAND_ON = (*_VARIABLES, "Const", "Identity", "IdentityN", "Reshape", "ExpandDims", "Squeeze", "Switch", "Merge")
# Bytes of an element by DataType; others, strings and resources among them, count nothing.
_BYTES = {1: 4, 2: 8, 3: 4, 4: 1, 5: 2, 6: 1, 9: 8, 10: 1, 14: 2, 19: 2, 22: 4, 23: 8}


class Node(NamedTuple):
    """Of a graph that ran: its op, where its inputs come from, and whether its matrices are read transposed."""

    op: str
    inputs: List[Tuple[str, int]]
    transposed: bool


class Cost(NamedTuple):
    """Of all ops of a type in a step: runs, microseconds, floating-point operations, bytes moved."""

    count: float = 0
    microseconds: float = 0
    flops: float = 0
    bytes: float = 0

    def plus(self, *others: float) -> "Cost":
        return Cost(*(mine + other for mine, other in zip(self, others)))


def nodes_of(graphs) -> Dict[str, Node]:
    """The nodes of the partition graphs of a RunMetadata."""
    return {
        node.name: Node(
            node.op,
            [_tensor(name) for name in node.input if not name.startswith("^")],
            any(node.attr[name].b for name in ("transpose_a", "adj_x") if name in node.attr),
        )
        for graph in graphs
        for node in graph.node
    }


def _tensor(name: str) -> Tuple[str, int]:
    node, _, output = name.partition(":")
    return node, int(output or 0)


def costs(metadata) -> Dict[str, Cost]:
    """By op type, of one step. Fused ops whose matrices are inside count no floating-point operations."""
    nodes = nodes_of(metadata.partition_graphs)
    stats = [one for device in metadata.step_stats.dev_stats for one in device.node_stats if one.node_name in nodes]
    made = {
        (one.node_name, output.slot): output.tensor_description
        for one in stats
        for output in one.output
        if output.HasField("tensor_description")
    }
    result = {}
    for one in stats:
        node = nodes[one.node_name]
        outputs = [output.tensor_description for output in one.output]
        inputs = [made.get(source) for source in node.inputs]
        moved = 0.0 if node.op in _HAND_ON else _moved(node, nodes, outputs, inputs)
        spent = (one.op_end_rel_nanos - one.op_start_rel_nanos) / 1e3
        result[node.op] = result.get(node.op, Cost()).plus(1, spent, _flops(node, outputs, inputs), moved)
    return result


def _moved(node: Node, nodes: Dict[str, Node], outputs, inputs) -> float:
    updates = any(part in node.op for part in _UPDATES)
    # An update hands the variable on; it writes as much of it as it reads.
    rest, variables = 0.0 if updates else sum(map(_size, outputs)), 0.0
    for (name, _), tensor in zip(node.inputs, inputs):
        if _made_by(name, nodes) in _VARIABLES:
            variables += _size(tensor)
        else:
            rest += _size(tensor)
    # Of variables, a gather or a sparse update touches as much as it makes or is given, of two or three variables each.
    return rest + min(variables, 2 * rest) * (2 if updates else 1)


def _made_by(name: str, nodes: Dict[str, Node]) -> str:
    """The type of the op that made a tensor which others only handed on."""
    while name in nodes and nodes[name].op == "Identity":
        name = nodes[name].inputs[0][0]
    return nodes[name].op if name in nodes else ""


def _size(tensor) -> float:
    if tensor is None:
        return 0.0
    return float(math.prod(_shape(tensor)) * _BYTES.get(tensor.dtype, 0))


def _shape(tensor) -> List[int]:
    return [dim.size for dim in tensor.shape.dim]


def _flops(node: Node, outputs, inputs) -> float:
    if "MatMul" not in node.op or not outputs or not inputs or inputs[0] is None or len(_shape(inputs[0])) < 2:
        return 0.0
    inner = _shape(inputs[0])[-2 if node.transposed else -1]
    return 2.0 * math.prod(_shape(outputs[0])) * inner


def _hook(tf, out: str):
    class Tracing(tf.train.SessionRunHook):
        def __init__(self):
            self._step, self._plain, self._traced = 0, [], []

        def before_run(self, run_context):
            self._step += 1
            self._started = time.perf_counter()
            if self._step > WARM_UP and self._step % EVERY == 0:
                options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
                return tf.train.SessionRunArgs(None, options=options)
            return None

        def after_run(self, run_context, run_values):
            if self._step <= WARM_UP:
                return
            if self._step % EVERY:
                self._plain.append(time.perf_counter() - self._started)
            else:
                self._traced.append(costs(run_values.run_metadata))

        def end(self, session):
            if not self._traced:
                raise InputError(
                    f"{self._step} steps are too few to trace one: expected at least {_FEWEST}, see --steps"
                )
            content = {"step_microseconds": statistics.median(self._plain) * 1e6, "ops": mean(self._traced)}
            with open(out, "w", encoding="utf-8") as file:
                json.dump(content, file)

    return Tracing()


def mean(steps: List[Dict[str, Cost]]) -> Dict[str, Cost]:
    """By op type, over steps that need not have the same ops."""
    total = {}
    for step in steps:
        for op, cost in step.items():
            total[op] = total.get(op, Cost()).plus(*cost)
    return {op: Cost(*(value / len(steps) for value in cost)) for op, cost in total.items()}


def main() -> None:
    out, way = sys.argv[1:3]
    hooked.run_with(_hook, out, way, sys.argv[3:])


if __name__ == "__main__":
    main()
