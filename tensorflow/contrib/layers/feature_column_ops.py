"""Layers and linear models built from legacy feature columns, and the parsing of their features."""

import functools

from tensorflow.contrib.framework import variables as contrib_variables
from tensorflow.contrib.framework.experimental import experimental
from tensorflow.contrib.layers import embedding_ops
from tensorflow.contrib.layers import feature_column as fc
from tensorflow.contrib.layers import layers
from tensorflow.deeprec.embedding import fusion
from tensorflow.python.framework import dtypes, ops, sparse_tensor
from tensorflow.python.ops import array_ops, init_ops, math_ops, nn_ops, parsing_ops, sparse_ops, variable_scope
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.util import nest


def _in_order(feature_columns):
    return sorted(set(feature_columns), key=lambda column: column.key)


def _column_scope(columns_to_tensors, default_name, scope=None):
    return variable_scope.variable_scope(scope, default_name=default_name, values=columns_to_tensors.values())


def _maybe_reshape_input_tensor(tensor, column_name, output_rank):
    """Brings a dense or sparse tensor to `output_rank`: adds a last dimension of 1, or joins the last ones.

    Raises:
      ValueError: if more than one dimension is missing, or the rank is not known.
    """
    is_sparse = isinstance(tensor, sparse_tensor.SparseTensor)
    rank = tensor.get_shape().ndims
    if rank is None and is_sparse:
        rank = tensor.dense_shape.get_shape().as_list()[0]
    if rank is None:
        raise ValueError(f"Column {column_name}: the rank of the feature must be known.")
    if output_rank > rank + 1:
        raise ValueError(
            f"Column {column_name}: the feature has rank {rank}, expected {output_rank} "
            "(3 for sequences, 2 for other features)."
        )
    if output_rank < rank:
        return layers._inner_flatten(tensor, output_rank)
    if output_rank == rank:
        return tensor
    if is_sparse:
        return sparse_ops.sparse_reshape(tensor, array_ops.concat([tensor.dense_shape, [1]], 0))
    return array_ops.expand_dims(tensor, -1)


def _blocknums_of(column, blocknums, all_columns):
    """The numbers of blocks that are this column's; None if it has no blocks."""
    source = fc.table_source(column)
    if source is None or source.table_options.blocks is None:
        return None
    if not isinstance(blocknums, dict):
        with_blocks = [
            other
            for other in map(fc.table_source, all_columns)
            if other is not None and other.table_options.blocks is not None
        ]
        if blocknums is None or len(with_blocks) > 1:
            raise ValueError(
                f"blocknums must be a dict with the number of blocks of each id of {source.name!r}, got {blocknums!r}"
            )
        return blocknums
    for key in (column, source, source.name):
        if key in blocknums:
            return blocknums[key]
    raise ValueError(f"blocknums must have the column or feature {source.name!r}, got {sorted(map(str, blocknums))}")


def _input_layer(column, transformed, weight_collections, trainable, output_rank, blocknums=None):
    """One column's part of the input layer."""
    try:
        arguments = column._deep_embedding_lookup_arguments(transformed)
    except NotImplementedError as not_embedded:
        try:
            return column._to_dnn_input_layer(transformed, weight_collections, trainable, output_rank=output_rank)
        except ValueError as error:
            raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}, {not_embedded}")
    return fc._embeddings_from_arguments(
        column, arguments, weight_collections, trainable, output_rank=output_rank, blocknums=blocknums
    )


