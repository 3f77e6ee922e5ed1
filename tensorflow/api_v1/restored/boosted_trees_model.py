"""The model functions of the BoostedTrees estimators."""

import functools

from tensorflow.api_v1.restored import boosted_trees_columns as columns_lib
from tensorflow.api_v1.restored.boosted_trees_growers import AccumulatingGrower, Grower, cond
from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.framework import constant_op, dtypes, ops
from tensorflow.python.ops import array_ops, boosted_trees_ops, control_flow_ops, gradients_impl, state_ops
from tensorflow.python.ops import variable_v1
from tensorflow.python.summary import summary
from tensorflow.python.training import session_run_hook, training_util
from tensorflow_estimator.python.estimator.mode_keys import ModeKeys

# Where a prediction puts the path of a row through the trees.
EXPLANATION_KEY = "_serialized_debug_outputs_proto"
_NOT_CACHED = -1


class _StopAtTreesHook(session_run_hook.SessionRunHook):
    """Stops when all trees are finished, or after twice the layers that these would take (pruning can refuse layers)."""

    def __init__(self, finalized, attempted, n_trees, max_depth):
        self._state = [finalized, attempted]
        self._n_trees = n_trees
        self._most_layers = 2 * n_trees * max_depth

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs(self._state)

    def after_run(self, run_context, run_values):
        finalized, attempted = run_values.results
        # The step's own values may be those before it grew; near the end look again.
        if finalized >= self._n_trees - 1 or attempted > self._most_layers - 1:
            finalized, attempted = run_context.session.run(self._state)
        if finalized >= self._n_trees or attempted > self._most_layers:
            run_context.request_stop()


class _InitHook(session_run_hook.SessionRunHook):
    """Gives the accumulators the stamp of the restored ensemble."""

    def __init__(self, init_op):
        self._init_op = init_op

    def after_create_session(self, session, coord):
        session.run(self._init_op)


def _variable(value, name):
    return variable_v1.VariableV1(value, trainable=False, validate_shape=False, name=name, use_resource=True)


class _Features:
    """The bucketized features of a batch, and the resources behind them."""

    def __init__(self, sorted_columns, epsilon: float):
        self.columns = sorted_columns
        self.float_columns = [column for column in sorted_columns if columns_lib.is_float(column)]
        self.num_quantiles = int(1.0 / epsilon)
        self.quantiles = None
        self.boundaries = None
        if self.float_columns:
            self.quantiles = boosted_trees_ops.QuantileAccumulator(
                epsilon=epsilon,
                num_streams=columns_lib.num_features(self.float_columns),
                num_quantiles=self.num_quantiles,
                name="QuantileAccumulator",
            )
            self.boundaries = columns_lib.boundaries_by_column(
                self.float_columns, self.quantiles.get_bucket_boundaries()
            )

    def bucketize(self, features, done: dict | None = None) -> list:
        """The features; `done` holds the columns that were transformed before."""
        done = done or {}
        tensors = columns_lib.transform(features, [c for c in self.columns if c not in done])
        return columns_lib.to_features({**tensors, **done}, self.columns, self.boundaries)

    def bucketize_cached(self, features, batch_size, ready):
        """The same, kept in variables from the step on in which the boundaries are ready.

        Returns:
          The features, and an op that has to run in each step.
        """
        cache = [
            _variable(array_ops.zeros([batch_size], dtypes.int32), f"cached_feature_{i}")
            for i in range(columns_lib.num_features(self.columns))
        ]
        cached = _variable(False, "are_features_cached")
        # Outside of the conditionals: lookup tables are initialized with the graph they are in.
        done = columns_lib.transform(features, [c for c in self.columns if columns_lib.is_indicator(c)])

        def fill():
            filled = [state_ops.assign(v, f) for v, f in zip(cache, self.bucketize(features, done), strict=True)]
            with ops.control_dependencies(filled):
                return filled, cached.assign(True).op

        def fresh():
            return self.bucketize(features, done), control_flow_ops.no_op()

        def reuse():
            return cond(cached, lambda: ([v.read_value() for v in cache], control_flow_ops.no_op()), fill)

        return cond(ready, reuse, fresh)


