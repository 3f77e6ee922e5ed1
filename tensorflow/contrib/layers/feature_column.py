"""Legacy feature columns: descriptions of features that layers, linear models and the old estimators turn into tensors.

A column is an immutable tuple of its settings, so columns with equal settings are one column. Its `key` is the text of these
settings; builders visit columns in the order of their keys, and so variable names and the order of inputs follow from it. For this reason
class names and the order of fields are those of TF 1.15.

How a column becomes a tensor:

    insert_transformed_feature   raw features -> the column's own representation (ids, buckets, crosses), once per dictionary
    _wide_embedding_lookup_arguments / _to_dense_tensor    that -> what a linear model needs
    _deep_embedding_lookup_arguments / _to_dnn_input_layer    that -> what a network's first layer needs
"""

import abc
import collections
import math

from tensorflow.contrib.framework import checkpoint_utils
from tensorflow.contrib.framework import experimental as experimental_lib
from tensorflow.contrib.framework import variables as contrib_variables
from tensorflow.contrib.layers import bucketization_op, embedding_ops, layers, sparse_feature_cross_op
from tensorflow.contrib.layers import sparse_ops as contrib_sparse_ops
from tensorflow.contrib.lookup import lookup_ops as lookup
from tensorflow.deeprec.embedding import tables
from tensorflow.python.feature_column import feature_column as fc_core
from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_shape
from tensorflow.python.ops import (
    array_ops,
    array_ops_stack,
    init_ops,
    math_ops,
    parsing_ops,
    resource_variable_ops,
    sparse_ops,
    string_ops,
    variables,
)
from tensorflow.python.platform import tf_logging as logging

InputLayer = fc_core.InputLayer
experimental = experimental_lib.experimental

_LinearEmbeddingLookupArguments = collections.namedtuple(
    "_LinearEmbeddingLookupArguments", ["input_tensor", "weight_tensor", "vocab_size", "initializer", "combiner"]
)
_DeepEmbeddingLookupArguments = collections.namedtuple(
    "_DeepEmbeddingLookupArguments",
    [
        "input_tensor",
        "weight_tensor",
        "vocab_size",
        "initializer",
        "combiner",
        "dimension",
        "shared_embedding_name",
        "hash_key",
        "max_norm",
        "trainable",
    ],
)
_SparseIdLookupConfigFields = collections.namedtuple(
    "_SparseIdLookupConfig", ["vocabulary_file", "keys", "num_oov_buckets", "vocab_size", "default_value"]
)


class _SparseIdLookupConfig(_SparseIdLookupConfigFields):
    """How a sparse column finds the id of a value: by a file or by keys."""

    def __new__(cls, vocabulary_file=None, keys=None, num_oov_buckets=0, vocab_size=None, default_value=-1):
        return super().__new__(cls, vocabulary_file, keys, num_oov_buckets, vocab_size, default_value)


class _FeatureColumn(metaclass=abc.ABCMeta):
    """A feature, or a set of features made from others."""

    @property
    @abc.abstractmethod
    def name(self):
        """Name of the column, or of what it makes of another."""

    @property
    @abc.abstractmethod
    def config(self):
        """Base feature name -> how `tf.parse_example` shall read it."""

    @property
    def key(self):
        """Text by which columns are sorted and told apart."""
        return f"{self}"

    @abc.abstractmethod
    def insert_transformed_feature(self, columns_to_tensors):
        """Adds this column's representation to a dictionary of features (by name) and transformed columns (by column)."""

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        raise ValueError(f"Column {self} has no representation for a network's first layer.")

    def _deep_embedding_lookup_arguments(self, input_tensor):
        raise NotImplementedError(f"Column {self} is not looked up in an embedding.")

    def _wide_embedding_lookup_arguments(self, input_tensor):
        raise NotImplementedError(f"Column {self} is not looked up in a table of weights.")

    def _to_dense_tensor(self, input_tensor):
        raise NotImplementedError(f"Column {self} has no dense representation.")

    def _checkpoint_path(self):
        """None, or (checkpoint, name of a tensor in it) to start from."""
        return None

    def _key_without_properties(self, properties):
        """The key without fields that are functions, whose text differs from run to run."""
        fields = ", ".join(f"{k}={v}" for k, v in zip(self._fields, self) if k not in properties)
        return f"{type(self).__name__}({fields})"


class _IdColumn(_FeatureColumn, fc_core._CategoricalColumn):
    """What columns of ids have in common: how core's layers and linear models see them."""

    @property
    def _parse_example_spec(self):
        return self.config

    @property
    def _num_buckets(self):
        return self.length

    def id_tensor(self, input_tensor):
        """The ids in this column's representation."""
        return input_tensor

    def weight_tensor(self, input_tensor):
        """The weights in this column's representation, or None."""
        return None

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        input_tensor = inputs.get(self)
        return fc_core._CategoricalColumn.IdWeightPair(self.id_tensor(input_tensor), self.weight_tensor(input_tensor))

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        raise ValueError(
            f"{type(self).__name__} is not supported in a network: use embedding_column or one_hot_column. column: {self}"
        )

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return _LinearEmbeddingLookupArguments(
            input_tensor=self.id_tensor(input_tensor),
            weight_tensor=self.weight_tensor(input_tensor),
            vocab_size=self.length,
            initializer=init_ops.zeros_initializer(),
            combiner=self.combiner,
        )


_SparseColumnFields = collections.namedtuple(
    "_SparseColumn", ["column_name", "is_integerized", "bucket_size", "lookup_config", "combiner", "dtype"]
)