@fusion.layer
def _input_from_feature_columns(
    columns_to_tensors,
    feature_columns,
    weight_collections,
    trainable,
    scope,
    output_rank,
    default_name,
    cols_to_outs=None,
    blocknums=None,
):
    columns_to_tensors = columns_to_tensors.copy()
    feature_columns = list(feature_columns) if not isinstance(feature_columns, dict) else feature_columns
    check_feature_columns(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError(f"cols_to_outs must be a dict or None, got {type(cols_to_outs)}")
    weight_collections = _add_variable_collection(weight_collections)
    with _column_scope(columns_to_tensors, default_name, scope):
        outputs = []
        transformer = _Transformer(columns_to_tensors)
        for column in _in_order(feature_columns):
            with _column_scope(columns_to_tensors, column.name):
                transformed = transformer.transform(column)
                if output_rank == 3:
                    reshape = functools.partial(
                        _maybe_reshape_input_tensor, column_name=column.name, output_rank=output_rank
                    )
                    transformed = nest.map_structure(reshape, transformed)
                blocks = _blocknums_of(column, blocknums, feature_columns)
                outputs.append(_input_layer(column, transformed, weight_collections, trainable, output_rank, blocks))
            if cols_to_outs is not None:
                cols_to_outs[column] = outputs[-1]
        return array_ops.concat(outputs, output_rank - 1)


def input_from_feature_columns(
    columns_to_tensors,
    feature_columns,
    weight_collections=None,
    trainable=True,
    scope=None,
    cols_to_outs=None,
    blocknums=None,
):
    """The first layer of a network: all columns' representations side by side, in the order of the columns' keys.

    Args:
      columns_to_tensors: dict of features by name; may hold transformed columns, by column.
      feature_columns: iterable of columns for networks (numbers, buckets, one-hot, embeddings).
      weight_collections: collections to which the variables are added.
      trainable: whether the variables are trained.
      scope: variable scope, "input_from_feature_columns" by default.
      cols_to_outs: dict that is filled with each column's own output.
      blocknums: for columns of dynamic dimension: dict of column or feature name to the number of blocks of each of its ids, an
        int tensor; that tensor alone if there is one such column.

    Returns:
      Tensor `[batch, n]`.

    Raises:
      ValueError: if a column is not for networks, or columns repeat.
    """
    return _input_from_feature_columns(
        columns_to_tensors,
        feature_columns,
        weight_collections,
        trainable,
        scope,
        output_rank=2,
        default_name="input_from_feature_columns",
        cols_to_outs=cols_to_outs,
        blocknums=blocknums,
    )


@experimental
def sequence_input_from_feature_columns(
    columns_to_tensors, feature_columns, weight_collections=None, trainable=True, scope=None
):
    """`input_from_feature_columns` for sequences.

    Args:
      columns_to_tensors, weight_collections, trainable: as for `input_from_feature_columns`.
      feature_columns: number, one-hot and embedding columns, not made from buckets, crosses or scattered embeddings.
      scope: variable scope, "sequence_input_from_feature_columns" by default.

    Returns:
      Tensor `[batch, time, n]`.

    Raises:
      ValueError: if a column is not for sequences.
    """
    _check_supported_sequence_columns(feature_columns)
    _check_forbidden_sequence_columns(feature_columns)
    return _input_from_feature_columns(
        columns_to_tensors,
        feature_columns,
        weight_collections,
        trainable,
        scope,
        output_rank=3,
        default_name="sequence_input_from_feature_columns",
    )


def _weights(name, shape, trainable, weight_collections, **kwargs):
    kwargs.setdefault("initializer", init_ops.zeros_initializer())
    return contrib_variables.model_variable(
        name, shape=shape, trainable=trainable, collections=weight_collections, **kwargs
    )


def _table(shape, initializer, trainable, weight_collections):
    """Weights of ids, as a list of parts."""
    variable = _weights("weights", shape, trainable, weight_collections, dtype=dtypes.float32, initializer=initializer)
    return [variable] if fc._is_variable(variable) else list(variable)


def _create_embedding_lookup(column, columns_to_tensors, arguments, num_outputs, trainable, weight_collections):
    """Variables and predictions of a sparse column in a linear model."""
    source = fc.table_source(column)
    with _column_scope(columns_to_tensors, column.name):
        if source is None:
            variable = _table([arguments.vocab_size, num_outputs], arguments.initializer, trainable, weight_collections)
        elif source.table_options.blocks is not None:
            raise ValueError("a column of dynamic dimension has no weights: use embedding_column.")
        else:
            variable = source.table("weights", num_outputs, arguments.initializer, trainable, weight_collections)
        predictions = embedding_ops.safe_embedding_lookup_sparse(
            variable,
            arguments.input_tensor,
            sparse_weights=arguments.weight_tensor,
            combiner=arguments.combiner,
            name=column.name + "_weights",
        )
        return variable, predictions


def _create_dense_lookup(column, columns_to_tensors, transformed, num_outputs, trainable, weight_collections):
    """Variables and predictions of a number column in a linear model."""
    with _column_scope(columns_to_tensors, column.name):
        tensor = _maybe_reshape_input_tensor(column._to_dense_tensor(transformed), column.name, output_rank=2)
        variable = [_weights("weight", [tensor.get_shape()[1], num_outputs], trainable, weight_collections)]
        return variable, math_ops.matmul(tensor, variable[0], name="matmul")


def _create_joint_embedding_lookup(
    columns_to_tensors, embedding_lookup_arguments, num_outputs, trainable, weight_collections
):
    """Variables and predictions of several sparse columns with one table of weights, one column's ids behind another's."""
    if not embedding_lookup_arguments:
        raise ValueError("feature_columns must have at least one column")
    total, shifted = 0, []
    for arguments in embedding_lookup_arguments:
        if arguments.weight_tensor is not None or arguments.combiner != "sum":
            raise ValueError(
                "Joint sums do not support weighted columns, or combiners other than 'sum': "
                "use weighted_sum_from_feature_columns."
            )
        shifted.append(fc._with_values(arguments.input_tensor, arguments.input_tensor.values + total))
        total += arguments.vocab_size
    ids = sparse_ops.sparse_concat(1, shifted)
    with _column_scope(columns_to_tensors, "linear_weights"):
        variable = _table([total, num_outputs], init_ops.zeros_initializer(), trainable, weight_collections)
        predictions = embedding_ops.safe_embedding_lookup_sparse(
            variable, ids, sparse_weights=None, combiner="sum", name="_weights"
        )
        return variable, predictions


def _add_bias(predictions, num_outputs, trainable, weight_collections):
    bias = _weights("bias_weight", [num_outputs], trainable, _add_variable_collection(weight_collections))
    _log_variable(bias)
    return nn_ops.bias_add(predictions, bias), bias


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors, feature_columns, num_outputs, weight_collections=None, trainable=True, scope=None
):
    """A linear model of sparse columns that keeps all weights in one variable.

    Args:
      columns_to_tensors: dict of features by name; may hold transformed columns, by column.
      feature_columns: iterable of sparse, bucketized or crossed columns with the combiner "sum".
      num_outputs: number of outputs.
      weight_collections: collections to which the variables are added.
      trainable: whether the variables are trained.
      scope: variable scope, "joint_weighted_sum_from_feature_columns" by default.

    Returns:
      `(predictions [batch, num_outputs], list of the parts of the weights, bias)`.

    Raises:
      NotImplementedError: for number columns.
      ValueError: for weighted columns and other combiners.
    """
    columns_to_tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    with _column_scope(columns_to_tensors, "joint_weighted_sum_from_feature_columns", scope):
        transformer = _Transformer(columns_to_tensors)
        arguments = []
        for column in _in_order(feature_columns):
            transformed = transformer.transform(column)
            try:
                if fc.table_source(column) is not None:
                    raise ValueError(
                        f"Column {column.name}: embeddings found by key have no place in a joint variable: "
                        "use weighted_sum_from_feature_columns."
                    )
                arguments.append(column._wide_embedding_lookup_arguments(transformed))
            except NotImplementedError:
                raise NotImplementedError(
                    f"Column {column.name}: number columns are not supported: "
                    "use weighted_sum_from_feature_columns, or bucketize them."
                )
        variable, predictions = _create_joint_embedding_lookup(
            columns_to_tensors, arguments, num_outputs, trainable, weight_collections
        )
        predictions, bias = _add_bias(predictions, num_outputs, trainable, weight_collections)
        return predictions, variable, bias


