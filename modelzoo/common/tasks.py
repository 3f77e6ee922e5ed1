"""Labels, predictions and figures of one task or of several.

A task has the name of its label. Where there is only one, a plain value may stand for the dict.
"""

from typing import Callable, Dict, Optional

THE_TASK = "label"


def by_task(values) -> Dict:
    """task -> value."""
    return values if isinstance(values, dict) else {THE_TASK: values}


def of_several(values: Dict, function: Callable = lambda value: value) -> Optional[Dict]:
    """task -> function(value) if there are several tasks, else None."""
    return {task: function(value) for task, value in values.items()} if len(values) > 1 else None


def first(values: Dict):
    """Of the first task, which is the main one."""
    return next(iter(values.values()))
