"""`tf.feature_column.embedding_column` and its like with DeepRec's arguments, and layers that make the variables of columns.

Over columns without a table the released functions do what they did.
"""

import functools
import inspect
import math

from tensorflow.api_v1 import import_hooks
from tensorflow.deeprec.embedding import fusion, tables
from tensorflow.python.feature_column import feature_column as fc_old
from tensorflow.python.feature_column import feature_column_lib
from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.framework import constant_op, dtypes
from tensorflow.python.ops import init_ops, variables
from tensorflow.python.util import nest


def _embedding_column(released):
    def embedding_column(
        categorical_column,
        dimension,
        combiner="mean",
        initializer=None,
        ckpt_to_load_from=None,
        tensor_name_in_ckpt=None,
        max_norm=None,
        trainable=True,
        coalesced_scope=None,
        do_fusion=False,
        use_safe_embedding_lookup=True,
    ):
        if combiner == "tile":
            raise ValueError('combiner must be "mean", "sum" or "sqrtn" in a column, whose width is fixed; got "tile"')
        _refuse_several_ids(categorical_column)
        source = tables.source_of(categorical_column)
        # One table or two, all checks are the released function's.
        width = dimension
        if hasattr(source, "width"):
            width = source.width(dimension)
            if ckpt_to_load_from is not None:
                raise ValueError(f"ckpt_to_load_from must be None for the two tables of {source.key!r}.")
            initializer = initializer or init_ops.truncated_normal_initializer(stddev=1 / math.sqrt(width))
        column = released(
            categorical_column,
            width,
            combiner,
            initializer() if isinstance(initializer, type) else initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            max_norm,
            trainable,
            use_safe_embedding_lookup,
        )
        if source is not None:
            from tensorflow.deeprec.embedding import embedding_columns

            column = embedding_columns.TableEmbeddingColumn(**{**column._asdict(), "dimension": dimension})
        return fusion.mark(column, do_fusion, coalesced_scope)

    return embedding_column


def _shared_embedding_columns(released):
    def shared_embedding_columns(
        categorical_columns,
        dimension,
        combiner="mean",
        initializer=None,
        shared_embedding_collection_name=None,
        ckpt_to_load_from=None,
        tensor_name_in_ckpt=None,
        max_norm=None,
        trainable=True,
        do_fusion=False,
        use_safe_embedding_lookup=True,
    ):
        categorical_columns = list(categorical_columns)
        for column in categorical_columns:
            _refuse_several_ids(column)
        result = released(
            categorical_columns,
            dimension,
            combiner,
            initializer,
            shared_embedding_collection_name,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            max_norm,
            trainable,
            use_safe_embedding_lookup,
        )
        sources = [tables.source_of(column) for column in categorical_columns]
        if None not in sources:
            from tensorflow.deeprec.embedding import embedding_columns

            embedding_columns.check_shareable(sources)
            result = [embedding_columns.SharedTableEmbeddingColumn(*column) for column in result]
        return [fusion.mark(column, do_fusion) for column in result]

    return shared_embedding_columns


def _input_layer(released):
    fused = fusion.layer(released)

    def input_layer(
        features,
        feature_columns,
        weight_collections=None,
        trainable=True,
        cols_to_vars=None,
        cols_to_output_tensors=None,
        adaptive_mask_tensors=None,
    ):
        arguments = (features, feature_columns, weight_collections, trainable, cols_to_vars, cols_to_output_tensors)
        if adaptive_mask_tensors is None:
            return fused(*arguments)
        from tensorflow.deeprec.embedding import adaptive

        with adaptive.masks(adaptive_mask_tensors):
            return fused(*arguments)

    return input_layer


def _indicator_column(released):
    def indicator_column(categorical_column):
        _refuse_several_ids(categorical_column)
        source = tables.source_of(categorical_column)
        if source is not None and source.num_buckets == 1:
            raise ValueError(f"The column of {source.key!r} has no number of buckets: use embedding_column.")
        return released(categorical_column)

    return indicator_column


def _looks_up(released):
    """For the method of an embedding column that looks up."""

    @functools.wraps(released)
    def look_up(self, *args, **kwargs):
        with fusion.of_column(self):
            return released(self, *args, **kwargs)

    return look_up