def weighted_sum_from_feature_columns(
    columns_to_tensors, feature_columns, num_outputs, weight_collections=None, trainable=True, scope=None
):
    """A linear model: the sum over columns of feature times weight, plus a bias.

    Args:
      columns_to_tensors: dict of features by name; may hold transformed columns, by column.
      feature_columns: iterable of columns for linear models (numbers, sparse, buckets, crosses).
      num_outputs: number of outputs.
      weight_collections: collections to which the variables are added.
      trainable: whether the variables are trained.
      scope: variable scope, "weighted_sum_from_feature_columns" by default.

    Returns:
      `(predictions [batch, num_outputs], dict of column -> list of the parts of its weights, bias)`.

    Raises:
      ValueError: if a column is not for linear models.
    """
    columns_to_tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    with _column_scope(columns_to_tensors, "weighted_sum_from_feature_columns", scope):
        outputs, column_to_variable = [], {}
        transformer = _Transformer(columns_to_tensors)
        for column in _in_order(feature_columns):
            transformed = transformer.transform(column)
            rest = (num_outputs, trainable, weight_collections)
            try:
                arguments = column._wide_embedding_lookup_arguments(transformed)
                variable, predictions = _create_embedding_lookup(column, columns_to_tensors, arguments, *rest)
            except NotImplementedError:
                variable, predictions = _create_dense_lookup(column, columns_to_tensors, transformed, *rest)
            except ValueError as error:
                raise ValueError(f"Error creating weighted sum for column: {column.name}.\n{error}")
            outputs.append(array_ops.reshape(predictions, shape=(-1, num_outputs)))
            column_to_variable[column] = variable
            _log_variable(variable)
            fc._maybe_restore_from_checkpoint(column._checkpoint_path(), variable)
        predictions, bias = _add_bias(math_ops.add_n(outputs), num_outputs, trainable, weight_collections)
        return predictions, column_to_variable, bias


