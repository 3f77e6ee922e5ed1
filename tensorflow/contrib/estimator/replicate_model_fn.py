"""Data parallel towers in one process: a model function that is called once for each device, on its share of the batch.

The first tower makes the variables, the others reuse them. An optimizer wrapped into TowerOptimizer gathers the gradients of all towers
and applies their sum with the last of them.
"""

import contextlib
import threading

import tensorflow.compat.v1 as tf
from tensorflow.python.client import device_lib
from tensorflow.python.util import function_utils

_STATE = threading.local()


class _Towers:
    """What TowerOptimizers of one replicated call know of each other."""

    def __init__(self, number, loss_reduction):
        self.number = number
        self.reduction = loss_reduction
        self.index = 0
        # Optimizer calls are told apart by their order inside a tower.
        self.gathered: list[list] = []
        self.calls = 0

    def next_tower(self, index):
        self.index = index
        self.calls = 0


class TowerOptimizer(tf.train.Optimizer):
    """Wraps the optimizer inside a model function that is given to `replicate_model_fn`.

    Args:
      optimizer_or_optimizer_fn: an Optimizer, or a function without arguments that makes one.
    """

    def __init__(self, optimizer_or_optimizer_fn):
        self._made = optimizer_or_optimizer_fn

    def _optimizer(self):
        if not isinstance(self._made, tf.train.Optimizer):
            self._made = self._made()
        return self._made

    def get_slot(self, *args, **kwargs):
        return self._optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._optimizer().get_slot_names(*args, **kwargs)

    def get_name(self, *args, **kwargs):
        return self._optimizer().get_name(*args, **kwargs)

    def variables(self, *args, **kwargs):
        return self._optimizer().variables(*args, **kwargs)

    def compute_gradients(self, loss, *args, **kwargs):
        towers = getattr(_STATE, "towers", None)
        if towers is not None:
            loss = _scale(loss, towers)
        return self._optimizer().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, **kwargs):
        towers = getattr(_STATE, "towers", None)
        if towers is None:
            return self._optimizer().apply_gradients(grads_and_vars, global_step, **kwargs)
        call = towers.calls
        towers.calls += 1
        if call == len(towers.gathered):
            if towers.index > 0:
                raise ValueError("Each tower must apply its optimizers the same number of times.")
            towers.gathered.append([])
        towers.gathered[call].append(list(grads_and_vars))
        if towers.index < towers.number - 1:
            return tf.no_op(name="train_op_placeholder")
        if len(towers.gathered[call]) != towers.number:
            raise ValueError("Each tower must apply its optimizers the same number of times.")
        return self._optimizer().apply_gradients(_sum(towers.gathered[call]), global_step, **kwargs)


def _scale(loss, towers):
    if towers.number == 1 or towers.reduction == tf.losses.Reduction.SUM:
        return loss
    return tf.div(loss, float(towers.number), name="averaged_loss")


def _sum(gathered):
    """Adds up the gradients of each variable over the towers."""
    variables, by_variable = [], {}
    for pairs in gathered:
        for gradient, variable in pairs:
            if variable.op.name not in by_variable:
                by_variable[variable.op.name] = []
                variables.append(variable)
            if gradient is not None:
                by_variable[variable.op.name].append(gradient)
    result = []
    for variable in variables:
        gradients = by_variable[variable.op.name]
        if not gradients:
            total = None
        elif any(isinstance(g, tf.IndexedSlices) for g in gradients):
            total = tf.IndexedSlices(
                tf.concat([g.values for g in gradients], 0), tf.concat([g.indices for g in gradients], 0)
            )
        else:
            total = tf.add_n(gradients, name="summed_gradients")
        result.append((total, variable))
    return result


def _split(value, number):
    """A batch's tensors, in dicts or alone, cut into `number` parts of one size."""
    if value is None:
        return [None] * number
    if isinstance(value, dict):
        parts = {key: _split(part, number) for key, part in value.items()}
        return [{key: part[i] for key, part in parts.items()} for i in range(number)]
    size = value.shape[0].value if not isinstance(value, tf.SparseTensor) else None
    if size is not None and size % number:
        raise ValueError(f"A batch of {size} rows cannot be split evenly over {number} devices.")
    if isinstance(value, tf.SparseTensor):
        return tf.sparse_split(sp_input=value, num_split=number, axis=0)
    return tf.split(value, number)


