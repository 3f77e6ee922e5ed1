"""What a run leaves behind: the table on stdout, result.json, and the plot of the curves."""

import dataclasses
import json
import math
import os
import resource
import time
from typing import List, Optional

from common.progress import log


@dataclasses.dataclass
class Measure:
    """loss: mean, nats per example. examples: good rows. rate: examples per second of wall time.
    cpu_seconds: spent on what rate measures. bad_rows: malformed rows left out."""

    loss: float
    auc: float
    examples: int
    rate: float
    cpu_seconds: float
    bad_rows: int


@dataclasses.dataclass
class Point:
    """One point of the curve. eval_* are None without evaluation."""

    step: int
    examples: int
    train_loss: float
    train_auc: float
    eval_loss: Optional[float] = None
    eval_auc: Optional[float] = None


def wall_seconds() -> float:
    """Since the process began, so with imports and data generation."""
    with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
        start_ticks = int(file.read().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - start_ticks / os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_memory_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in KiB


def write_json(path: str, content) -> None:
    """Replaces `path` as a whole; not-a-number becomes null, which every JSON reader takes."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(_finite(content), file, indent=2)
        file.write("\n")
    os.replace(path + ".new", path)


def _finite(value):
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def table(train: Optional[Measure], evaluation: Optional[Measure], resources: dict) -> str:
    """The closing table. A part that did not run has no row."""
    lines = [f"{'':<6}{'loss':>10}{'AUC':>10}{'examples':>14}{'examples/s':>14}{'bad rows':>12}"]
    for name, measure in (("train", train), ("eval", evaluation)):
        if measure is not None:
            lines.append(
                f"{name:<6}{_show(measure.loss):>10}{_show(measure.auc):>10}{measure.examples:>14,}"
                f"{_show(measure.rate, '14,.0f'):>14}{measure.bad_rows:>12,}"
            )
    rule = "-" * len(lines[0])
    lines[1:1] = [rule]
    lines += [
        rule,
        f"wall {resources['wall_seconds']:.1f} s   CPU {resources['cpu_seconds']:.1f} s   "
        f"peak memory {resources['peak_memory_mib']:,.0f} MiB",
    ]
    return "\n".join(lines)


def _show(value: float, form: str = ".4f") -> str:
    return "-" if math.isnan(value) else format(value, form)


def plot(path: str, title: str, points: List[Point]) -> bool:
    """Draws loss and AUC over the rows trained on as a PNG. Returns whether it could."""
    try:
        import matplotlib
    except ImportError:
        log.warning("matplotlib is not installed, so there is no plot: pip install -r modelzoo/requirements.txt")
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), dpi=120, layout="constrained")
    figure.suptitle(title, fontsize=12)
    for axis, name, train, evaluation in (
        (axes[0], "log loss", [p.train_loss for p in points], [p.eval_loss for p in points]),
        (axes[1], "AUC", [p.train_auc for p in points], [p.eval_auc for p in points]),
    ):
        examples = [p.examples for p in points]
        axis.plot(examples, train, "o-", markersize=3.5, color="#8a8f98", label="train, before the update")
        if any(value is not None for value in evaluation):
            axis.plot(
                examples,
                [math.nan if v is None else v for v in evaluation],
                "o-",
                markersize=3.5,
                color="#0b63c5",
                label="held out",
            )
            last = next(i for i in reversed(range(len(points))) if evaluation[i] is not None)
            # On the side the curve does not come from.
            side, anchor = ((0, -8), "top") if axis is axes[0] else ((0, 8), "bottom")
            axis.annotate(
                f"{evaluation[last]:.4f}",
                (examples[last], evaluation[last]),
                xytext=side,
                textcoords="offset points",
                ha="right",
                va=anchor,
                color="#0b63c5",
                fontsize=9,
            )
        axis.set_title(name, fontsize=11)
        axis.set_xlabel("training examples")
        axis.set_xlim(left=0)
        axis.margins(y=0.16)
        axis.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, fontsize=9)
    figure.savefig(path)
    pyplot.close(figure)
    return True