def parse_feature_columns_from_examples(serialized, feature_columns, name=None, example_names=None):
    """Parses `tf.Example`s into what columns need, and transforms it.

    Args:
      serialized: 1-D string tensor of serialized `Example`s.
      feature_columns: iterable of columns.
      name: name of the op.
      example_names: 1-D string tensor of names for error messages.

    Returns:
      dict: columns, and the base features by name -> tensors.
    """
    check_feature_columns(feature_columns)
    columns_to_tensors = parsing_ops.parse_example(
        serialized=serialized,
        features=fc.create_feature_spec_for_parsing(feature_columns),
        name=name,
        example_names=example_names,
    )
    transformer = _Transformer(columns_to_tensors)
    for column in _in_order(feature_columns):
        transformer.transform(column)
    return columns_to_tensors


def transform_features(features, feature_columns):
    """The representation of each column.

    Args:
      features: dict of features by name.
      feature_columns: iterable of columns.

    Returns:
      dict: column -> `Tensor`, `SparseTensor`, or a tuple of both for weighted columns.
    """
    columns_to_tensors = features.copy()
    check_feature_columns(feature_columns)
    transformer = _Transformer(columns_to_tensors)
    for column in _in_order(feature_columns):
        transformer.transform(column)
    return {key: value for key, value in columns_to_tensors.items() if key in feature_columns}


def parse_feature_columns_from_sequence_examples(
    serialized, context_feature_columns, sequence_feature_columns, name=None, example_name=None
):
    """Parses one `tf.SequenceExample` into the base features of columns.

    Args:
      serialized: a string tensor with one serialized `SequenceExample`.
      context_feature_columns: iterable of columns of the context, or None.
      sequence_feature_columns: iterable of columns of the sequences, or None.
      name: name of the op.
      example_name: string tensor, name for error messages.

    Returns:
      `(context_features, sequence_features)`: two dicts of tensors by feature name.

    Raises:
      ValueError: if `serialized` is known to hold more than one string.
    """
    try:
        serialized = array_ops.reshape(serialized, [])
    except ValueError as error:
        raise ValueError(f"serialized must hold one sequence example; batch after parsing. Error: {error}")
    context_feature_columns = context_feature_columns or []
    sequence_feature_columns = sequence_feature_columns or []
    check_feature_columns(context_feature_columns)
    check_feature_columns(sequence_feature_columns)
    return parsing_ops.parse_single_sequence_example(
        serialized,
        fc.create_feature_spec_for_parsing(context_feature_columns),
        fc._create_sequence_feature_spec_for_parsing(sequence_feature_columns, allow_missing_by_default=False),
        example_name,
        name,
    )