class _SparseColumn(_IdColumn, _SparseColumnFields):
    """A categorical feature: strings or integers, any number of them in an example."""

    def __new__(
        cls,
        column_name,
        is_integerized=False,
        bucket_size=None,
        lookup_config=None,
        combiner="sum",
        dtype=dtypes.string,
    ):
        where = f"column_name: {column_name}"
        if is_integerized and bucket_size is None:
            raise ValueError(f"bucket_size must be set if is_integerized is True. {where}")
        if is_integerized and not dtype.is_integer:
            raise ValueError(f"dtype must be an integer if is_integerized is True, got {dtype}. {where}")
        if dtype != dtypes.string and not dtype.is_integer:
            raise ValueError(f"dtype must be string or integer, got {dtype}. {where}")
        if (bucket_size is None) == (not lookup_config):
            raise ValueError(f"one and only one of bucket_size and lookup_config must be set. {where}")
        if bucket_size is not None and bucket_size < 1:
            raise ValueError(f"bucket_size must be at least 1, got {bucket_size}. {where}")
        if lookup_config and not isinstance(lookup_config, _SparseIdLookupConfig):
            raise TypeError(f"lookup_config must be a _SparseIdLookupConfig, got {type(lookup_config)}. {where}")
        if lookup_config and lookup_config.vocabulary_file and lookup_config.vocab_size is None:
            raise ValueError(f"vocab_size must be defined. {where}")
        return super().__new__(cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype)

    @property
    def name(self):
        return self.column_name

    @property
    def length(self):
        """Number of ids."""
        if self.bucket_size is not None:
            return self.bucket_size
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    @property
    def config(self):
        return {self.column_name: parsing_ops.VarLenFeature(self.dtype)}

    def _get_input_sparse_tensor(self, input_tensor):
        if isinstance(input_tensor, sparse_tensor.SparseTensor):
            return input_tensor
        # Of a dense feature, "" and -1 count as absent; 0 is a fine id.
        ignored = "" if input_tensor.dtype == dtypes.string else -1
        return contrib_sparse_ops.dense_to_sparse_tensor(
            _reshape_real_valued_tensor(input_tensor, 2, self.name), ignore_value=ignored
        )

    def is_compatible(self, other_column):
        """Whether two columns may share an embedding."""
        if self.lookup_config and other_column.lookup_config:
            return self.lookup_config == other_column.lookup_config
        same_type = self.dtype == other_column.dtype or (self.dtype.is_integer and other_column.dtype.is_integer)
        compatible = self.length == other_column.length and same_type
        if compatible:
            logging.warning("Columns %s and %s may not have the same vocabulary.", self.name, other_column.name)
        return compatible

    @abc.abstractmethod
    def _do_transform(self, input_tensor):
        """A SparseTensor of values -> one of ids."""

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self._do_transform(self._get_input_sparse_tensor(columns_to_tensors[self.name]))

    def _transform_feature(self, inputs):
        return self._do_transform(self._get_input_sparse_tensor(inputs.get(self.name)))


def _with_values(tensor, values):
    return sparse_tensor.SparseTensor(tensor.indices, values, tensor.dense_shape)


class _SparseColumnIntegerized(_SparseColumn):
    """See `sparse_column_with_integerized_feature`."""

    def _do_transform(self, input_tensor):
        return _with_values(input_tensor, math_ops.mod(input_tensor.values, self.bucket_size, name="mod"))


def sparse_column_with_integerized_feature(column_name, bucket_size, combiner="sum", dtype=dtypes.int64):
    """A categorical feature whose integers are the ids.

    Args:
      column_name: name of the feature.
      bucket_size: number of ids; larger values are taken modulo this.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      dtype: an integer type.

    Returns:
      A sparse column.

    Raises:
      ValueError: if `bucket_size` is below 1, or `dtype` not an integer.
    """
    return _SparseColumnIntegerized(
        column_name, is_integerized=True, bucket_size=bucket_size, combiner=combiner, dtype=dtype
    )


class _SparseColumnHashed(_SparseColumn):
    """See `sparse_column_with_hash_bucket`."""

    def __new__(
        cls,
        column_name,
        is_integerized=False,
        bucket_size=None,
        lookup_config=None,
        combiner="sum",
        dtype=dtypes.string,
        hash_keys=None,
    ):
        if hash_keys is not None:
            if not isinstance(hash_keys, list) or not hash_keys:
                raise ValueError(f"hash_keys must be a non-empty list, got {hash_keys!r}")
            for pair in hash_keys:
                if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(k, int) for k in pair):
                    raise ValueError(f"Each element of hash_keys must be a pair of integers, got {pair!r}")
        column = super().__new__(cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype)
        # Not a field: it is no part of the key.
        column.hash_keys = hash_keys
        return column

    def _do_transform(self, input_tensor):
        values = input_tensor.values
        if self.dtype.is_integer:
            values = string_ops.as_string(values)
        if not self.hash_keys:
            return _with_values(
                input_tensor, string_ops.string_to_hash_bucket_fast(values, self.bucket_size, name="lookup")
            )
        hashed = [
            _with_values(input_tensor, string_ops.string_to_hash_bucket_strong(values, self.bucket_size, key))
            for key in self.hash_keys
        ]
        return sparse_ops.sparse_concat(axis=1, sp_inputs=hashed, name="lookup")


def sparse_column_with_hash_bucket(column_name, hash_bucket_size, combiner="sum", dtype=dtypes.string, hash_keys=None):
    """A categorical feature whose values are hashed to ids.

    Args:
      column_name: name of the feature.
      hash_bucket_size: number of ids.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      dtype: string or an integer type, of which the decimal text is hashed.
      hash_keys: list of pairs of integers; each gives one more id by a strong hash. None: one id by a fast hash.

    Returns:
      A sparse column.

    Raises:
      ValueError: if `hash_bucket_size` is below 1, `dtype` neither string nor integer, or `hash_keys` malformed.
    """
    return _SparseColumnHashed(
        column_name, bucket_size=hash_bucket_size, combiner=combiner, dtype=dtype, hash_keys=hash_keys
    )


class _SparseColumnKeys(_SparseColumn):
    """See `sparse_column_with_keys`."""

    def _do_transform(self, input_tensor):
        table = lookup.index_table_from_tensor(
            mapping=tuple(self.lookup_config.keys),
            default_value=self.lookup_config.default_value,
            dtype=self.dtype,
            name="lookup",
        )
        return table.lookup(input_tensor)


