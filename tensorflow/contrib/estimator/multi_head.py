"""A head of heads: one model for several objectives."""

import tensorflow.compat.v1 as tf
from tensorflow_estimator.python.estimator.canned import head as head_lib
from tensorflow_estimator.python.estimator.canned import metric_keys

_DEFAULT = "serving_default"
_PREDICT = "predict"


def multi_head(heads, head_weights=None):
    """A head whose loss is the sum of its heads' losses, weighted where `head_weights` are given.

    Logits are a dict name of head -> logits, or one Tensor that is split along its last dimension in the order of the heads. Labels
    are a dict. Predictions have keys (name of head, key).

    Args:
      heads: heads with different names.
      head_weights: a number for each of them.

    Raises:
      ValueError: no heads, one without a name, or weights of another number.
    """
    if not heads:
        raise ValueError(f"multi_head needs heads, got {heads!r}.")
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(f"head_weights must have one weight for each of the {len(heads)} heads, got {head_weights}.")
    for head in heads:
        if not head.name:
            raise ValueError(f"The heads of multi_head need names; {head} has none.")
    return _MultiHead(tuple(heads), tuple(head_weights) if head_weights else None)


class _MultiHead(head_lib._Head):
    def __init__(self, heads, weights):
        self._heads = heads
        self._weights = weights

    @property
    def name(self):
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self):
        return sum(head.logits_dimension for head in self._heads)

    def _merge(self, losses):
        with tf.name_scope("merge_losses", values=losses):
            if self._weights:
                losses = [tf.multiply(loss, weight) for loss, weight in zip(losses, self._weights, strict=True)]
            return tf.add_n(losses)

    def _split(self, logits):
        if isinstance(logits, dict):
            return logits
        with tf.name_scope(None, "split_logits", values=[logits]):
            logits = tf.convert_to_tensor(logits)
            sizes = [head.logits_dimension for head in self._heads]
            last = logits.shape.as_list()[-1]
            if last is not None and last != sum(sizes):
                raise ValueError(
                    f"Logits of shape {logits.shape} cannot be split among heads of {sizes} logits: "
                    f"their last dimension must be {sum(sizes)}."
                )
            parts = tf.split(logits, sizes, axis=-1)
            return {head.name: part for head, part in zip(self._heads, parts, strict=True)}

    def create_loss(self, features, mode, logits, labels):
        logits = self._split(logits)
        specs = [head.create_loss(features, mode, logits[head.name], labels[head.name]) for head in self._heads]
        names = [head.name for head in self._heads]
        factors = self._weights or (None,) * len(specs)

        def scaled(value, factor):
            return value if factor is None else tf.multiply(value, factor)

        return head_lib.LossSpec(
            training_loss=self._merge([spec.training_loss for spec in specs]),
            unreduced_loss={n: scaled(s.unreduced_loss, f) for n, s, f in zip(names, specs, factors, strict=True)},
            weights={n: scaled(s.weights, f) for n, s, f in zip(names, specs, factors, strict=True)},
            processed_labels={n: s.processed_labels for n, s in zip(names, specs, strict=True)},
        )

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None, regularization_losses=None
    ):
        if labels and not isinstance(labels, dict):
            raise ValueError(f"labels of a multi_head must be a dict of head -> labels, got {labels!r}.")
        logits = self._split(logits)
        specs = [
            head.create_estimator_spec(
                features=features,
                mode=mode,
                logits=logits[head.name],
                labels=labels[head.name] if labels else None,
                train_op_fn=lambda loss: tf.no_op(),
            )
            for head in self._heads
        ]
        predictions = {
            (head.name, key): value
            for head, spec in zip(self._heads, specs, strict=True)
            for key, value in spec.predictions.items()
        }
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=self._exports(specs))
        metrics = {}
        if mode == tf.estimator.ModeKeys.EVAL:
            with tf.name_scope("merge_eval"):
                for head, spec in zip(self._heads, specs, strict=True):
                    key = head_lib._summary_key(head.name, metric_keys.MetricKeys.LOSS)
                    metrics[key] = tf.metrics.mean(spec.loss, name=key)
                    metrics.update(spec.eval_metric_ops or {})
                loss = self._total(specs, regularization_losses)
            return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        if mode != tf.estimator.ModeKeys.TRAIN:
            raise ValueError(f"mode must be one of tf.estimator.ModeKeys, got {mode!r}.")
        loss = self._total(specs, regularization_losses)
        if (optimizer is None) == (train_op_fn is None):
            raise ValueError("Give one of optimizer and train_op_fn to train.")
        if optimizer is not None:
            train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        else:
            train_op = train_op_fn(loss)
        train_op = head_lib._append_update_ops(train_op)
        with tf.name_scope(""):
            tf.summary.scalar(metric_keys.MetricKeys.LOSS, loss)
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _total(self, specs, regularization_losses):
        loss = self._merge([spec.loss for spec in specs])
        return tf.add_n([loss, *regularization_losses]) if regularization_losses else loss

    def _exports(self, specs):
        first = specs[0].export_outputs
        if len(first) == 1:
            default = next(iter(first.values()))
        elif _DEFAULT in first:
            default = first[_DEFAULT]
        else:
            raise ValueError(
                f"Head {self._heads[0].name} must have an export output {_DEFAULT!r}, got {sorted(first)}."
            )
        outputs, predictions = {_DEFAULT: default}, {}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in spec.export_outputs.items():
                outputs[head.name if key == _DEFAULT else f"{head.name}/{key}"] = output
                if key == _PREDICT and isinstance(output, tf.estimator.export.PredictOutput):
                    predictions.update({f"{head.name}/{k}": v for k, v in output.outputs.items()})
        outputs[_PREDICT] = tf.estimator.export.PredictOutput(predictions)
        return outputs
