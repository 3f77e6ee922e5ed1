"""The plot of a run's curves, as a PNG."""

import math
from typing import List, Optional, Sequence

from common.progress import log
from common.report import Point

_TRAIN = "#8a8f98"
_HELD_OUT = ("#0b63c5", "#c2571a", "#2a8a4a", "#8a3fa0")  # of one task each
_MARKERS = "osD^"
# Where the last value of a curve stands: on the side the curve does not come from.
_ABOVE, _BELOW, _BESIDE = (
    {"xytext": at, "ha": horizontal, "va": vertical}
    for at, horizontal, vertical in (
        ((0, 8), "right", "bottom"),
        ((0, -8), "right", "top"),
        ((6, 0), "left", "center"),
    )
)


def pyplot():
    """matplotlib's, without a display; None, and a warning, if it is not installed."""
    try:
        import matplotlib
    except ImportError:
        log.warning("matplotlib is not installed, so there is no plot: pip install -r modelzoo/requirements.txt")
        return None
    matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot


def curves(path: str, title: str, points: List[Point]) -> bool:
    """Draws loss and AUC over the rows trained on. Returns whether it could."""
    plt = pyplot()
    if plt is None:
        return False
    from matplotlib import ticker

    figure, (loss, auc) = plt.subplots(1, 2, figsize=(10, 4), dpi=120, layout="constrained")
    figure.suptitle(title, fontsize=12)
    examples = [point.examples for point in points]
    _draw(loss, examples, [p.train_loss for p in points], [p.eval_loss for p in points], _BELOW)
    tasks = points[-1].train_aucs or [None]
    for i, task in enumerate(tasks):
        train, evaluation = _aucs(points, task)
        _draw(auc, examples, train, evaluation, _BESIDE if len(tasks) > 1 else _ABOVE, task, i % len(_MARKERS))
    for axis, name, free in ((loss, "log loss", "upper right"), (auc, "AUC", "lower right")):
        axis.set_title(name, fontsize=11)
        axis.set_xlabel("training examples")
        axis.set_xlim(0, 1.15 * examples[-1] if axis is auc and len(tasks) > 1 else None)
        axis.margins(y=0.16)
        axis.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, fontsize=9, loc=free)
    figure.savefig(path)
    plt.close(figure)
    return True


def _aucs(points: List[Point], task: Optional[str]):
    if task is None:
        return [p.train_auc for p in points], [p.eval_auc for p in points]
    return [(p.train_aucs or {}).get(task) for p in points], [(p.eval_aucs or {}).get(task) for p in points]


def _draw(
    axis,
    examples: Sequence[int],
    train: Sequence[Optional[float]],
    evaluation: Sequence[Optional[float]],
    place: dict,
    task: Optional[str] = None,
    style: int = 0,
) -> None:
    """The curve of training and, if there is one, that of evaluation, with its last value at that place."""
    marker, color, prefix = f"{_MARKERS[style]}-", _HELD_OUT[style], f"{task}, " if task else ""
    axis.plot(examples, _gaps(train), marker, markersize=3.5, color=_TRAIN, label=f"{prefix}train, before the update")
    if not any(value is not None for value in evaluation):
        return
    axis.plot(examples, _gaps(evaluation), marker, markersize=3.5, color=color, label=f"{prefix}held out")
    last = next(i for i in reversed(range(len(evaluation))) if evaluation[i] is not None)
    axis.annotate(
        f"{evaluation[last]:.4f}",
        (examples[last], evaluation[last]),
        textcoords="offset points",
        color=color,
        fontsize=9,
        **place,
    )


def _gaps(values: Sequence[Optional[float]]) -> List[float]:
    return [math.nan if value is None else value for value in values]