def sparse_column_with_keys(column_name, keys, default_value=-1, combiner="sum", dtype=dtypes.string):
    """A categorical feature whose ids are positions in `keys`.

    Args:
      column_name: name of the feature.
      keys: the vocabulary; list or tuple.
      default_value: id of values that are not in it.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      dtype: string or an integer type.

    Returns:
      A sparse column.
    """
    keys = tuple(keys)
    config = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return _SparseColumnKeys(column_name, lookup_config=config, combiner=combiner, dtype=dtype)


class _SparseColumnVocabulary(_SparseColumn):
    """See `sparse_column_with_vocabulary_file`."""

    def _do_transform(self, input_tensor):
        if self.dtype.is_integer:
            input_tensor = _with_values(input_tensor, string_ops.as_string(input_tensor.values))
        table = lookup.index_table_from_file(
            vocabulary_file=self.lookup_config.vocabulary_file,
            num_oov_buckets=self.lookup_config.num_oov_buckets,
            vocab_size=self.lookup_config.vocab_size,
            default_value=self.lookup_config.default_value,
            name=self.name + "_lookup",
        )
        return table.lookup(input_tensor)


def sparse_column_with_vocabulary_file(
    column_name,
    vocabulary_file,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=-1,
    combiner="sum",
    dtype=dtypes.string,
):
    """A categorical feature whose ids are line numbers of a file.

    Args:
      column_name: name of the feature.
      vocabulary_file: path of the file, one value a line.
      num_oov_buckets: number of further ids over which other values are hashed.
      vocab_size: number of lines that are used.
      default_value: id of other values if `num_oov_buckets` is 0.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      dtype: string or an integer type.

    Returns:
      A sparse column.

    Raises:
      ValueError: if `vocab_size` is missing, or `dtype` neither string nor integer.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size must be given. column_name: {column_name}")
    config = _SparseIdLookupConfig(
        vocabulary_file=vocabulary_file,
        num_oov_buckets=num_oov_buckets,
        vocab_size=vocab_size,
        default_value=default_value,
    )
    return _SparseColumnVocabulary(column_name, lookup_config=config, combiner=combiner, dtype=dtype)


_WeightedSparseColumnFields = collections.namedtuple(
    "_WeightedSparseColumn", ["sparse_id_column", "weight_column_name", "dtype"]
)


class _WeightedSparseColumn(_IdColumn, _WeightedSparseColumnFields):
    """See `weighted_sparse_column`."""

    @property
    def name(self):
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self):
        """Number of ids."""
        return self.sparse_id_column.length

    @property
    def combiner(self):
        return self.sparse_id_column.combiner

    @property
    def config(self):
        config = _get_feature_config(self.sparse_id_column)
        config[self.weight_column_name] = parsing_ops.VarLenFeature(self.dtype)
        return config

    @property
    def lookup_config(self):
        return self.sparse_id_column.lookup_config

    def id_tensor(self, input_tensor):
        return input_tensor[0]

    def weight_tensor(self, input_tensor):
        return input_tensor[1]

    def _do_transform(self, ids, weights):
        if not isinstance(weights, sparse_tensor.SparseTensor):
            weights = contrib_sparse_ops.dense_to_sparse_tensor(weights)
        if not self.dtype.is_floating:
            weights = math_ops.cast(weights, dtypes.float32)
        return ids, weights

    def insert_transformed_feature(self, columns_to_tensors):
        inputs = _LazyBuilderByColumnsToTensor(columns_to_tensors)
        columns_to_tensors[self] = self._transform_feature(inputs)

    def _transform_feature(self, inputs):
        return self._do_transform(inputs.get(self.sparse_id_column), inputs.get(self.weight_column_name))

    def is_compatible(self, other_column):
        """Whether two columns may share an embedding."""
        if isinstance(other_column, _WeightedSparseColumn):
            other_column = other_column.sparse_id_column
        return self.sparse_id_column.is_compatible(other_column)


def weighted_sparse_column(sparse_id_column, weight_column_name, dtype=dtypes.float32):
    """A sparse column whose ids have weights.

    Args:
      sparse_id_column: a sparse column.
      weight_column_name: name of a feature that holds one weight for each value of `sparse_id_column`, in the same places.
      dtype: type of the weights, a float or integer type.

    Returns:
      A column of ids and weights.

    Raises:
      ValueError: if `dtype` is no number type.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float, got {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)


class _OneHotColumn(
    _FeatureColumn, fc_core._DenseColumn, collections.namedtuple("_OneHotColumn", ["sparse_id_column"])
):
    """See `one_hot_column`."""

    @property
    def name(self):
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self):
        """Number of ids."""
        return self.sparse_id_column.length

    @property
    def config(self):
        return _get_feature_config(self.sparse_id_column)

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = _LazyBuilderByColumnsToTensor(columns_to_tensors).get(self.sparse_id_column)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=False, output_rank=2):
        ids = layers._inner_flatten(self.sparse_id_column.id_tensor(input_tensor), output_rank)
        weights = self.sparse_id_column.weight_tensor(input_tensor)
        if weights is not None:
            return self._weighted(ids, weights)
        dense_ids = sparse_ops.sparse_tensor_to_dense(ids, default_value=-1)
        one_hot = array_ops.one_hot(dense_ids, depth=self.length, on_value=1.0, off_value=0.0)
        return math_ops.reduce_sum(one_hot, axis=[output_rank - 1])

    def _weighted(self, ids, weights):
        merged = sparse_ops.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
        # Drops entries whose id is -1.
        merged = sparse_ops.sparse_slice(merged, array_ops.zeros_like(merged.dense_shape), merged.dense_shape)
        dense = sparse_ops.sparse_tensor_to_dense(merged)
        return array_ops.reshape(dense, array_ops.concat([array_ops.shape(dense)[:-1], [self.length]], axis=0))

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self.length])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return inputs.get(self)

    def _transform_feature(self, inputs):
        return self._to_dnn_input_layer(inputs.get(self.sparse_id_column))

    @property
    def _parse_example_spec(self):
        return self.config