class _LogitsCache:
    """Where each row of the one batch is in the ensemble, and its logit there."""

    def __init__(self, batch_size, logits_dimension):
        self._variables = [
            _variable(array_ops.zeros([batch_size], dtypes.int32), "tree_ids_cache"),
            _variable(_NOT_CACHED * array_ops.ones([batch_size], dtypes.int32), "node_ids_cache"),
            _variable(array_ops.zeros([batch_size, logits_dimension]), "logits_cache"),
        ]

    def lookup(self):
        return [v.read_value() for v in self._variables]

    def insert(self, *values):
        return control_flow_ops.group(
            [v.assign(value) for v, value in zip(self._variables, values, strict=True)], name="cache_insert"
        )


def _predict(ensemble, buckets, head):
    return boosted_trees_ops.predict(
        ensemble.resource_handle, bucketized_features=buckets, logits_dimension=head.logits_dimension
    )


def explanations_fn(features, head, sorted_columns, epsilon, name="boosted_trees"):
    """Predictions with each row's way through the trees under EXPLANATION_KEY."""
    with ops.name_scope(name) as name:
        ensemble = boosted_trees_ops.TreeEnsemble(name=name)
        buckets = _Features(sorted_columns, epsilon).bucketize(features)
        spec = head.create_estimator_spec(
            features=features,
            mode=ModeKeys.PREDICT,
            labels=None,
            train_op_fn=control_flow_ops.no_op,
            logits=_predict(ensemble, buckets, head),
        )
        spec.predictions[EXPLANATION_KEY] = boosted_trees_ops.example_debug_outputs(
            ensemble.resource_handle, bucketized_features=buckets, logits_dimension=head.logits_dimension
        )
        return spec


