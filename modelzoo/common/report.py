"""What a run leaves behind: its figures, the table on stdout, and JSON files."""

import dataclasses
import json
import math
import os
import resource
import time
from typing import Dict, Optional


@dataclasses.dataclass
class Measure:
    """loss: mean, nats per example. auc: of the main task. examples: good rows. rate: examples per second of wall time.
    cpu_seconds: spent on what rate measures. bad_rows: malformed rows left out. aucs: of each task, if there are several."""

    loss: float
    auc: float
    examples: int
    rate: float
    cpu_seconds: float
    bad_rows: int
    aucs: Optional[Dict[str, float]] = None


@dataclasses.dataclass
class Point:
    """One point of the curve. eval_* are None without evaluation, *_aucs with one task."""

    step: int
    examples: int
    train_loss: float
    train_auc: float
    eval_loss: Optional[float] = None
    eval_auc: Optional[float] = None
    train_aucs: Optional[Dict[str, float]] = None
    eval_aucs: Optional[Dict[str, float]] = None


def as_dict(figures) -> dict:
    """A Measure or Point for a JSON file, which says nothing of tasks where there is only one."""
    fields = dataclasses.asdict(figures)
    return {name: value for name, value in fields.items() if value is not None or not name.endswith("aucs")}


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
    """The closing table. A part that did not run has no row; several tasks have a column each."""
    parts = [(name, measure) for name, measure in (("train", train), ("eval", evaluation)) if measure is not None]
    tasks = next((measure.aucs for _, measure in parts if measure.aucs), None)
    titles = [f"AUC {task}" for task in tasks] if tasks else ["AUC"]
    widths = [max(10, len(title) + 2) for title in titles]
    aucs = "".join(f"{title:>{width}}" for title, width in zip(titles, widths))
    lines = [f"{'':<6}{'loss':>10}{aucs}{'examples':>14}{'examples/s':>14}{'bad rows':>12}"]
    for name, measure in parts:
        values = measure.aucs.values() if measure.aucs else [measure.auc]
        aucs = "".join(f"{_show(value):>{width}}" for value, width in zip(values, widths))
        lines.append(
            f"{name:<6}{_show(measure.loss):>10}{aucs}{measure.examples:>14,}"
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
