"""Figures of several models side by side: a table and a chart."""

import math
from typing import Dict, List, NamedTuple, Optional

from common.plots import pyplot

_COLORS = ("#0b63c5", "#c2571a", "#2a8a4a", "#8a3fa0")  # of one task each
_BAR = "#5b6370"


class Run(NamedTuple):
    """What one model did.

    Attributes:
      error: why there are no figures, or None.
      aucs: on the held-out rows by task; of one task under "auc". None if the run did not evaluate.
      floors: what they should reach, likewise, or None.
      rate: training examples per second; None if nothing was left to train.
      seconds, cpu_seconds: of the whole process. peak_mib: its memory.
    """

    model: str
    error: Optional[str] = None
    aucs: Optional[Dict[str, float]] = None
    floors: Optional[Dict[str, float]] = None
    rate: Optional[float] = None
    seconds: Optional[float] = None
    cpu_seconds: Optional[float] = None
    peak_mib: Optional[float] = None

    @property
    def reached(self) -> Optional[bool]:
        """Whether every AUC is at least its floor; None if there is nothing to compare."""
        if not self.floors or not self.aucs:
            return None
        # An AUC that is undefined is None here and has not reached anything.
        return all((self.aucs.get(task) or 0.0) >= floor for task, floor in self.floors.items())


def from_result(model: str, result: dict, floors: Optional[Dict[str, float]]) -> Run:
    """Of the content of a result.json."""
    evaluation, train, resources = result["eval"], result["train"], result["resources"]
    return Run(
        model,
        aucs=(evaluation.get("aucs") or {"auc": evaluation["auc"]}) if evaluation else None,
        floors=floors,
        rate=train["rate"] if train else None,
        seconds=resources["wall_seconds"],
        cpu_seconds=resources["cpu_seconds"],
        peak_mib=resources["peak_memory_mib"],
    )


def table(runs: List[Run]) -> str:
    """One line a model; the error of one that failed in place of its figures."""
    rows = [("model", "AUC", "floor", "examples/s", "seconds", "CPU s", "peak MiB")]
    for run in runs:
        if run.error:
            rows.append((run.model, f"failed, {run.error}"))
            continue
        verdict = {None: "-", True: "reached", False: "below"}[run.reached]
        if run.floors:
            verdict += f" ({' '.join(f'{floor:g}' for floor in run.floors.values())})"
        figures = (_show(run.rate, ",.0f"), _show(run.seconds, ".1f"), _show(run.cpu_seconds, ".1f"))
        rows.append((run.model, _show_aucs(run.aucs), verdict, *figures, _show(run.peak_mib, ",.0f")))
    whole = [row for row in rows if len(row) > 2]
    widths = [max(len(row[i]) for row in whole) for i in range(len(rows[0]))]
    widths[0] = max(len(row[0]) for row in rows)
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if i < 3 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(lines)


def _show(value: Optional[float], form: str) -> str:
    return "-" if value is None or math.isnan(value) else format(value, form)


def _show_aucs(aucs: Optional[Dict[str, float]]) -> str:
    if not aucs:
        return "-"
    return " ".join(
        _show(value, ".4f") if task == "auc" else f"{task} {_show(value, '.4f')}" for task, value in aucs.items()
    )


def plot(path: str, runs: List[Run]) -> bool:
    """Draws AUC with its floor, speed and CPU time of each model that ran, as a PNG. Returns whether it could."""
    runs = [run for run in runs if not run.error]
    plt = pyplot() if runs else None
    if plt is None:
        return False
    from matplotlib import ticker

    figure, axes = plt.subplots(
        1, 3, figsize=(12, 1.6 + 0.42 * len(runs)), dpi=120, layout="constrained", sharey=True, width_ratios=(2, 1, 1)
    )
    _draw_aucs(axes[0], runs)
    for axis, title, values in (
        (axes[1], "training, examples/s", [run.rate for run in runs]),
        (axes[2], "CPU seconds, whole run", [run.cpu_seconds for run in runs]),
    ):
        axis.set_title(title, fontsize=11)
        bars = axis.barh(range(len(runs)), [value or 0 for value in values], 0.6, color=_BAR)
        axis.bar_label(bars, [_show(value, ",.0f") for value in values], padding=3, fontsize=8)
        axis.margins(x=0.25)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(3))
        axis.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
    for axis in axes:
        axis.grid(axis="x", alpha=0.3)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(runs)), [run.model for run in runs])
    axes[0].invert_yaxis()
    figure.savefig(path)
    plt.close(figure)
    return True


def _draw_aucs(axis, runs: List[Run]) -> None:
    axis.set_title("AUC on the held-out rows; the line is the floor", fontsize=11)
    axis.set_xlim(0.5, 1.0)  # 0.5 is chance
    named = set()
    for place, run in enumerate(runs):
        aucs = run.aucs or {}
        for i, (task, value) in enumerate(aucs.items()):
            height = 0.8 / len(aucs)
            middle = place - 0.4 + (i + 0.5) * height
            label = task if len(aucs) > 1 and task not in named else None
            named.add(task)
            color = _COLORS[i % len(_COLORS)]
            axis.barh(middle, (value or 0.5) - 0.5, height * 0.9, left=0.5, color=color, label=label)
            end = max(value or 0.5, 0.5)
            floor = (run.floors or {}).get(task)
            if floor is not None:
                axis.vlines(floor, middle - height / 2, middle + height / 2, color="black", linewidth=1.5)
                end = max(end, floor)
            axis.text(end + 0.006, middle, _show(value, ".4f"), va="center", fontsize=8)
    if axis.get_legend_handles_labels()[1]:
        axis.legend(frameon=False, fontsize=9, loc="lower right")
