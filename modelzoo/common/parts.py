"""Optimizers of the parts of a network."""

from typing import Dict

import tensorflow as tf


def minimize_parts(
    loss: tf.Tensor, optimizers: Dict[str, tf.train.Optimizer], global_step: tf.Variable
) -> tf.Operation:
    """One step of each optimizer on the trainable variables of its scope; raises global_step once, after all."""
    parts = [
        optimizer.minimize(loss, var_list=tf.trainable_variables(scope + "/"))
        for scope, optimizer in optimizers.items()
    ]
    with tf.control_dependencies(parts):
        return tf.assign_add(global_step, 1).op


def partitioner(size, unit: int):
    """Cuts variables into slices of at most `size` units of bytes; None if size is."""
    return tf.variable_axis_size_partitioner(int(size * unit)) if size else None
