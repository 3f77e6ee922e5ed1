"""Matrix factorization by weighted alternating least squares (Hu, Koren and Volinsky 2008).

The input A, [rows, columns] and sparse, is approximated by U V^T; U is [rows, n] and V [columns, n]. The loss is

    sum over observed (i, j) of w_ij (A_ij - u_i v_j)^2 + sum over the others of unobserved_weight (u_i v_j)^2
    + regularization (|U|^2 + |V|^2),    w_ij = unobserved_weight + row_weight_i * column_weight_j.

With one side fixed, each row of the other solves a small linear system.
"""

import numbers

import functools

import numpy as np
import tensorflow as tf
from tensorflow.deeprec import library


def _constant_weights(weight, size):
    return weight * tf.ones([size])


class WALSModel:
    """Factors and weights as variables, and the ops of training; drive it as

        session.run(model.initialize_op); session.run(model.worker_init)
        repeat:
            session.run(model.row_update_prep_gramian_op)
            session.run(model.initialize_row_update_op)
            run the op of update_row_factors over all rows, in blocks
            session.run(model.col_update_prep_gramian_op)
            session.run(model.initialize_col_update_op)
            run the op of update_col_factors over all columns, in blocks

    Args:
      input_rows: number of rows of the input.
      input_cols: number of columns.
      n_components: length of a factor.
      unobserved_weight: weight of unobserved entries.
      regularization: weight of the factors' norms; none by default.
      row_init: "random" (normal, variance 1/n), or the first row factors [rows, n], or a function of none that gives
        them (or of the shard, for each).
      col_init: the same for columns.
      num_row_shards: number of variables that hold the row factors, by blocks of consecutive rows.
      num_col_shards: the same for columns.
      row_weights: None (only unobserved entries' weight: plain least squares), a number, or a list with the weights of
        each shard.
      col_weights: the same for columns; None together with `row_weights`.
      use_factors_weights_cache: whether steps read the other side's factors and weights from a local copy, which
        `worker_init` and `initialize_*_update_op` fill.
      use_gramian_cache: the same for the other side's gramian.
      use_scoped_vars: whether each kind of variable lies in a name scope of its own.

    Raises:
      ValueError: only one of `row_weights` and `col_weights` is None, or shards of weights do not fit.
    """

    def __init__(
        self,
        input_rows,
        input_cols,
        n_components,
        unobserved_weight=0.1,
        regularization=None,
        row_init="random",
        col_init="random",
        num_row_shards=1,
        num_col_shards=1,
        row_weights=1,
        col_weights=1,
        use_factors_weights_cache=True,
        use_gramian_cache=True,
        use_scoped_vars=False,
    ):
        if (row_weights is None) != (col_weights is None):
            raise ValueError("row_weights and col_weights must both be None, or neither")
        self._input_rows = input_rows
        self._input_cols = input_cols
        self._num_row_shards = num_row_shards
        self._num_col_shards = num_col_shards
        self._n_components = n_components
        self._unobserved_weight = unobserved_weight
        self._regularization = regularization
        self._regularization_matrix = None
        if regularization is not None:
            self._regularization_matrix = regularization * tf.eye(n_components)
        self._use_factors_weights_cache = use_factors_weights_cache
        self._use_gramian_cache = use_gramian_cache
        scope = tf.name_scope if use_scoped_vars else _no_scope
        with scope("row_weights"):
            self._row_weights = self._create_weights(row_weights, input_rows, num_row_shards, "row_weights")
        with scope("col_weights"):
            self._col_weights = self._create_weights(col_weights, input_cols, num_col_shards, "col_weights")
        with scope("row_factors"):
            self._row_factors = self._create_factors(input_rows, n_components, num_row_shards, row_init, "row_factors")
        with scope("col_factors"):
            self._col_factors = self._create_factors(input_cols, n_components, num_col_shards, col_init, "col_factors")
        self._row_gramian = self._create_gramian(n_components, "row_gramian")
        self._col_gramian = self._create_gramian(n_components, "col_gramian")
        with tf.name_scope("row_prepare_gramian"):
            self._row_update_prep_gramian = tf.assign(self._col_gramian, _gramian_of(self._col_factors)).op
        with tf.name_scope("col_prepare_gramian"):
            self._col_update_prep_gramian = tf.assign(self._row_gramian, _gramian_of(self._row_factors)).op
        self._create_transient_vars()

    @staticmethod
    def _create_gramian(n_components, name):
        return tf.Variable(tf.zeros([n_components, n_components]), dtype=tf.float32, name=name)

    @classmethod
    def _create_factors(cls, rows, cols, num_shards, init, name):
        """Shards of consecutive rows."""
        shards = []
        for index, size in enumerate(cls._shard_sizes(rows, num_shards)):
            shard_name = f"{name}_shard_{index}"
            if isinstance(init, str):
                if init != "random":
                    raise ValueError(f"{name}: expected 'random' or initial values, got {init!r}")
                start = functools.partial(tf.random_normal, [size, cols])
            elif callable(init):
                start = init
            else:
                before = sum(cls._shard_sizes(rows, num_shards)[:index])
                start = tf.constant(np.asarray(init[before : before + size], np.float32)) if num_shards > 1 else init
            shards.append(tf.Variable(start, dtype=tf.float32, name=shard_name))
        return shards

    @classmethod
    def _create_weights(cls, wt_init, num_wts, num_shards, name):
        """Shards of weights: constants repeated, or what the list says for each shard."""
        if wt_init is None:
            return None
        sizes = cls._shard_sizes(num_wts, num_shards)
        if isinstance(wt_init, numbers.Real):
            init = [functools.partial(_constant_weights, float(wt_init), size) for size in sizes]
        else:
            init = wt_init
            if len(init) != num_shards or any(
                len(part) != size for part, size in zip(init, sizes) if hasattr(part, "__len__")
            ):
                raise ValueError(
                    f"{name}: expected {num_shards} lists of {sizes} weights, got lists of "
                    f"{[len(part) if hasattr(part, '__len__') else part for part in init]}"
                )
        return [tf.Variable(part, dtype=tf.float32, name=f"{name}_shard_{index}") for index, part in enumerate(init)]

    @staticmethod
    def _shard_sizes(dims, num_shards):
        """The first shards hold one more where the rest is not 0."""
        size, rest = divmod(dims, num_shards)
        return [size + 1] * rest + [size] * (num_shards - rest)

    def _create_transient_vars(self):
        """Local copies of what the other side's updates read."""

        def cached(values, name):
            # Their shapes are known when they are filled.
            copies = [
                tf.Variable(
                    tf.zeros(()),
                    dtype=tf.float32,
                    validate_shape=False,
                    trainable=False,
                    collections=[tf.GraphKeys.LOCAL_VARIABLES],
                    name=name.format(index),
                )
                for index in range(len(values))
            ]
            return copies, tf.group(*[tf.assign(c, v, validate_shape=False) for c, v in zip(copies, values)])

        def cached_if(wanted, values, name):
            return cached(values, name) if wanted and values is not None else (values, tf.no_op())

        rows, cols = [self._row_gramian], [self._col_gramian]
        with tf.name_scope("transient_vars"):
            all_of = self._use_factors_weights_cache
            self._row_factors_cache, row_factors = cached_if(all_of, self._row_factors, "row_factors_cache_shard_{}")
            self._col_factors_cache, col_factors = cached_if(all_of, self._col_factors, "col_factors_cache_shard_{}")
            self._row_wt_cache, row_weights = cached_if(all_of, self._row_weights, "row_wt_cache_shard_{}")
            self._col_wt_cache, col_weights = cached_if(all_of, self._col_weights, "col_wt_cache_shard_{}")
            (self._row_gramian_cache,), row_gramian = cached_if(self._use_gramian_cache, rows, "row_gramian_cache")
            (self._col_gramian_cache,), col_gramian = cached_if(self._use_gramian_cache, cols, "col_gramian_cache")
        self._row_updates_init = tf.group(col_factors, col_gramian)
        self._col_updates_init = tf.group(row_factors, row_gramian)
        self._worker_init = tf.group(row_factors, col_factors, row_weights, col_weights, row_gramian, col_gramian)

    @property
    def row_factors(self):
        """List of the shards of row factors."""
        return self._row_factors

    @property
    def col_factors(self):
        """List of the shards of column factors."""
        return self._col_factors

    @property
    def row_weights(self):
        """List of the shards of row weights, or None."""
        return self._row_weights

    @property
    def col_weights(self):
        """List of the shards of column weights, or None."""
        return self._col_weights

    @property
    def initialize_op(self):
        """Op that initializes the model's variables."""
        variables = list(self._row_factors) + list(self._col_factors) + [self._row_gramian, self._col_gramian]
        variables += list(self._row_weights or ()) + list(self._col_weights or ())
        return tf.group(*[v.initializer for v in variables], name="init_op")

    @property
    def worker_init(self):
        """Op that fills the local copies, once on each worker."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self):
        """Op that computes the column factors' gramian; run it once before the updates of rows, on one worker."""
        return self._row_update_prep_gramian

    @property
    def col_update_prep_gramian_op(self):
        """Op that computes the row factors' gramian; run it once before the updates of columns, on one worker."""
        return self._col_update_prep_gramian

    @property
    def initialize_row_update_op(self):
        """Op to run before the updates of rows, on each worker."""
        return self._row_updates_init

    @property
    def initialize_col_update_op(self):
        """Op to run before the updates of columns, on each worker."""
        return self._col_updates_init

    def _sharding(self, size, num_shards):
        """ids -> (shard, position in it)."""
        small, rest = divmod(size, num_shards)

        def function(ids):
            large = rest * (small + 1)
            shard = tf.where(
                ids < large,
                ids // (small + 1),
                rest + (ids - large) // max(small, 1),
            )
            start = tf.where(ids < large, shard * (small + 1), large + (shard - rest) * small)
            return tf.cast(shard, tf.int32), tf.cast(ids - start, tf.int64)

        return function

    @staticmethod
    def _lookup(shards, ids, sharding):
        if len(shards) == 1:
            return tf.gather(shards[0], ids)
        shard, position = sharding(ids)
        count = len(shards)
        parts = tf.dynamic_partition(position, shard, count)
        where = tf.dynamic_partition(tf.range(tf.size(ids)), shard, count)
        return tf.dynamic_stitch(where, [tf.gather(s, part) for s, part in zip(shards, parts)])

    @classmethod
    def scatter_update(cls, factor, indices, values, sharding_func, name=None):
        """Writes rows of sharded factors.

        Args:
          factor: list of shards.
          indices: [rows] int64.
          values: [rows, n].
          sharding_func: ids -> (shard, position in it).
          name: name scope.

        Returns:
          Op.
        """
        with tf.name_scope(name, "scatter_update"):
            if len(factor) == 1:
                return tf.scatter_update(factor[0], indices, values, use_locking=False).op
            shard, position = sharding_func(indices)
            count = len(factor)
            parts = tf.dynamic_partition(position, shard, count)
            rows = tf.dynamic_partition(values, shard, count)
            return tf.group(*[tf.scatter_update(f, p, r, use_locking=False) for f, p, r in zip(factor, parts, rows)])

    def update_row_factors(self, sp_input=None, transpose_input=False):
        """Solves for the factors of the rows that `sp_input` holds, the columns fixed.

        Args:
          sp_input: SparseTensor [rows, columns] (or its transpose); rows without entries are left alone.
          transpose_input: whether it is the transpose.

        Returns:
          (new values of these rows' factors [k, n], update op, unregularized loss of these rows, their regularization,
          sum of the weights of their entries); each scalar is scaled so that its mean over random blocks is that of all.
        """
        return self._process_input_helper(True, sp_input=sp_input, transpose_input=transpose_input)

    def update_col_factors(self, sp_input=None, transpose_input=False):
        """The same for columns: `sp_input` holds all rows of some columns (or is the transpose)."""
        return self._process_input_helper(False, sp_input=sp_input, transpose_input=transpose_input)

    def project_row_factors(self, sp_input=None, transpose_input=False, projection_weights=None):
        """Factors for new rows, which the model does not store.

        Args:
          sp_input: SparseTensor [new rows, columns] (or its transpose).
          transpose_input: whether it is the transpose.
          projection_weights: number or [new rows], weights of the rows; 1 by default.

        Returns:
          [new rows, n].
        """
        if projection_weights is None:
            projection_weights = 1
        return self._process_input_helper(
            True, sp_input=sp_input, transpose_input=transpose_input, row_weights=projection_weights
        )[0]

    def project_col_factors(self, sp_input=None, transpose_input=False, projection_weights=None):
        """Factors for new columns; `sp_input` is [rows, new columns] (or its transpose)."""
        if projection_weights is None:
            projection_weights = 1
        return self._process_input_helper(
            False, sp_input=sp_input, transpose_input=transpose_input, row_weights=projection_weights
        )[0]

    def _process_input_helper(self, update_row_factors, sp_input=None, transpose_input=False, row_weights=None):
        if not isinstance(sp_input, tf.SparseTensor):
            raise TypeError(f"sp_input must be a SparseTensor, got {type(sp_input)}")
        if update_row_factors:
            left, right = self._row_factors, self._col_factors_cache
            left_weights, right_weights = self._row_wt_cache, self._col_wt_cache
            left_size, right_size = self._input_rows, self._input_cols
            left_shards, right_shards = self._num_row_shards, self._num_col_shards
            gramian = self._col_gramian_cache
        else:
            left, right = self._col_factors, self._row_factors_cache
            left_weights, right_weights = self._col_wt_cache, self._row_wt_cache
            left_size, right_size = self._input_cols, self._input_rows
            left_shards, right_shards = self._num_col_shards, self._num_row_shards
            gramian = self._row_gramian_cache
            transpose_input = not transpose_input
        row_axis = 1 if transpose_input else 0
        column_axis = 1 - row_axis
        rows, columns = sp_input.indices[:, row_axis], sp_input.indices[:, column_axis]
        left_sharding = self._sharding(left_size, left_shards)
        right_sharding = self._sharding(right_size, right_shards)

        # Only rows and columns that have entries take part; they get new numbers.
        if row_weights is None:
            update_rows, new_rows = tf.unique(rows)
            num_rows = tf.cast(tf.size(update_rows), tf.int64)
        else:
            update_rows, new_rows = None, tf.cast(rows, tf.int32)
            num_rows = sp_input.dense_shape[row_axis]
        gather_columns, new_columns = tf.unique(columns)
        indices = tf.cast(tf.stack([new_rows, new_columns], 1), tf.int64)
        right_factors = self._lookup(right, gather_columns, right_sharding)

        base = self._unobserved_weight * gramian
        base.set_shape([self._n_components, self._n_components])
        if self._regularization_matrix is not None:
            base += self._regularization_matrix
        new_values, weighted = None, self._row_weights is not None
        if weighted:
            right_wt = self._lookup(right_weights, gather_columns, right_sharding)
            if row_weights is None:
                left_wt = self._lookup(left_weights, update_rows, left_sharding)
            else:
                left_wt = tf.cast(row_weights, tf.float32)
            partial_lhs, rhs = library.ops().wals_compute_partial_lhs_and_rhs(
                right_factors,
                right_wt,
                self._unobserved_weight,
                left_wt,
                indices,
                sp_input.values,
                [],
                num_rows,
                False,
                name="wals_compute_partial_lhs_rhs",
            )
            new_values = tf.squeeze(
                tf.matrix_solve(tf.expand_dims(base, 0) + partial_lhs, tf.expand_dims(rhs, -1)), [2]
            )
        else:
            # All weights equal: one matrix for all rows.
            block = tf.SparseTensor(
                indices, sp_input.values, tf.stack([num_rows, tf.cast(tf.size(gather_columns), tf.int64)])
            )
            block = tf.sparse_reorder(block)
            rhs = self._unobserved_weight * tf.sparse_tensor_dense_matmul(block, right_factors)
            new_values = tf.transpose(tf.matrix_solve(base, tf.transpose(rhs)))

        update_op = None
        if row_weights is None:
            update_op = self.scatter_update(left, update_rows, new_values, left_sharding)
        loss, regularization, total_weight = self._losses(
            sp_input, indices, new_values, right_factors, gramian, left_wt if weighted else None,
            right_wt if weighted else None, num_rows, left_size,
        )  # fmt: skip
        return new_values, update_op, loss, regularization, total_weight

    def _losses(self, sp_input, indices, new_values, right_factors, gramian, left_wt, right_wt, num_rows, left_size):
        predicted = tf.reduce_sum(
            tf.gather(new_values, indices[:, 0]) * tf.gather(right_factors, indices[:, 1]), axis=1
        )
        if left_wt is None:
            observed = tf.zeros_like(predicted)
        else:
            of_rows = left_wt if left_wt.shape.ndims == 0 else tf.gather(left_wt, indices[:, 0])
            observed = of_rows * tf.gather(right_wt, indices[:, 1])
        weights = observed + self._unobserved_weight
        error = tf.reduce_sum(weights * tf.square(sp_input.values - predicted))
        # All entries as if they were 0 and unobserved, less those that are observed.
        everything = tf.reduce_sum(tf.matmul(new_values, gramian) * new_values)
        unobserved = self._unobserved_weight * (everything - tf.reduce_sum(tf.square(predicted)))
        scale = tf.cast(left_size, tf.float32) / tf.maximum(tf.cast(num_rows, tf.float32), 1.0)
        regularization = tf.zeros([])
        if self._regularization is not None:
            regularization = self._regularization * (tf.reduce_sum(tf.square(new_values)) * scale + tf.trace(gramian))
        return (error + unobserved) * scale, regularization, tf.reduce_sum(observed) * scale


class _no_scope:
    def __init__(self, name):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


def _gramian_of(shards):
    return tf.add_n([tf.matmul(shard, shard, transpose_a=True) for shard in shards])