def replicate_model_fn(model_fn, loss_reduction=tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS, devices=None):
    """A model function that trains on several devices, each with an equal share of the batch.

    Args:
      model_fn: model function whose optimizer is wrapped into TowerOptimizer.
      loss_reduction: how the loss is reduced over a batch. SUM adds the towers' losses, any other one averages them.
      devices: names of devices; by default all GPUs, or the CPU if there are none.

    Raises:
      ValueError: loss_reduction is NONE, or, when the graph is built, a batch that cannot be split evenly.
    """
    if loss_reduction == tf.losses.Reduction.NONE:
        raise ValueError("replicate_model_fn needs a reduced loss: loss_reduction must not be Reduction.NONE.")
    if not devices:
        devices = [d.name for d in device_lib.list_local_devices() if d.device_type == "GPU"] or ["/device:CPU:0"]
    takes = function_utils.fn_args(model_fn)

    def replicated(features, labels, mode, params=None, config=None):
        offered = {"labels": labels, "mode": mode, "params": params, "config": config}
        towers = _Towers(len(devices), loss_reduction)
        specs = []
        batch = zip(_split(features, len(devices)), _split(labels, len(devices)), strict=True)
        outer = getattr(_STATE, "towers", None)
        _STATE.towers = towers
        try:
            for i, (device, (part, part_labels)) in enumerate(zip(devices, batch, strict=True)):
                towers.next_tower(i)
                offered["labels"] = part_labels
                kwargs = {name: value for name, value in offered.items() if name in takes}
                scope = tf.name_scope(f"tower_{i}") if i else contextlib.nullcontext()
                reuse = True if i else None
                with tf.device(device), scope, tf.variable_scope(tf.get_variable_scope(), reuse=reuse):
                    specs.append(model_fn(part, **kwargs))
        finally:
            _STATE.towers = outer
        if len(specs) == 1:
            return specs[0]
        return _MERGE[mode](specs, towers)

    return replicated


def _total_loss(specs, towers):
    return tf.add_n([_scale(spec.loss, towers) for spec in specs], name="loss")


def _merge_train(specs, towers):
    # Each tower's op: the last applies the gradients, and the others may carry more than the placeholder.
    return specs[-1]._replace(
        loss=_total_loss(specs, towers), train_op=tf.group(*[spec.train_op for spec in specs], name="train_op")
    )


def _merge_eval(specs, towers):
    updates = [update for spec in specs for _, update in spec.eval_metric_ops.values()]
    variables = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    if len(variables) % towers.number:
        raise ValueError("Each tower must have the same metrics.")
    each = len(variables) // towers.number
    with tf.control_dependencies(updates):
        # The counts of all towers go to the first, whose values are reported.
        sums = [tf.add_n([variables[t * each + i].read_value() for t in range(towers.number)]) for i in range(each)]
    with tf.control_dependencies(sums):
        moved = [variables[i].assign(total) for i, total in enumerate(sums)]
        moved += [v.assign(tf.zeros_like(v)) for v in variables[each:]]
    reduce = tf.group(*moved, name="reduce_metrics")
    metrics = {name: (value, reduce) for name, (value, _) in specs[0].eval_metric_ops.items()}
    return specs[-1]._replace(loss=_total_loss(specs, towers), eval_metric_ops=metrics)


def _concat(values):
    if isinstance(values[0], dict):
        return {key: _concat([value[key] for value in values]) for key in values[0]}
    return tf.concat(values, axis=0) if values[0] is not None else None


def _merge_predict(specs, towers):
    del towers
    exports = None
    if specs[0].export_outputs:
        exports = {
            name: _concat_outputs([spec.export_outputs[name] for spec in specs]) for name in specs[0].export_outputs
        }
    return specs[-1]._replace(predictions=_concat([spec.predictions for spec in specs]), export_outputs=exports)


def _concat_outputs(outputs):
    export = tf.estimator.export
    first = outputs[0]
    if isinstance(first, export.PredictOutput):
        return export.PredictOutput(_concat([output.outputs for output in outputs]))
    if isinstance(first, export.RegressionOutput):
        return export.RegressionOutput(_concat([output.value for output in outputs]))
    if isinstance(first, export.ClassificationOutput):
        return export.ClassificationOutput(
            scores=_concat([output.scores for output in outputs]),
            classes=_concat([output.classes for output in outputs]),
        )
    raise ValueError(f"Export outputs of type {type(first).__name__} cannot be joined over towers.")


_MERGE = {
    tf.estimator.ModeKeys.TRAIN: _merge_train,
    tf.estimator.ModeKeys.EVAL: _merge_eval,
    tf.estimator.ModeKeys.PREDICT: _merge_predict,
}
