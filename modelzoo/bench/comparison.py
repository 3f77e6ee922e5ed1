"""Figures of trainings in several ways: medians, a table and a chart."""

import os
import statistics
from typing import Dict, List, NamedTuple, Optional

from common.plots import pyplot

WAYS = ("ours", "plain", "stock")
_COLORS = {"ours": "#0b63c5", "plain": "#8fb4dd", "stock": "#8a8f98"}


class Training(NamedTuple):
    """One training.

    Attributes:
      examples, rate: trained on, and a second without the first step, which also optimises the graph.
      cpu_seconds: of what the rate measures. process_seconds, peak_mib: of the whole process.
      auc: held out, of the main task; None without evaluation.
    """

    model: str
    way: str
    examples: int
    rate: float
    cpu_seconds: float
    process_seconds: float
    peak_mib: float
    auc: Optional[float]

    @classmethod
    def of(cls, model: str, way: str, result: dict) -> "Training":
        """Of the content of a result.json."""
        train, evaluation, resources = result["train"], result["eval"], result["resources"]
        return cls(
            model,
            way,
            examples=train["examples"],
            rate=train["rate"],
            cpu_seconds=train["cpu_seconds"],
            process_seconds=resources["wall_seconds"],
            peak_mib=resources["peak_memory_mib"],
            auc=evaluation["auc"] if evaluation else None,
        )

    @property
    def seconds(self) -> float:
        return self.examples / self.rate


class Row(NamedTuple):
    """Medians of a model by way; ratio: seconds of stock by seconds of this way."""

    model: str
    medians: Dict[str, Training]

    def ratio(self, way: str) -> Optional[float]:
        stock = self.medians.get("stock")
        return stock.seconds / self.medians[way].seconds if stock and way in self.medians else None


def rows(trainings: List[Training]) -> List[Row]:
    """One for each model, in order; behind several, one of all together: the sum of seconds and CPU seconds."""
    result = []
    for model in dict.fromkeys(training.model for training in trainings):
        medians = {}
        for way in WAYS:
            found = [training for training in trainings if (training.model, training.way) == (model, way)]
            if found:
                medians[way] = _median(found)
        result.append(Row(model, medians))
    if len(result) > 1:
        result.append(_total(result))
    return result


def _median(found: List[Training]) -> Training:
    values = {
        field: statistics.median(getattr(training, field) for training in found)
        for field in ("rate", "cpu_seconds", "process_seconds", "peak_mib")
    }
    aucs = [training.auc for training in found if training.auc is not None]
    return found[0]._replace(**values, auc=statistics.median(aucs) if aucs else None)


def _total(models: List[Row]) -> Row:
    medians = {}
    for way in models[0].medians:
        parts = [row.medians[way] for row in models]
        examples, seconds = sum(part.examples for part in parts), sum(part.seconds for part in parts)
        medians[way] = Training(
            "total",
            way,
            examples=examples,
            rate=examples / seconds,
            cpu_seconds=sum(part.cpu_seconds for part in parts),
            process_seconds=sum(part.process_seconds for part in parts),
            peak_mib=max(part.peak_mib for part in parts),
            auc=None,
        )
    return Row("total", medians)


def table(models: List[Row]) -> str:
    """Markdown, a line for each model and way."""
    lines = [
        "| model | way | training s | examples/s | stock s / its s | CPU s | process s | peak MiB | AUC |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in models:
        for way, median in row.medians.items():
            ratio, auc = row.ratio(way), median.auc
            lines.append(
                f"| {row.model} | {way} | {median.seconds:.1f} | {median.rate:,.0f} | "
                f"{'-' if ratio is None else format(ratio, '.2f')} | {median.cpu_seconds:.1f} | "
                f"{median.process_seconds:.1f} | {median.peak_mib:,.0f} | {'-' if auc is None else format(auc, '.4f')} |"
            )
    return "\n".join(lines)


def plot(path: str, title: str, models: List[Row]) -> bool:
    """Draws seconds and CPU seconds of each model and way as a PNG. Returns whether it could."""
    plt = pyplot()
    if plt is None:
        return False
    figure, axes = plt.subplots(1, 2, figsize=(12, 1.8 + 0.6 * len(models)), dpi=120, layout="constrained", sharey=True)
    figure.suptitle(title, fontsize=11)
    for axis, name, value in (
        (axes[0], "training, seconds; times as fast as stock", lambda median: median.seconds),
        (axes[1], "training, CPU seconds", lambda median: median.cpu_seconds),
    ):
        axis.set_title(name, fontsize=10)
        for place, row in enumerate(models):
            height = 0.8 / len(row.medians)
            for i, (way, median) in enumerate(row.medians.items()):
                middle = place - 0.4 + (i + 0.5) * height
                axis.barh(middle, value(median), 0.9 * height, color=_COLORS[way], label=way if not place else None)
                ratio = row.ratio(way) if axis is axes[0] and way != "stock" else None
                text = f" {value(median):.1f}" + (f"  ({ratio:.2f} x)" if ratio else "")
                axis.text(value(median), middle, text, va="center", fontsize=8)
        axis.margins(x=0.2)
        axis.grid(axis="x", alpha=0.3)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(models)), [row.model for row in models])
    axes[0].invert_yaxis()
    axes[1].legend(frameon=False, fontsize=9, loc="lower right")
    figure.savefig(path)
    plt.close(figure)
    return True


def machine() -> str:
    """Name of the processor and the number of those that may be used."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else 'unknown processor'}, {len(os.sched_getaffinity(0))} of them"
