"""Matrix factorization by weighted alternating least squares, as an estimator."""

import tensorflow as tf
from tensorflow.contrib.factorization import factorization_ops
from tensorflow.contrib.learn import estimator, model_fn


class _SweepHook(tf.train.SessionRunHook):
    """Runs the steps of rows until all are done, then those of columns, and so on; with the ops between them."""

    def __init__(self, is_row_sweep, is_sweep_done, init_op, switch_op, axes, completed, max_sweeps):
        self._is_row_sweep, self._is_sweep_done = is_row_sweep, is_sweep_done
        self._init_op, self._switch_op = init_op, switch_op
        # {is it the sweep of rows: (ops before a sweep in their order, op of a step)}
        self._axes = axes
        self._completed, self._max_sweeps = completed, max_sweeps
        self._is_new_session = True

    def after_create_session(self, session, coord):
        self._is_new_session = True

    def before_run(self, run_context):
        session = run_context.session
        is_done = session.run(self._is_sweep_done)
        if self._is_new_session:
            session.run(self._init_op)
        if is_done:
            session.run(self._switch_op)
        prepare, step = self._axes[bool(session.run(self._is_row_sweep))]
        if is_done or self._is_new_session:
            for op in prepare:
                session.run(op)
        self._is_new_session = False
        return tf.train.SessionRunArgs(step)

    def after_run(self, run_context, run_values):
        if self._max_sweeps is not None and run_context.session.run(self._completed) >= self._max_sweeps:
            run_context.request_stop()