class _EmbeddedColumn(_FeatureColumn, fc_core._DenseColumn):
    """What columns with an embedding have in common."""

    @property
    def key(self):
        return self._key_without_properties(["initializer"])

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        arguments = self._deep_embedding_lookup_arguments(inputs.get(self))
        return _embeddings_from_arguments(self, arguments, weight_collections, trainable)

    @property
    def _parse_example_spec(self):
        return self.config


_EmbeddingColumnFields = collections.namedtuple(
    "_EmbeddingColumn",
    [
        "sparse_id_column",
        "dimension",
        "combiner",
        "initializer",
        "ckpt_to_load_from",
        "tensor_name_in_ckpt",
        "shared_embedding_name",
        "shared_vocab_size",
        "max_norm",
        "trainable",
    ],
)


def _check_initializer(initializer, column_name):
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable, got {initializer!r}. column_name: {column_name}")


def _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt):
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "ckpt_to_load_from and tensor_name_in_ckpt must both be given or neither, "
            f"got {ckpt_to_load_from!r} and {tensor_name_in_ckpt!r}"
        )


class _EmbeddingColumn(_EmbeddedColumn, _EmbeddingColumnFields):
    """See `embedding_column` and `shared_embedding_columns`."""

    def __new__(
        cls,
        sparse_id_column,
        dimension,
        combiner="mean",
        initializer=None,
        ckpt_to_load_from=None,
        tensor_name_in_ckpt=None,
        shared_embedding_name=None,
        shared_vocab_size=None,
        max_norm=None,
        trainable=True,
    ):
        _check_initializer(initializer, sparse_id_column.name)
        _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        if initializer is None:
            # An embedding found by key has no number of ids.
            stddev = 1 / math.sqrt(dimension if table_source(sparse_id_column) else sparse_id_column.length)
            initializer = init_ops.truncated_normal_initializer(mean=0.0, stddev=stddev)
        return super().__new__(
            cls,
            sparse_id_column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            shared_vocab_size,
            max_norm,
            trainable,
        )

    @property
    def name(self):
        kind = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.sparse_id_column.name}_{kind}"

    @property
    def length(self):
        """Number of ids."""
        return self.sparse_id_column.length if self.shared_vocab_size is None else self.shared_vocab_size

    @property
    def config(self):
        return _get_feature_config(self.sparse_id_column)

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = _LazyBuilderByColumnsToTensor(columns_to_tensors).get(self.sparse_id_column)

    def _deep_embedding_lookup_arguments(self, input_tensor):
        return _DeepEmbeddingLookupArguments(
            input_tensor=self.sparse_id_column.id_tensor(input_tensor),
            weight_tensor=self.sparse_id_column.weight_tensor(input_tensor),
            vocab_size=self.length,
            dimension=self.dimension,
            initializer=self.initializer,
            combiner=self.combiner,
            shared_embedding_name=self.shared_embedding_name,
            hash_key=None,
            max_norm=self.max_norm,
            trainable=self.trainable,
        )

    def _checkpoint_path(self):
        return None if self.ckpt_to_load_from is None else (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def _wide_embedding_lookup_arguments(self, input_tensor):
        raise ValueError(f"Column {self} is not supported in linear models: use its sparse column.")

    def _transform_feature(self, inputs):
        return inputs.get(self.sparse_id_column)


def table_source(column):
    """The sparse column below weights and embeddings if it makes its own embedding, found by key; else None."""
    while column is not None and not hasattr(column, "table"):
        column = getattr(column, "sparse_id_column", None)
    return column


def _is_variable(v):
    return isinstance(v, (variables.Variable, resource_variable_ops.ResourceVariable))


def _shared_table(args, make):
    """The variable of a shared embedding, made once for each graph."""
    collection_name = "SHARED_EMBEDDING_COLLECTION_" + args.shared_embedding_name.upper()
    collection = ops.get_default_graph().get_collection_ref(collection_name)
    if not collection:
        collection.append(make(args.shared_embedding_name))
        return collection[0]
    if len(collection) > 1:
        raise ValueError(f"Collection {collection_name} must hold one variable, got {len(collection)}.")
    shape = [args.vocab_size, args.dimension]
    if tables.is_table(collection[0]):
        shape = [args.dimension]
        found = tables.parts_of(collection[0])[0].shape
    else:
        found = collection[0].get_shape()
    if found != shape:
        raise ValueError(
            f"The shared embedding {args.shared_embedding_name} exists with shape {found}, "
            f"but {shape} is needed: use another shared_embedding_name."
        )
    return collection[0]


def _embeddings_from_arguments(column, args, weight_collections, trainable, output_rank=2, blocknums=None):
    """Creates or finds a column's embedding and looks it up; a tensor of `output_rank`."""
    source = table_source(column)
    ids = layers._inner_flatten(args.input_tensor, output_rank)
    weights = None if args.weight_tensor is None else layers._inner_flatten(args.weight_tensor, output_rank)

    def make(name, shape=(args.vocab_size, args.dimension)):
        if source is not None:
            return source.table(
                name, args.dimension, args.initializer, trainable and args.trainable, weight_collections
            )
        return contrib_variables.model_variable(
            name=name,
            shape=list(shape),
            dtype=dtypes.float32,
            initializer=args.initializer,
            trainable=trainable and args.trainable,
            collections=weight_collections,
        )

    if args.hash_key:
        return embedding_ops.scattered_embedding_lookup_sparse(
            make("weights", [args.vocab_size]),
            ids,
            args.dimension,
            hash_key=args.hash_key,
            combiner=args.combiner,
            name="lookup",
        )
    embeddings = make("weights") if args.shared_embedding_name is None else _shared_table(args, make)
    if not tables.is_composite(embeddings):
        embeddings = [embeddings] if _is_variable(embeddings) else list(embeddings)
    elif column._checkpoint_path() is not None:
        raise ValueError(f"ckpt_to_load_from must be None for {column.name}, whose embedding has blocks.")
    _maybe_restore_from_checkpoint(column._checkpoint_path(), embeddings)
    return embedding_ops.safe_embedding_lookup_sparse(
        embeddings,
        ids,
        sparse_weights=weights,
        combiner=args.combiner,
        name=column.name + "weights",
        max_norm=args.max_norm,
        blocknums=blocknums,
    )


def _maybe_restore_from_checkpoint(checkpoint_path, variable):
    if checkpoint_path is not None:
        path, tensor_name = checkpoint_path
        checkpoint_utils.init_from_checkpoint(path, {tensor_name: variable[0] if len(variable) == 1 else variable})


def one_hot_column(sparse_id_column):
    """A sparse column as a multi-hot vector, for networks; its `combiner` does not matter.

    Raises:
      ValueError: if the column has no number of ids.
    """
    if table_source(sparse_id_column) is not None:
        raise ValueError(f"Column {sparse_id_column.name} has no number of ids: use embedding_column.")
    return _OneHotColumn(sparse_id_column)


def embedding_column(
    sparse_id_column,
    dimension,
    combiner="mean",
    initializer=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
    do_fusion=False,
):
    """A sparse column looked up in an embedding, for networks.

    Args:
      sparse_id_column: a sparse, weighted or crossed column; its `combiner` does not matter.
      dimension: size of an embedding.
      combiner: "mean", "sqrtn" or "sum": how several embeddings of an example are combined.
      initializer: of the table; default a truncated normal of standard deviation `1 / sqrt(number of ids)`.
      ckpt_to_load_from, tensor_name_in_ckpt: checkpoint, and tensor in it, from which the table starts.
      max_norm: l2 norm to which embeddings are clipped.
      trainable: whether the table is trained.
      do_fusion: whether the lookup may be one fused op; the result is the same.

    Returns:
      An embedding column.

    Raises:
      ValueError: if `initializer` is not callable, or only one of the checkpoint arguments is given.
    """
    column = _EmbeddingColumn(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm=max_norm,
        trainable=trainable,
    )
    column.do_fusion = bool(do_fusion)
    return column


def _shared_name(columns):
    """Name of a shared embedding; the order of the columns does not matter."""
    plain = sorted(c for c in columns if isinstance(c, _SparseColumn))
    weighted = sorted((c for c in columns if not isinstance(c, _SparseColumn)), key=lambda c: c.name)
    names = [column.name for column in plain + weighted]
    others = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return "_".join(names[:3]) + others + "_shared_embedding"


def shared_embedding_columns(
    sparse_id_columns,
    dimension,
    combiner="mean",
    shared_embedding_name=None,
    initializer=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
    do_fusion=False,
):
    """Several sparse columns looked up in one embedding.

    Args:
      sparse_id_columns: sparse or weighted columns with the same vocabulary.
      shared_embedding_name: name of the variable; made of the columns' names by default.
      dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable, do_fusion: as for
        `embedding_column`.

    Returns:
      A tuple of embedding columns (a list if there is one).

    Raises:
      TypeError: if `sparse_id_columns` is no sequence of sparse columns.
      ValueError: if it is empty, or the columns are not compatible.
    """
    if not isinstance(sparse_id_columns, collections.abc.Sequence) or isinstance(sparse_id_columns, str):
        raise TypeError(f"sparse_id_columns must be a list or tuple, got {type(sparse_id_columns)}")
    if not sparse_id_columns:
        raise ValueError("sparse_id_columns must have at least one element")
    for column in sparse_id_columns:
        if not isinstance(column, (_SparseColumn, _WeightedSparseColumn)):
            raise TypeError(f"sparse_id_columns must hold sparse or weighted columns, got {column}")

    def embedded(column, name, vocab_size=None):
        made = _EmbeddingColumn(
            column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            name,
            vocab_size,
            max_norm=max_norm,
            trainable=trainable,
        )
        made.do_fusion = bool(do_fusion)
        return made

    first, *others = sparse_id_columns
    if not others:
        return [embedded(first, shared_embedding_name)]
    for column in others:
        weighted_first = isinstance(first, _WeightedSparseColumn)
        if not (first.is_compatible(column) if weighted_first else column.is_compatible(first)):
            raise ValueError(f"sparse_id_columns are not compatible: {first} and {column}")
    name = shared_embedding_name or _shared_name(sparse_id_columns)
    return tuple(embedded(column, name, first.length) for column in sparse_id_columns)


_ScatteredEmbeddingColumnFields = collections.namedtuple(
    "_ScatteredEmbeddingColumn", ["column_name", "size", "dimension", "hash_key", "combiner", "initializer"]
)


class _ScatteredEmbeddingColumn(_EmbeddedColumn, _ScatteredEmbeddingColumnFields):
    """See `scattered_embedding_column`."""

    def __new__(cls, column_name, size, dimension, hash_key, combiner="sqrtn", initializer=None):
        _check_initializer(initializer, column_name)
        if initializer is None:
            initializer = init_ops.truncated_normal_initializer(mean=0.0, stddev=0.1)
        return super().__new__(cls, column_name, size, dimension, hash_key, combiner, initializer)

    @property
    def name(self):
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self):
        return {self.column_name: parsing_ops.VarLenFeature(dtypes.string)}

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = columns_to_tensors[self.column_name]

    def _deep_embedding_lookup_arguments(self, input_tensor):
        return _DeepEmbeddingLookupArguments(
            input_tensor=input_tensor,
            weight_tensor=None,
            vocab_size=self.size,
            initializer=self.initializer,
            combiner=self.combiner,
            dimension=self.dimension,
            shared_embedding_name=None,
            hash_key=self.hash_key,
            max_norm=None,
            trainable=True,
        )

    def _transform_feature(self, inputs):
        return inputs.get(self.column_name)