def model_fn(
    features,
    labels,
    mode,
    head,
    feature_columns,
    parameters,
    n_batches_per_layer,
    config,
    gradients_fn=None,
    weight_column=None,
    train_in_memory=False,
    name="boosted_trees",
):
    """The EstimatorSpec of a mode.

    Args:
      parameters: TreeParameters.
      gradients_fn: function of logits and labels that returns gradients and hessians; by default those of the loss are taken.
      train_in_memory: the batch is the whole dataset; features and logits are kept from step to step.

    Raises:
      ValueError: in-memory training with several batches a layer or several processes.
    """
    sorted_columns = columns_lib.sort(feature_columns)
    with ops.name_scope(name) as name:
        global_step = training_util.get_or_create_global_step()
        ensemble = boosted_trees_ops.TreeEnsemble(name=name)
        source = _Features(sorted_columns, parameters.quantile_sketch_epsilon)
        num_buckets, feature_ids = columns_lib.group_by_buckets(sorted_columns, source.num_quantiles)
        if mode != ModeKeys.TRAIN:
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                train_op_fn=control_flow_ops.no_op,
                logits=_predict(ensemble, source.bucketize(features), head),
            )
        if train_in_memory:
            if n_batches_per_layer != 1:
                raise ValueError(
                    f"train_in_memory takes the whole dataset as one batch: n_batches_per_layer must be 1, got {n_batches_per_layer}."
                )
            if not config.is_chief or config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
                raise ValueError("train_in_memory is for training in one process, but the RunConfig has a cluster.")

        worker_device = control_flow_ops.no_op().device
        ready = _variable(not source.float_columns, "are_boundaries_ready")
        batch_size = array_ops.shape(labels)[0]
        if train_in_memory and labels.shape.dims[0].value is None:
            raise ValueError(
                f"train_in_memory keeps a state for each row, so their number must be known: labels have shape {labels.shape}. "
                "Return tensors, or tf.data.Dataset.from_tensors without batch()."
            )
        cache = None
        if train_in_memory:
            buckets, cache_features = source.bucketize_cached(features, batch_size, ready)
            cache = _LogitsCache(batch_size, head.logits_dimension)
            cached_trees, cached_nodes, cached_logits = cache.lookup()
        else:
            buckets = source.bucketize(features)
            cached_trees = array_ops.zeros([batch_size], dtypes.int32)
            cached_nodes = _NOT_CACHED * array_ops.ones([batch_size], dtypes.int32)
            cached_logits = array_ops.zeros([batch_size, head.logits_dimension])

        local, reload = ensemble, control_flow_ops.no_op()
        if config.num_worker_replicas > 1:
            # Rows are scored here and not on the parameter server.
            with ops.device(worker_device):
                local = boosted_trees_ops.TreeEnsemble(name=name + "_local", is_local=True)
            reload = local.deserialize(*ensemble.serialize())
        with ops.control_dependencies([reload]):
            stamp, num_trees, num_finalized, num_attempted, nodes = local.get_states()
            partial_logits, tree_ids, node_ids = boosted_trees_ops.training_predict(
                local.resource_handle,
                cached_tree_ids=cached_trees,
                cached_node_ids=cached_nodes,
                bucketized_features=buckets,
                logits_dimension=head.logits_dimension,
            )
        logits = cached_logits + partial_logits

        if train_in_memory:
            grower = Grower(ensemble, source.quantiles, parameters, feature_ids)
        else:
            grower = AccumulatingGrower(
                ensemble,
                source.quantiles,
                parameters,
                feature_ids,
                stamp,
                n_batches_per_layer,
                num_buckets,
                config.is_chief,
            )
        summary.scalar("ensemble/num_trees", num_trees)
        summary.scalar("ensemble/num_finalized_trees", num_finalized)
        summary.scalar("ensemble/num_attempted_layers", num_attempted)
        center_bias = _variable(parameters.center_bias, "center_bias_needed")
        weights = constant_op.constant(1.0, shape=[1])
        if weight_column is not None:
            if isinstance(weight_column, str):
                weight_column = fc.numeric_column(weight_column, shape=(1,))
            weights = columns_lib.to_features(columns_lib.transform(features, [weight_column]), [weight_column])[0]

        def add_quantiles():
            with ops.name_scope("UpdateQuantile"):
                floats = columns_lib.transform(features, source.float_columns)
                return grower.add_quantiles(columns_lib.to_features(floats, source.float_columns), weights, ready)

        def grow(loss):
            parts = []
            if cache is not None:
                parts.append(cache_features)
                # While the bias moves, no row has a logit that stays.
                parts.append(
                    cond(center_bias, control_flow_ops.no_op, lambda: cache.insert(tree_ids, node_ids, logits))
                )
            if gradients_fn is not None:
                gradients, hessians = gradients_fn(logits, labels)
            else:
                gradients = gradients_impl.gradients(loss, logits, name="Gradients")[0]
                hessians = gradients_impl.gradients(gradients, logits, name="Hessians")[0]
            stats = [
                [
                    array_ops.squeeze(
                        boosted_trees_ops.make_stats_summary(
                            node_ids=node_ids,
                            gradients=gradients,
                            hessians=hessians,
                            bucketized_features_list=[buckets[feature]],
                            max_splits=parameters.max_splits,
                            num_buckets=count,
                        ),
                        axis=0,
                    )
                    for feature in ids
                ]
                for count, ids in zip(num_buckets, feature_ids, strict=True)
            ]
            if parameters.center_bias:
                update = cond(
                    center_bias,
                    functools.partial(grower.center_bias, center_bias, gradients, hessians),
                    functools.partial(grower.grow, stats, nodes),
                )
            else:
                update = grower.grow(stats, nodes)
            with ops.control_dependencies([update]):
                parts += [update, state_ops.assign_add(global_step, 1).op]
            return control_flow_ops.group(parts, name="grow_op")

        def train_op_fn(loss):
            if not source.float_columns:
                return grow(loss)
            return cond(ready, functools.partial(grow, loss), add_quantiles)

    spec = head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
    )
    stop = _StopAtTreesHook(num_finalized, num_attempted, parameters.n_trees, parameters.max_depth)
    return spec._replace(
        training_hooks=(*spec.training_hooks, stop),
        training_chief_hooks=[_InitHook(grower.chief_init_op()), *spec.training_chief_hooks],
    )