def _dense_features(module) -> None:
    for cls in (module.DenseFeatures,):
        cls.call = fusion.layer(cls.call)


def _weighted_categorical_column(released):
    def weighted_categorical_column(categorical_column, weight_feature_key, dtype=dtypes.float32):
        if getattr(categorical_column, "cuts_ids", False):
            raise ValueError(
                f"The weights of {categorical_column.name!r} would not be cut off with its ids: make a "
                "cutoff_categorical_column of the weighted column."
            )
        if tables.has_several_ids(categorical_column):
            raise ValueError(
                f"The column of {categorical_column.name!r} has several ids for a value: use "
                "weighted_categorical_column_with_multi_hash_bucket."
            )
        return released(categorical_column, weight_feature_key, dtype)

    return weighted_categorical_column


def _refuse_several_ids(column) -> None:
    if tables.has_several_ids(column):
        raise ValueError(f"The column of {column.name!r} has several ids for a value: use multi_hash_embedding_column.")


def _track(layer, table) -> None:
    known = layer._trainable_weights + layer._non_trainable_weights
    for variable in [table] if isinstance(table, variables.Variable) else table:
        if not any(variable is other for other in known):
            (layer._trainable_weights if variable.trainable else layer._non_trainable_weights).append(variable)


def _create_variable(released):
    @functools.wraps(released)
    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ):
        source = tables.source_of(feature_column)
        if source is None:
            return released(self, feature_column, name, shape, dtype, trainable, use_resource, initializer)
        if source.needs_mask:
            raise ValueError(
                f"The adaptive column of {source.key!r} can only be used in tf.feature_column.input_layer."
            )
        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable already exists.")
        table = source.table(name, shape[1], initializer, self._trainable and trainable, None)
        _track(self._layer, table)
        self._cols_to_vars_map[feature_column][name] = table
        return table

    return create_variable


def _build_linear(released):
    @functools.wraps(released)
    def build(self, input_shape):
        source = tables.source_of(self._feature_column)
        if source is None or not isinstance(self._feature_column, fc_old._CategoricalColumn):
            released(self, input_shape)
            return
        table = source.table(
            "weights", self._units, init_ops.zeros_initializer(), self.trainable, self._weight_collections
        )
        self._weight_var = table
        _track(self, table)
        self.built = True

    return build


def _leave_tables_out(linear) -> None:
    """Lets the share of zero weights that linear estimators report be that of their ordinary variables."""
    released = linear._compute_fraction_of_zero

    @functools.wraps(released)
    def compute_fraction_of_zero(of_variables):
        ordinary = [v for v in nest.flatten(of_variables) if not tables.is_table(v)]
        return released(ordinary) if ordinary else constant_op.constant(math.nan)

    linear._compute_fraction_of_zero = compute_fraction_of_zero


def install() -> None:
    """Puts the functions where the released ones are."""
    from tensorflow._api.v2.compat.v1 import feature_column as api

    for module, name, make in (
        (fc, "embedding_column", _embedding_column),
        (fc, "shared_embedding_columns", _shared_embedding_columns),
        (fc, "indicator_column", _indicator_column),
        (fc, "weighted_categorical_column", _weighted_categorical_column),
        (fc_old, "input_layer", _input_layer),
    ):
        released = getattr(module, name)
        function = make(released)
        signature = inspect.signature(function)
        functools.update_wrapper(function, released)
        function.__signature__ = signature
        for holder in (module, feature_column_lib, api):
            if getattr(holder, name, None) is released:
                setattr(holder, name, function)
    for cls, name in (
        (fc.EmbeddingColumn, "_get_dense_tensor_internal_helper"),
        (fc.SharedEmbeddingColumn, "_get_dense_tensor_internal"),
        (fc_old._SharedEmbeddingColumn, "_get_dense_tensor_internal"),
    ):
        setattr(cls, name, _looks_up(getattr(cls, name)))
    import_hooks.after_import("tf_keras.src.feature_column.dense_features", _dense_features)
    fc._StateManagerImpl.create_variable = _create_variable(fc._StateManagerImpl.create_variable)
    fc_old._FCLinearWrapper.build = _build_linear(fc_old._FCLinearWrapper.build)
    import_hooks.after_import("tensorflow_estimator.python.estimator.canned.linear", _leave_tables_out)