def scattered_embedding_column(column_name, size, dimension, hash_key, combiner="mean", initializer=None):
    """A string feature embedded by hashing each component into one vector of parameters.

    Args:
      column_name: name of the feature.
      size: number of parameters.
      dimension: size of an embedding.
      hash_key: key of FingerprintCat64, such as `tf.contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY`.
      combiner: "mean", "sqrtn" or "sum".
      initializer: of the parameters; default a truncated normal of standard deviation 0.1.

    Returns:
      A column.

    Raises:
      ValueError: if `size` or `dimension` is not positive, or `combiner` unknown.
    """
    if dimension < 1 or size < 1:
        raise ValueError(f"dimension and size must be above 0, got {dimension} and {size}. column_name: {column_name}")
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}. column_name: {column_name}"
        )
    return _ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)


def _reshape_real_valued_tensor(input_tensor, output_rank, column_name=None):
    """Brings a dense tensor to `output_rank`: adds a last dimension of 1, or joins the last ones.

    Raises:
      ValueError: if more than one dimension is missing.
    """
    rank = input_tensor.get_shape().ndims
    if rank is not None:
        if output_rank > rank + 1:
            raise ValueError(
                f"Column {column_name}: the feature has rank {rank}, expected {output_rank} "
                "(3 for sequences, 2 for other features)."
            )
        if output_rank == rank + 1:
            logging.warning("Column %s: rank %d is extended to %d.", column_name, rank, output_rank)
            return array_ops.expand_dims(input_tensor, -1, name="expand_dims")
        if output_rank == rank:
            return input_tensor
    return layers._inner_flatten(input_tensor, output_rank)


