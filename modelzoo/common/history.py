"""The curve of a run: what the training loop saw since the last point, and the points on disk.

Train figures are progressive: every batch is judged by the weights from before it was trained on, so in the first pass
they tell how the model does on rows it has not seen.
"""

import collections
import json
import os
from typing import Dict, List, Optional

import numpy as np

from common.errors import InputError
from common.graph import Evaluation
from common.metrics import roc_auc
from common.report import Point, as_dict, write_json
from common.tasks import by_task, first, of_several

_AUC_EXAMPLES = 1_000_000  # the AUC of a window looks at its last million examples at most


class Window:
    """Losses and predictions of the steps since the last `clear`."""

    def __init__(self, batch_size: int):
        self._losses: List[float] = []
        self._batches = collections.deque(maxlen=max(1, _AUC_EXAMPLES // batch_size))

    def add(self, loss: float, labels, probabilities) -> None:
        """labels, probabilities: [B], or dicts of them by task."""
        self._losses.append(loss)
        self._batches.append((by_task(labels), by_task(probabilities)))

    def clear(self) -> None:
        self._losses.clear()
        self._batches.clear()

    def __bool__(self) -> bool:
        return bool(self._losses)

    def recent_loss(self, steps: int) -> float:
        return float(np.mean(self._losses[-steps:]))

    def loss(self) -> float:
        return float(np.mean(self._losses))

    def auc(self) -> float:
        """Of the main task."""
        return first(self._aucs())

    def aucs(self) -> Optional[Dict[str, float]]:
        """Of each task, if there are several."""
        return of_several(self._aucs())

    def _aucs(self) -> Dict[str, float]:
        result = {}
        for task in self._batches[0][1]:
            pairs = ((labels[task], probabilities[task]) for labels, probabilities in self._batches)
            result[task] = roc_auc(*(np.concatenate(parts) for parts in zip(*pairs)))
        return result


class History:
    """Points of the curve, kept in a JSON file so that a resumed run draws the whole curve.

    Args:
      path: of the file; made by the first `add`.
      last_step: points behind it are dropped: they belong to a run that went on from an older checkpoint.
    """

    def __init__(self, path: str, last_step: int):
        self._path = path
        self.points: List[Point] = []
        if last_step and os.path.exists(path):
            try:
                with open(path, encoding="utf-8") as file:
                    points = [Point(**point) for point in json.load(file)]
            except (OSError, ValueError, TypeError) as error:
                raise InputError(
                    f"{path}: cannot be read ({error}); remove it to go on without the old curve"
                ) from None
            self.points = [point for point in points if point.step <= last_step]

    def add(self, step: int, examples: int, window: Window, evaluation: Optional[Evaluation] = None) -> None:
        """Makes a point of the window, and clears the window."""
        self.points.append(Point(step, examples, window.loss(), window.auc(), train_aucs=window.aucs()))
        window.clear()
        self.evaluated(evaluation)

    def evaluated(self, evaluation: Optional[Evaluation]) -> None:
        """Gives the last point, if there is one, its evaluation."""
        if evaluation and self.points:
            point = self.points[-1]
            point.eval_loss, point.eval_auc, point.eval_aucs = evaluation.loss, evaluation.auc, evaluation.aucs
        write_json(self._path, [as_dict(point) for point in self.points])
