"""1.15's rule for the seed of a random op that is given none: the number of ops that its graph has at that moment.

2.21 counts the calls instead (0, 1, 2 ...). With the rule go the functions that must build as many ops as 1.15 built before a
random op; they are in `restored`. Eager mode has its own rule, which did not change.
"""

import functools
import sys

from tensorflow.api_v1 import column_counts, keras_loss_counts, keras_op_counts
from tensorflow.api_v1.restored import (
    contractions,
    gradient_counts,
    input_counts,
    nn_counts,
    op_counts,
    op_types,
    optimizer_counts,
    saver_counts,
    slice_counts,
)
from tensorflow.api_v1.restored import random_ops as restored_random_ops
from tensorflow.python.eager import context
from tensorflow.python.framework import ops, random_seed


def install(others=()) -> None:
    """Replaces `get_seed` and the functions, and `others`, pairs (old, new), wherever the loaded runtime holds them."""
    replacements = [*others, (random_seed.get_seed, _with_op_count(random_seed.get_seed))]
    for (module, name), new in restored_random_ops.REPLACEMENTS.items():
        old = getattr(module, name)
        replacements.append((old, functools.update_wrapper(new, old, ("__module__", "__qualname__"), ())))
    for module in (op_counts, op_types, nn_counts, contractions, input_counts):
        replacements += module.replacements()
    _replace_everywhere(replacements)
    op_counts.install_methods()
    slice_counts.install()
    gradient_counts.install()
    optimizer_counts.install()
    saver_counts.install()
    nn_counts.install()
    input_counts.install()
    column_counts.install()
    keras_op_counts.install()
    keras_loss_counts.install()


def _with_op_count(released):
    @functools.wraps(released)
    def get_seed(op_seed):
        if op_seed is None and not context.executing_eagerly():
            graph = ops.get_default_graph()
            if graph.seed is not None:
                if hasattr(graph, "_seed_used"):
                    graph._seed_used = True
                op_seed = graph.num_operations() + op_counts.missing_ops(graph)
        return released(op_seed)

    return get_seed


def _replace_everywhere(replacements) -> None:
    """Puts new functions in place of old ones in each module of tensorflow, under whatever name it holds them.

    Args:
      replacements: pairs (old, new).
    """
    new = {}
    for old, made in replacements:
        # The runtime wraps some of its functions late, and `tf.math` and `tf.linalg` hold what was there before.
        while old is not None:
            new[id(old)] = (old, made)
            old = getattr(old, "__wrapped__", None)
    for home, holder in list(sys.modules.items()):
        if home.startswith("tensorflow"):
            names = getattr(holder, "__dict__", {})
            # All functions in one pass: each takes about 15 ms of the import.
            for key in [key for key, value in names.items() if id(value) in new]:
                setattr(holder, key, new[id(names[key])][1])
