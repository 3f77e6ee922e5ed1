"""A step by op type and by cause, against the roofline of the machine: tables and a chart."""

import re
from typing import Dict, List, NamedTuple

from bench.traced import Cost
from common.plots import pyplot

# The first pattern that an op type begins with decides; what fits none is a small op.
_CAUSES = (
    (
        "loops and conditions",
        r"Recurrent|Enter|Exit|Merge|Switch|NextIteration|LoopCond|TensorArray|TensorList|While|Stack(Push|Pop)",
    ),
    (
        "optimizer",
        r"(Resource)?(Sparse)?Apply|Kv\w*(Sparse)?Apply|AssignSub|AssignAdd|ScatterSub|ResourceScatter|Assign\w*VariableOp|Group\w*Apply|Fused\w*Apply",
    ),
    ("matrix products", r"\w*MatMul|Conv"),
    (
        "input",
        r"Iterator|OneShot|Decode|Parse|StringTo|StringSplit|TensorBuffer|Stage|Unstage|LookupTable|Bucketize|ReduceJoin|AsString|SparseCross",
    ),
    (
        "embedding",
        r"Kv|Group|Embedding|(Resource)?Gather|SparseSegment|SparseFill|SparseReshape|Sparse|Unique|UnsortedSegment|Segment|Fused\w*(Lookup|Embedding)|DynamicStitch|DynamicPartition|Where|ScatterNd|Prune|Tile",
    ),
)
CAUSES = tuple(name for name, _ in _CAUSES) + ("small ops",)
_COLORS = ("#c9752d", "#7a4fb5", "#0b63c5", "#4d9a55", "#c2475b", "#8a8f98")


class Machine(NamedTuple):
    """What the machine can do at most: float32 GFLOP/s of matrix products, GB/s of memory, read and written."""

    gflops: float
    gigabytes: float


class Step(NamedTuple):
    """Mean of the traced steps of one training: wall microseconds of steps that were not traced, costs by op type."""

    model: str
    way: str
    microseconds: float
    ops: Dict[str, Cost]


def cause(op: str) -> str:
    """Why a step has ops of this type."""
    return next((name for name, pattern in _CAUSES if re.match(pattern, op)), "small ops")


def by_cause(step: Step) -> Dict[str, Cost]:
    result = {name: Cost() for name in CAUSES}
    for op, cost in step.ops.items():
        result[cause(op)] = result[cause(op)].plus(*cost)
    return result


def at_best(cost: Cost, machine: Machine, threads: int) -> float:
    """Microseconds on all threads that the roofline leaves for such work: by arithmetic or by memory, whichever is longer."""
    return threads * max(cost.flops / (machine.gflops * 1e3), cost.bytes / (machine.gigabytes * 1e3))


def table(steps: List[Step], machine: Machine, threads: int) -> str:
    """Markdown, a line for each cause of each step."""
    lines = [
        "| model | way | step ms | cause | ops | busy ms | share | at best ms | GFLOP/s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for step in steps:
        parts = by_cause(step)
        busy = sum(cost.microseconds for cost in parts.values())
        for name, cost in parts.items():
            if not cost.count:
                continue
            best = sum(at_best(one, machine, threads) for op, one in step.ops.items() if cause(op) == name)
            rate = f"{cost.flops / cost.microseconds / 1e3 * threads:,.0f}" if cost.flops else "-"
            lines.append(
                f"| {step.model} | {step.way} | {step.microseconds / 1e3:.2f} | {name} | {cost.count:,.0f} | "
                f"{cost.microseconds / 1e3:.2f} | {cost.microseconds / busy:.0%} | {best / 1e3:.2f} | {rate} |"
            )
    return "\n".join(lines)


def op_table(step: Step, machine: Machine, threads: int, most: int) -> str:
    """Markdown, the op types that take longest."""
    lines = ["| op | cause | runs | busy ms | at best ms |", "|---|---|---|---|---|"]
    for op, cost in sorted(step.ops.items(), key=lambda item: -item[1].microseconds)[:most]:
        best = at_best(cost, machine, threads)
        lines.append(f"| {op} | {cause(op)} | {cost.count:,.0f} | {cost.microseconds / 1e3:.3f} | {best / 1e3:.3f} |")
    return "\n".join(lines)


def plot(path: str, title: str, steps: List[Step]) -> bool:
    """Draws the busy milliseconds of each step as a bar of its causes. Returns whether it could."""
    plt = pyplot()
    if plt is None:
        return False
    figure, axis = plt.subplots(figsize=(10, 1.8 + 0.35 * len(steps)), dpi=120, layout="constrained")
    axis.set_title(title, fontsize=10)
    left = [0.0] * len(steps)
    parts = [by_cause(step) for step in steps]
    for name, color in zip(CAUSES, _COLORS):
        widths = [part[name].microseconds / 1e3 for part in parts]
        axis.barh(range(len(steps)), widths, 0.8, left=left, color=color, label=name)
        left = [begin + width for begin, width in zip(left, widths)]
    axis.set_yticks(range(len(steps)), [f"{step.model}, {step.way}" for step in steps])
    axis.invert_yaxis()
    axis.set_xlabel("busy milliseconds of all threads in a step")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=8)
    figure.savefig(path)
    plt.close(figure)
    return True
