"""How a step of BoostedTrees training grows the ensemble: from one batch, or from batches gathered by accumulators."""

from typing import NamedTuple

from tensorflow.python.framework import constant_op, dtypes, ops
from tensorflow.python.ops import (
    array_ops,
    array_ops_stack,
    boosted_trees_ops,
    control_flow_ops,
    data_flow_ops,
    math_ops,
)
from tensorflow.python.ops import cond as cond_lib


class TreeParameters(NamedTuple):
    """Hyperparameters of an ensemble, as the estimators' arguments name them."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    @property
    def max_splits(self) -> int:
        """How many nodes of a tree can be split."""
        return (1 << self.max_depth) - 1


def cond(predicate, then, otherwise, name=None):
    """`tf.cond` on a variable: the `and` takes a copy, so that both branches see one value."""
    return cond_lib.cond(math_ops.logical_and(predicate, constant_op.constant(True)), then, otherwise, name=name)


class Grower:
    """Grows the ensemble from statistics of the whole batch. For in-memory training this is all there is.

    Args:
      ensemble: the TreeEnsemble.
      quantiles: the QuantileAccumulator, or None without float columns.
      parameters: TreeParameters.
      feature_ids: the features of each group, see `boosted_trees_columns.group_by_buckets`.

    Raises:
      ValueError: pruning without tree_complexity, or the other way round.
    """

    def __init__(self, ensemble, quantiles, parameters: TreeParameters, feature_ids: list[list[int]]):
        self._ensemble = ensemble
        self._quantiles = quantiles
        self._parameters = parameters
        self._feature_ids = feature_ids
        self._pruning = boosted_trees_ops.PruningMode.from_str(parameters.pruning_mode)
        no_pruning = self._pruning == boosted_trees_ops.PruningMode.NO_PRUNING
        if no_pruning and parameters.tree_complexity > 0:
            raise ValueError(
                f"tree_complexity={parameters.tree_complexity} has no effect with pruning_mode='none': choose 'pre' or 'post'."
            )
        if not no_pruning and parameters.tree_complexity <= 0:
            raise ValueError(
                f"pruning_mode={parameters.pruning_mode!r} needs a positive tree_complexity, got {parameters.tree_complexity}."
            )

    def chief_init_op(self):
        """What the chief runs when a session was made."""
        return control_flow_ops.no_op()

    def add_quantiles(self, float_features, weights, ready):
        """Adds a batch to the quantile streams; sets the variable `ready` once the boundaries are made."""
        added = self._quantiles.add_summaries(float_features, weights)
        with ops.control_dependencies([added]), ops.control_dependencies([self._quantiles.flush()]):
            return ready.assign(True).op

    def center_bias(self, needed, gradients, hessians):
        """Moves the bias by a step; the variable `needed` gets whether another one is worth it."""
        means = [array_ops.expand_dims(math_ops.reduce_mean(t, 0), 0) for t in (gradients, hessians)]
        return self._center(needed, *means)

    def grow(self, stats: list[list], nodes):
        """Adds a layer.

        Args:
          stats: for each group the statistics of its features, [max_splits, buckets, 2].
          nodes: int32 [2], the range of nodes to split.
        """
        return self._grow(stats, nodes)

    def _center(self, needed, mean_gradients, mean_hessians):
        again = boosted_trees_ops.center_bias(
            self._ensemble.resource_handle,
            mean_gradients=mean_gradients,
            mean_hessians=mean_hessians,
            l1=self._parameters.l1,
            l2=self._parameters.l2,
        )
        return needed.assign(again)

    def _grow(self, stats, nodes):
        p = self._parameters
        features, columns = [], [[] for _ in range(5)]
        for ids, group in zip(self._feature_ids, stats, strict=True):
            found = boosted_trees_ops.calculate_best_gains_per_feature(
                node_id_range=nodes,
                stats_summary_list=group,
                l1=p.l1,
                l2=p.l2,
                tree_complexity=p.tree_complexity,
                min_node_weight=p.min_node_weight,
                max_splits=p.max_splits,
            )
            features += ids
            for column, part in zip(columns, found, strict=True):
                column += part
        node_ids, gains, thresholds, left, right = columns
        return boosted_trees_ops.update_ensemble(
            self._ensemble.resource_handle,
            feature_ids=features,
            node_ids=node_ids,
            gains=gains,
            thresholds=thresholds,
            left_node_contribs=left,
            right_node_contribs=right,
            learning_rate=p.learning_rate,
            max_depth=p.max_depth,
            pruning_mode=self._pruning,
        )


class AccumulatingGrower(Grower):
    """Gathers `n_batches_per_layer` batches of all workers in shared accumulators before it grows a layer.

    Statistics are stamped with the ensemble's version: those of a worker that saw an older one are dropped. Means and not sums are
    taken, so that `min_node_weight` and the regularization do not depend on the number of batches.

    Args:
      stamp: int64 scalar, the version of the ensemble that this step has seen.
      n_batches_per_layer: how many batches a layer takes.
      num_buckets: the number of buckets of each group.
      is_chief: whether this process grows; others only gather.
    """

    def __init__(self, ensemble, quantiles, parameters, feature_ids, stamp, n_batches_per_layer, num_buckets, is_chief):
        super().__init__(ensemble, quantiles, parameters, feature_ids)
        self._stamp = stamp
        self._batches = n_batches_per_layer
        self._is_chief = is_chief
        self._accumulators = [
            self._accumulator([len(ids), parameters.max_splits, buckets, 2], f"numeric_stats_summary_accumulator_{i}")
            for i, (ids, buckets) in enumerate(zip(feature_ids, num_buckets, strict=True))
        ]
        shared = list(self._accumulators)
        if parameters.center_bias:
            self._bias = self._accumulator([2, 1], "bias_accumulator")
            shared.append(self._bias)
        self._init = control_flow_ops.group([a.set_global_step(stamp) for a in shared])

    @staticmethod
    def _accumulator(shape, shared_name):
        return data_flow_ops.ConditionalAccumulator(dtype=dtypes.float32, shape=shape, shared_name=shared_name)

    def chief_init_op(self):
        return self._init

    def add_quantiles(self, float_features, weights, ready):
        added = self._quantiles.add_summaries(float_features, weights)
        counter = self._accumulator([], "quantile_summary_accum")
        update = control_flow_ops.group(
            added,
            counter.set_global_step(self._stamp),
            counter.apply_grad(constant_op.constant(0.0), self._stamp),
        )
        if not self._is_chief:
            return update

        def finish():
            return control_flow_ops.group(self._quantiles.flush(), counter.take_grad(1), ready.assign(True).op)

        with ops.control_dependencies([update]):
            enough = math_ops.greater_equal(counter.num_accumulated(), self._batches)
            return cond(enough, finish, control_flow_ops.no_op, name="wait_until_quaniles_accumulated")

    def center_bias(self, needed, gradients, hessians):
        means = math_ops.reduce_mean(array_ops_stack.stack([gradients, hessians], axis=0), axis=1)
        with ops.control_dependencies([self._bias.apply_grad(means, self._stamp)]):
            if not self._is_chief:
                return control_flow_ops.no_op()

            def restamp():
                return control_flow_ops.group([a.set_global_step(self._stamp + 1) for a in self._accumulators])

            def center():
                mean = array_ops_stack.unstack(self._bias.take_grad(1), axis=0)
                centered = self._center(needed, *(array_ops.expand_dims(m, 0) for m in mean))
                with ops.control_dependencies([centered]):
                    return cond(needed, control_flow_ops.no_op, restamp)

            enough = math_ops.greater_equal(self._bias.num_accumulated(), self._batches)
            return cond(enough, center, control_flow_ops.no_op, name="wait_until_n_batches_for_bias_accumulated")

    def grow(self, stats, nodes):
        applied = [
            accumulator.apply_grad(array_ops_stack.stack(group, axis=0), self._stamp)
            for accumulator, group in zip(self._accumulators, stats, strict=True)
        ]
        with ops.control_dependencies(applied):
            if not self._is_chief:
                return control_flow_ops.no_op()
            fewest = math_ops.reduce_min(array_ops_stack.stack([a.num_accumulated() for a in self._accumulators]))

            def grow():
                means = [array_ops_stack.unstack(a.take_grad(1), axis=0) for a in self._accumulators]
                return self._grow(means, nodes)

            enough = math_ops.greater_equal(fewest, self._batches)
            return cond(enough, grow, control_flow_ops.no_op, name="wait_until_n_batches_accumulated")