_RealValuedVarLenColumnFields = collections.namedtuple(
    "_RealValuedVarLenColumn", ["column_name", "default_value", "dtype", "normalizer", "is_sparse"]
)


class _RealValuedVarLenColumn(_FeatureColumn, _RealValuedVarLenColumnFields):
    """A number feature of any length; see `_real_valued_var_len_column`."""

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        if self.is_sparse:
            return {self.column_name: parsing_ops.VarLenFeature(self.dtype)}
        feature = parsing_ops.FixedLenSequenceFeature(
            [], self.dtype, allow_missing=True, default_value=self.default_value
        )
        return {self.column_name: feature}

    @property
    def key(self):
        return self._key_without_properties(["normalizer"])

    @property
    def normalizer_fn(self):
        """The function applied to values, or None."""
        return self.normalizer

    def _normalized_input_tensor(self, input_tensor):
        if self.normalizer is None:
            return input_tensor
        if self.is_sparse:
            return _with_values(input_tensor, self.normalizer(input_tensor.values))
        return self.normalizer(input_tensor)

    def insert_transformed_feature(self, columns_to_tensors):
        input_tensor = self._normalized_input_tensor(columns_to_tensors[self.name])
        columns_to_tensors[self] = math_ops.cast(input_tensor, dtypes.float32)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        return _reshape_real_valued_tensor(self._to_dense_tensor(input_tensor), output_rank, self.name)

    def _to_dense_tensor(self, input_tensor):
        if self.is_sparse:
            raise ValueError(f"is_sparse must be False for a dense tensor. column_name: {self.name}")
        return input_tensor


@experimental
def _real_valued_var_len_column(
    column_name, default_value=None, dtype=dtypes.float32, normalizer=None, is_sparse=False
):
    """A number feature of any length, for recurrent estimators: padded with `default_value`, or sparse."""
    where = f"column_name: {column_name}"
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"dtype must be convertible to float, got {dtype}. {where}")
    if default_value is None and not is_sparse:
        raise ValueError(f"default_value must be given if is_sparse is False. {where}")
    if isinstance(default_value, list):
        raise ValueError(f"default_value must be a scalar, got {default_value}. {where}")
    if default_value is not None:
        default_value = int(default_value) if dtype.is_integer else float(default_value)
    return _RealValuedVarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)


_RealValuedColumnFields = collections.namedtuple(
    "_RealValuedColumn", ["column_name", "dimension", "default_value", "dtype", "normalizer"]
)


class _RealValuedColumn(_FeatureColumn, fc_core._DenseColumn, _RealValuedColumnFields):
    """See `real_valued_column`."""

    def __new__(cls, column_name, dimension, default_value, dtype, normalizer):
        if default_value is not None:
            default_value = tuple(default_value)
        return super().__new__(cls, column_name, dimension, default_value, dtype, normalizer)

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        default_value = None if self.default_value is None else list(self.default_value)
        return {self.column_name: parsing_ops.FixedLenFeature([self.dimension], self.dtype, default_value)}

    @property
    def key(self):
        return self._key_without_properties(["normalizer"])

    @property
    def normalizer_fn(self):
        """The function applied to values, or None."""
        return self.normalizer

    def _normalized_input_tensor(self, input_tensor):
        return input_tensor if self.normalizer is None else self.normalizer(input_tensor)

    def insert_transformed_feature(self, columns_to_tensors):
        input_tensor = self._normalized_input_tensor(columns_to_tensors[self.name])
        columns_to_tensors[self] = math_ops.cast(input_tensor, dtypes.float32)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        input_tensor = math_ops.cast(self._to_dense_tensor(input_tensor), dtypes.float32)
        return _reshape_real_valued_tensor(input_tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor):
        return input_tensor

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return inputs.get(self)

    def _transform_feature(self, inputs):
        return math_ops.cast(self._normalized_input_tensor(inputs.get(self.name)), dtypes.float32)

    @property
    def _parse_example_spec(self):
        return self.config


def _default_values(default_value, dimension, dtype, where):
    """`default_value` as a list of `dimension` values of `dtype`."""
    values = default_value if isinstance(default_value, list) else [default_value] * dimension
    if len(values) != dimension:
        raise ValueError(f"default_value must have dimension ({dimension}) elements, got {default_value}. {where}")
    numbers = (int,) if dtype.is_integer else (int, float)
    if not all(isinstance(v, numbers) for v in values):
        raise TypeError(f"default_value must be compatible with dtype {dtype}, got {default_value}. {where}")
    return values if dtype.is_integer else [float(v) for v in values]