class WALSMatrixFactorization(estimator.Estimator):
    """Trains the factors of `WALSModel`, a sweep over all rows and one over all columns in turn.

    The input function gives (features, None) with the features

        INPUT_ROWS: SparseTensor [rows, columns], a batch of rows;
        INPUT_COLS: SparseTensor [columns, rows], a batch of columns;
        PROJECT_ROW: bool, for evaluation and projections: whether they are of rows;
        PROJECTION_WEIGHTS: weights of the rows that are projected, [rows in the batch] or a scalar (optional).

    A sweep is over when every row (or column) has been in a batch. `fit` counts batches as steps.

    Args:
      num_rows: number of rows of the input.
      num_cols: number of columns.
      embedding_dimension: length of a factor.
      unobserved_weight: weight of unobserved entries.
      regularization_coeff: weight of the factors' norms; none by default.
      row_init: "random", or the first row factors, or a function that gives them; see `WALSModel`.
      col_init: the same for columns.
      num_row_shards: number of variables that hold the row factors.
      num_col_shards: the same for columns.
      row_weights: None, a number, or a list with the weights of each shard.
      col_weights: the same for columns.
      use_factors_weights_cache_for_training: whether steps read the other side from a local copy.
      use_gramian_cache_for_training: the same for the other side's gramian.
      max_sweeps: `fit` stops after so many sweeps in all.
      model_dir: folder of the checkpoints; a temporary one by default.
      config: a `RunConfig` of one worker.

    Raises:
      ValueError: the config has several workers.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"
    COMPLETED_SWEEPS = "completed_sweeps"

    def __init__(
        self,
        num_rows,
        num_cols,
        embedding_dimension,
        unobserved_weight=0.1,
        regularization_coeff=None,
        row_init="random",
        col_init="random",
        num_row_shards=1,
        num_col_shards=1,
        row_weights=1,
        col_weights=1,
        use_factors_weights_cache_for_training=True,
        use_gramian_cache_for_training=True,
        max_sweeps=None,
        model_dir=None,
        config=None,
    ):
        workers = getattr(config, "num_worker_replicas", 1) or 1
        if workers > 1:
            raise ValueError(f"WALSMatrixFactorization trains with one worker, got a config with {workers}")
        self._shape = (num_rows, num_cols)
        self._shards = {"row": num_row_shards, "col": num_col_shards}
        self._caches = (use_factors_weights_cache_for_training, use_gramian_cache_for_training)
        self._max_sweeps = max_sweeps
        self._model_arguments = dict(
            n_components=embedding_dimension,
            unobserved_weight=unobserved_weight,
            regularization=regularization_coeff,
            row_init=row_init,
            col_init=col_init,
            num_row_shards=num_row_shards,
            num_col_shards=num_col_shards,
            row_weights=row_weights,
            col_weights=col_weights,
        )
        super().__init__(model_fn=self._build, model_dir=model_dir, config=config)

    def get_row_factors(self):
        """List of the values [rows, n] of the shards of row factors."""
        return self._factors("row")

    def get_col_factors(self):
        """List of the values [columns, n] of the shards of column factors."""
        return self._factors("col")

    def get_projections(self, input_fn):
        """Iterator over the factors of new rows or columns; see PROJECT_ROW."""
        return (result[self.PROJECTION_RESULT] for result in self.predict(input_fn=input_fn))

    def _factors(self, side):
        names = [f"{side}_factors_shard_{i}" for i in range(self._shards[side])]
        return [self.get_variable_value(name) for name in names]

    def _build(self, features, labels, mode):
        if labels is not None:
            raise ValueError(f"WALSMatrixFactorization takes no labels, got {labels!r}")
        training = mode == model_fn.ModeKeys.TRAIN
        factors_cache, gramian_cache = (cache and training for cache in self._caches)
        model = factorization_ops.WALSModel(
            *self._shape,
            use_factors_weights_cache=factors_cache,
            use_gramian_cache=gramian_cache,
            **self._model_arguments,
        )
        rows, columns = features[self.INPUT_ROWS], features[self.INPUT_COLS]
        if training:
            return self._train(model, rows, columns)
        of_rows = features[self.PROJECT_ROW]
        if mode == model_fn.ModeKeys.EVAL:
            loss = tf.cond(
                of_rows,
                lambda: tf.add_n(model.update_row_factors(rows)[2:4]),
                lambda: tf.add_n(model.update_col_factors(columns, transpose_input=True)[2:4]),
            )
            return model_fn.ModelFnOps(mode=mode, predictions={}, loss=loss)
        weights = features.get(self.PROJECTION_WEIGHTS)
        projection = tf.cond(
            of_rows,
            lambda: model.project_row_factors(rows, projection_weights=weights),
            lambda: model.project_col_factors(columns, transpose_input=True, projection_weights=weights),
        )
        return model_fn.ModelFnOps(mode=mode, predictions={self.PROJECTION_RESULT: projection})

    def _train(self, model, rows, columns):
        def state(value, name):
            return tf.Variable(value, trainable=False, name=name)

        is_row_sweep, is_sweep_done = state(True, "is_row_sweep"), state(False, "is_sweep_done")
        completed = state(0, self.COMPLETED_SWEEPS)
        loss, error = state(0.0, self.LOSS), state(0.0, self.RWSE)
        tf.summary.scalar("loss", loss)
        tf.summary.scalar("root_weighted_squared_error", error)
        tf.summary.scalar("completed_sweeps", completed)
        step_count = tf.train.get_or_create_global_step()

        def step(items, size, name, update):
            """(op that forgets which items are done, op of a step)"""
            processed = state(tf.fill([size], False), f"processed_{name}")
            _, update_op, unregularized, regularization, weight = update
            done = [
                update_op,
                tf.assign(loss, unregularized + regularization),
                tf.assign(error, tf.sqrt(unregularized / weight)),
            ]
            with tf.control_dependencies(done):
                indices = items.indices[:, 0]
                marked = tf.scatter_update(processed, indices, tf.ones_like(indices, dtype=tf.bool))
                is_done = tf.reduce_all(marked)
                return processed.initializer, tf.group(
                    tf.assign(is_sweep_done, is_done),
                    tf.assign_add(completed, tf.cast(is_done, tf.int32)),
                    tf.assign_add(step_count, 1),
                    name=f"{name}_sweep_train_op",
                )

        reset_rows, row_step = step(rows, self._shape[0], "rows", model.update_row_factors(rows))
        reset_columns, column_step = step(
            columns, self._shape[1], "cols", model.update_col_factors(columns, transpose_input=True)
        )
        axes = {
            True: ([model.row_update_prep_gramian_op, model.initialize_row_update_op], row_step),
            False: ([model.col_update_prep_gramian_op, model.initialize_col_update_op], column_step),
        }
        switch = tf.group(
            tf.assign(is_row_sweep, tf.logical_not(is_row_sweep)), reset_rows, reset_columns, name="sweep_switch_op"
        )
        hook = _SweepHook(is_row_sweep, is_sweep_done, model.worker_init, switch, axes, completed, self._max_sweeps)
        return model_fn.ModelFnOps(
            mode=model_fn.ModeKeys.TRAIN,
            predictions={},
            loss=tf.identity(loss),
            train_op=tf.no_op(),
            training_hooks=[hook],
        )