def _log_variable(variable):
    for part in variable if isinstance(variable, list) else [variable]:
        if fc._is_variable(part):
            logging.info("Created variable %s, with device=%s", part.name, part.device)


def _infer_real_valued_column_for_tensor(name, tensor):
    if isinstance(tensor, sparse_tensor.SparseTensor):
        raise ValueError(f"Feature {name!r}: columns of sparse tensors cannot be inferred, define one: {tensor}")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(f"Feature {name!r}: columns of {tensor.dtype} cannot be inferred, define one: {tensor}")
    dimension = 1
    for size in tensor.get_shape().as_list()[1:]:
        dimension *= size
    return fc.real_valued_column(name, dimension=dimension, dtype=tensor.dtype)


def infer_real_valued_columns(features):
    """Number columns for a tensor, or for each of a dict of tensors.

    Raises:
      ValueError: for sparse tensors and those that hold no numbers.
    """
    if not isinstance(features, dict):
        return [_infer_real_valued_column_for_tensor("", features)]
    return [_infer_real_valued_column_for_tensor(name, tensor) for name, tensor in features.items()]


def check_feature_columns(feature_columns):
    """Raises ValueError if `feature_columns` is a dict, or two columns have one key."""
    if isinstance(feature_columns, dict):
        raise ValueError("feature_columns must be an iterable of columns, got a dict")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(f"Duplicate feature column key found for column: {column.name}. Drop one of the two.")
        seen.add(column.key)


class _Transformer:
    """Transforms each column once, into the dictionary it is given."""

    def __init__(self, columns_to_tensors):
        self._columns_to_tensors = columns_to_tensors

    def transform(self, feature_column):
        """The column's representation.

        Raises:
          ValueError: if the column did not supply one.
        """
        if feature_column not in self._columns_to_tensors:
            feature_column.insert_transformed_feature(self._columns_to_tensors)
        if feature_column not in self._columns_to_tensors:
            raise ValueError(f"Column {feature_column.name} is not supported.")
        return self._columns_to_tensors[feature_column]


def _add_variable_collection(weight_collections):
    if not weight_collections:
        return weight_collections
    return list({*weight_collections, ops.GraphKeys.GLOBAL_VARIABLES})


_SUPPORTED_SEQUENCE_COLUMNS = (
    fc._OneHotColumn,
    fc._EmbeddingColumn,
    fc._RealValuedColumn,
    fc._RealValuedVarLenColumn,
)
_FORBIDDEN_SEQUENCE_COLUMNS = (fc._ScatteredEmbeddingColumn, fc._BucketizedColumn, fc._CrossedColumn)


def _check_supported_sequence_columns(feature_columns):
    for column in feature_columns:
        if not isinstance(column, _SUPPORTED_SEQUENCE_COLUMNS):
            raise ValueError(f"Columns of type {type(column).__name__} are not supported for sequences.")


def _get_parent_columns(feature_column):
    if isinstance(feature_column, (fc._WeightedSparseColumn, fc._OneHotColumn, fc._EmbeddingColumn)):
        return (feature_column.sparse_id_column,)
    if isinstance(feature_column, fc._BucketizedColumn):
        return (feature_column.source_column,)
    return tuple(feature_column.columns) if isinstance(feature_column, fc._CrossedColumn) else ()


def _gather_feature_columns(feature_columns):
    """The columns and all they are made of."""
    gathered = list(feature_columns)
    for column in gathered:
        gathered.extend(parent for parent in _get_parent_columns(column) if parent not in gathered)
    return gathered


def _check_forbidden_sequence_columns(feature_columns):
    for column in _gather_feature_columns(feature_columns):
        if isinstance(column, _FORBIDDEN_SEQUENCE_COLUMNS):
            raise ValueError(
                f"Column {column.name} is of type {type(column).__name__}, which is not supported for sequences."
            )