def real_valued_column(column_name, dimension=1, default_value=None, dtype=dtypes.float32, normalizer=None):
    """A number feature of fixed length.

    Args:
      column_name: name of the feature.
      dimension: number of values in an example.
      default_value: a number, or a list of `dimension` numbers, for examples without the feature; None: parsing such one fails.
      dtype: a float or integer type.
      normalizer: function of the parsed tensor `[batch, dimension]`, or None.

    Returns:
      A column.

    Raises:
      TypeError: if `dimension` is no int, or `default_value` not of `dtype`.
      ValueError: if `dimension` is not positive, `dtype` no number type, or `default_value` of another length.
    """
    where = f"column_name: {column_name}"
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer, got {dimension!r}. {where}")
    if dimension < 1:
        raise ValueError(f"dimension must be above 0, got {dimension}. {where}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float, got {dtype}. {where}")
    if default_value is not None:
        default_value = _default_values(default_value, dimension, dtype, where)
    return _RealValuedColumn(column_name, dimension, default_value, dtype, normalizer)


_BucketizedColumnFields = collections.namedtuple("_BucketizedColumn", ["source_column", "boundaries"])


class _BucketizedColumn(_FeatureColumn, fc_core._CategoricalColumn, fc_core._DenseColumn, _BucketizedColumnFields):
    """See `bucketized_column`."""

    def __new__(cls, source_column, boundaries):
        if not isinstance(source_column, _RealValuedColumn):
            raise TypeError(f"source_column must be made by real_valued_column, got {source_column}")
        if not isinstance(boundaries, (list, tuple)) or not boundaries:
            raise ValueError(f"boundaries must be a non-empty list or tuple, got {boundaries!r}")
        if any(a > b for a, b in zip(boundaries, boundaries[1:])):
            raise ValueError(f"boundaries must be sorted, got {boundaries}")
        # Equal boundaries count once.
        distinct = tuple(a for a, b in zip(boundaries, boundaries[1:]) if a != b) + (boundaries[-1],)
        return super().__new__(cls, source_column, distinct)

    @property
    def name(self):
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self):
        """Number of buckets of one value."""
        return len(self.boundaries) + 1

    @property
    def config(self):
        return self.source_column.config

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        if output_rank != 2:
            raise ValueError(f"A bucketized column supports output_rank 2 alone, got {output_rank}")
        buckets = math_ops.cast(input_tensor, dtypes.int64)
        one_hot = array_ops.one_hot(buckets, self.length, 1.0, 0.0, name="one_hot")
        return array_ops.reshape(one_hot, [-1, self.length * self.source_column.dimension], name="reshape")

    def to_sparse_tensor(self, input_tensor):
        """Buckets `[batch, dimension]` as a SparseTensor of ids; value i has the ids from `i * length` on."""
        dimension = self.source_column.dimension
        batch_size = array_ops.shape(input_tensor, name="shape")[0]
        flat = array_ops.reshape(input_tensor, [-1], name="reshape")
        rows = math_ops.range(0, batch_size)
        if dimension > 1:
            rows = array_ops.reshape(
                array_ops.tile(array_ops.expand_dims(rows, 1, name="expand_dims"), [1, dimension], name="tile"),
                [-1],
                name="reshape",
            )
            positions = array_ops.tile(math_ops.range(0, dimension), [batch_size], name="tile")
            flat = flat + self.length * positions
        else:
            positions = array_ops.zeros([batch_size], dtype=dtypes.int32, name="zeros")
        indices = math_ops.cast(array_ops.transpose(array_ops_stack.stack((rows, positions))), dtypes.int64)
        shape = math_ops.cast(array_ops_stack.stack([batch_size, dimension]), dtypes.int64)
        return sparse_tensor.SparseTensor(indices, flat, shape)

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return _LinearEmbeddingLookupArguments(
            input_tensor=self.to_sparse_tensor(input_tensor),
            weight_tensor=None,
            vocab_size=self._num_buckets,
            initializer=init_ops.zeros_initializer(),
            combiner="sum",
        )

    def _transform_feature(self, inputs):
        return bucketization_op.bucketize(
            inputs.get(self.source_column), boundaries=list(self.boundaries), name="bucketize"
        )

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self._transform_feature(_LazyBuilderByColumnsToTensor(columns_to_tensors))

    @property
    def _parse_example_spec(self):
        return self.config

    @property
    def _num_buckets(self):
        return self.length * self.source_column.dimension

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return fc_core._CategoricalColumn.IdWeightPair(self.to_sparse_tensor(inputs.get(self)), None)

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self._num_buckets])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self._to_dnn_input_layer(inputs.get(self), weight_collections, trainable)


def bucketized_column(source_column, boundaries):
    """A number feature cut into buckets.

    Args:
      source_column: made by `real_valued_column`.
      boundaries: sorted numbers; [a, b] makes the buckets below a, [a, b), and from b on.

    Returns:
      A column, of ids for linear models, one-hot for networks.

    Raises:
      TypeError: if `source_column` is another column.
      ValueError: if `boundaries` is empty or not sorted.
    """
    return _BucketizedColumn(source_column, boundaries)


_CrossedColumnFields = collections.namedtuple(
    "_CrossedColumn",
    ["columns", "hash_bucket_size", "hash_key", "combiner", "ckpt_to_load_from", "tensor_name_in_ckpt"],
)


class _CrossedColumn(_IdColumn, _CrossedColumnFields):
    """See `crossed_column`."""

    def __new__(
        cls, columns, hash_bucket_size, hash_key, combiner="sum", ckpt_to_load_from=None, tensor_name_in_ckpt=None
    ):
        for column in columns:
            if not isinstance(column, (_SparseColumn, _CrossedColumn, _BucketizedColumn)):
                raise TypeError(f"columns must hold sparse, crossed or bucketized columns, got {column}")
        if len(columns) < 2:
            raise ValueError(f"columns must contain at least 2 elements, got {columns}")
        if hash_bucket_size < 2:
            raise ValueError(f"hash_bucket_size must be at least 2, got {hash_bucket_size}")
        _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        ordered = tuple(sorted(columns, key=lambda column: column.name))
        return super().__new__(
            cls, ordered, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt
        )

    @property
    def name(self):
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def config(self):
        config = {}
        for column in self.columns:
            config.update(_get_feature_config(column))
        return config

    @property
    def length(self):
        """Number of ids."""
        return self.hash_bucket_size

    def _checkpoint_path(self):
        return None if self.ckpt_to_load_from is None else (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def _leaves(self):
        for column in self.columns:
            if isinstance(column, _CrossedColumn):
                yield from column._leaves()
            else:
                yield column

    def _transform_feature(self, inputs):
        # Of sparse columns the values are crossed, of bucketized ones the ids.
        features = [
            column.to_sparse_tensor(inputs.get(column))
            if isinstance(column, _BucketizedColumn)
            else inputs.get(column.name)
            for column in self._leaves()
        ]
        return sparse_feature_cross_op.sparse_feature_cross(
            features, hashed_output=True, num_buckets=self.hash_bucket_size, hash_key=self.hash_key, name="cross"
        )

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self._transform_feature(_LazyBuilderByColumnsToTensor(columns_to_tensors))


class _LazyBuilderByColumnsToTensor:
    """Transforms columns when they are first asked for."""

    def __init__(self, columns_to_tensors):
        self._columns_to_tensors = columns_to_tensors

    def get(self, key):
        """The feature of a name, or a column's representation."""
        if key not in self._columns_to_tensors:
            if isinstance(key, str):
                raise ValueError(f"The features lack {key!r}: they have {sorted(map(str, self._columns_to_tensors))}")
            if not isinstance(key, _FeatureColumn):
                raise TypeError(f"key must be a name or a feature column, got {key!r}")
            key.insert_transformed_feature(self._columns_to_tensors)
        return self._columns_to_tensors[key]


def crossed_column(
    columns, hash_bucket_size, combiner="sum", ckpt_to_load_from=None, tensor_name_in_ckpt=None, hash_key=None
):
    """The combinations of several categorical features, hashed to ids.

    Args:
      columns: two or more sparse, bucketized or crossed columns.
      hash_bucket_size: number of ids, above 1.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      ckpt_to_load_from, tensor_name_in_ckpt: checkpoint, and tensor in it, from which a linear model's weights start.
      hash_key: key of FingerprintCat64; None takes the older way of combining hashes.

    Returns:
      A sparse column.

    Raises:
      TypeError: if a column cannot be crossed.
      ValueError: if there are fewer than two columns, or ids.
    """
    return _CrossedColumn(
        columns,
        hash_bucket_size,
        hash_key,
        combiner=combiner,
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt,
    )


class DataFrameColumn(_FeatureColumn, collections.namedtuple("DataFrameColumn", ["column_name", "series"])):
    """A feature made from a series of a `tf.contrib.learn` DataFrame.

    Args:
      column_name: name of the column.
      series: the series; its base features are replaced by predefined ones already.
    """

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        return self.series.required_base_features()

    @property
    def key(self):
        """Text by which columns are sorted and told apart."""
        return self.name

    def insert_transformed_feature(self, columns_to_tensors):
        # Later builds from this dictionary reuse what the series makes now.
        columns_to_tensors[self] = self.series.build(columns_to_tensors)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        return _reshape_real_valued_tensor(math_ops.cast(input_tensor, dtypes.float32), output_rank, self.name)

    def _to_dense_tensor(self, input_tensor):
        return self._to_dnn_input_layer(input_tensor)


def _get_feature_config(feature_column):
    if not isinstance(feature_column, _FeatureColumn) or isinstance(feature_column, DataFrameColumn):
        raise TypeError(f"feature_columns must hold columns of tf.contrib.layers, got {feature_column}")
    return dict(feature_column.config)


def create_feature_spec_for_parsing(feature_columns):
    """How `tf.parse_example` shall read the features that columns need.

    Args:
      feature_columns: iterable of columns, or a dict with columns as values.

    Returns:
      dict: feature name -> `VarLenFeature`, `FixedLenFeature` or `FixedLenSequenceFeature`.
    """
    if isinstance(feature_columns, dict):
        feature_columns = feature_columns.values()
    features = {}
    for column in feature_columns:
        features.update(_get_feature_config(column))
    return features


def _create_sequence_feature_spec_for_parsing(sequence_feature_columns, allow_missing_by_default=False):
    """`create_feature_spec_for_parsing` for the sequences of a SequenceExample: fixed lengths become sequences.

    A sequence has no default value; a feature with one may be missing instead.

    Raises:
      TypeError: if a feature is of another kind than the columns of this module need.
    """
    spec = {}
    for key, feature in create_feature_spec_for_parsing(sequence_feature_columns).items():
        if isinstance(feature, parsing_ops.VarLenFeature):
            spec[key] = feature
        elif isinstance(feature, (parsing_ops.FixedLenFeature, parsing_ops.FixedLenSequenceFeature)):
            has_default = feature.default_value is not None
            if has_default:
                logging.warning("Default value %s of feature %s is not used.", feature.default_value, key)
            spec[key] = parsing_ops.FixedLenSequenceFeature(
                shape=feature.shape, dtype=feature.dtype, allow_missing=has_default or allow_missing_by_default
            )
        else:
            raise TypeError(f"Feature {key} is of a type that sequences do not support: {type(feature).__name__}")
    return spec


def make_place_holder_tensors_for_base_features(feature_columns):
    """Placeholders for the features that columns need.

    Args:
      feature_columns: iterable of columns.

    Returns:
      dict: feature name -> placeholder, sparse for `VarLenFeature`, else `[batch, dimension]`.
    """
    placeholders = {}
    for name, feature in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(feature, parsing_ops.VarLenFeature):
            placeholders[name] = array_ops.sparse_placeholder(feature.dtype, name=f"Placeholder_{name}")
        else:
            placeholders[name] = array_ops.placeholder(
                feature.dtype, shape=(None, feature.shape[0]), name=f"Placeholder_{name}"
            )
    return placeholders
