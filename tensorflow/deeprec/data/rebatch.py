"""Batches of another size: RebatchDataset, rebatch, rectify."""

from tensorflow.deeprec import library
from tensorflow.deeprec.data import arguments
from tensorflow.deeprec.data.dataframe import Value
from tensorflow.deeprec.data.field_search import as_field
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.data.util import nest, random_seed
from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_shape, tensor_spec
from tensorflow.python.ops import array_ops, math_ops
from tensorflow.python.platform import tf_logging as logging


class RebatchDataset(dataset_ops.UnaryDataset):
    """Batches of `batch_size` rows out of batches of any size, whatever files they come from.

    Rows are copied, but for a batch that has the size already. A row that waits to be drawn keeps the batch that it came with in memory.

    Args:
      input_dataset: batches: Tensors, Values, or dicts and tuples of them, all with rows along the first dimension.
      fields: names or Fields that the elements must have; None: none in particular.
      batch_size: rows of a batch, an int or a scalar Tensor; the last one may have fewer.
      drop_remainder: whether a last batch of fewer rows is left out.
      shuffle_buffer_size: rows to draw the next ones from, at least a batch; None or 0: rows keep their order.
      shuffle_seed: of the order; None: that of the graph, or another order each time.
      reshuffle_each_iteration: whether each iteration over this dataset has another order; None: yes.
      min_batch_size: rows that are enough where a batch of the input ends, so that rows of two are joined only where they must be; None:
        batch_size.

    Raises:
      TypeError: a component has no rows that can be batched; a number is no integer.
      ValueError: an argument is out of its range, or `fields` are not those of the elements.
    """

    def __init__(
        self,
        input_dataset,
        fields,
        batch_size,
        drop_remainder=False,
        shuffle_buffer_size=None,
        shuffle_seed=None,
        reshuffle_each_iteration=None,
        min_batch_size=None,
    ):
        self._input_dataset = input_dataset
        min_batch_size = batch_size if min_batch_size is None else min_batch_size
        arguments.check_at_least("batch_size", batch_size, 1)
        arguments.check_at_least("min_batch_size", min_batch_size, 1)
        arguments.check_at_least("shuffle_buffer_size", shuffle_buffer_size or 0, 0)
        if shuffle_seed is not None:
            arguments.check_at_least("shuffle_seed", shuffle_seed, -(2**63))
        spec = dataset_ops.get_structure(input_dataset)
        ranks = [_ragged_rank(component) for component in _components(spec)]
        if fields is not None:
            _check_fields(fields, spec)
        rows = batch_size if drop_remainder and min_batch_size is batch_size and isinstance(batch_size, int) else None
        self._element_spec = nest.pack_sequence_as(spec, [_resized(c, rows) for c in _flat_components(spec)])
        seed, seed2 = random_seed.get_seed(shuffle_seed)
        variant = library.ops().rebatch_columnar_dataset(
            input_dataset._variant_tensor,
            *(
                ops.convert_to_tensor(value, dtypes.int64)
                for value in (batch_size, min_batch_size, shuffle_buffer_size or 0, seed, seed2)
            ),
            drop_remainder=drop_remainder,
            reshuffle_each_iteration=True if reshuffle_each_iteration is None else reshuffle_each_iteration,
            field_ragged_ranks=ranks,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    @property
    def element_spec(self):
        return self._element_spec


def rebatch(batch_size, drop_remainder=False, fields=None, min_batch_size=None, num_parallel_scans=1, **kwargs):
    """A transformation, for `Dataset.apply`, into batches of another size; see RebatchDataset, whose other arguments it takes too.

    Args:
      num_parallel_scans: of HybridBackend 0.5 to 0.7; checked, and without effect: more than 1 is warned of.
    """
    arguments.check_at_least("num_parallel_scans", num_parallel_scans, 1)
    if num_parallel_scans != 1:
        logging.warning("rebatch: num_parallel_scans=%s has no effect: one thread joins the rows", num_parallel_scans)
    return lambda dataset: dataset_ops.DatasetV1Adapter(
        RebatchDataset(dataset, fields, batch_size, drop_remainder, min_batch_size=min_batch_size, **kwargs)
    )


def rectify(batch_size, shuffle_buffer_size=None, drop_remainder=False, **kwargs):
    """A transformation, for `Dataset.apply`, of batches with SparseTensors too into batches of another size; see RebatchDataset.

    The dense shape of a SparseTensor is the largest of those that its rows came with.
    """

    def apply(dataset):
        spec = dataset_ops.get_structure(dataset)
        dataset = dataset.map(lambda *batch: nest.map_structure(_by_rows, batch if len(batch) > 1 else batch[0]))
        dataset = RebatchDataset(
            dataset, None, batch_size, drop_remainder, shuffle_buffer_size=shuffle_buffer_size, **kwargs
        )

        def restore(*batch):
            flat = nest.flatten_up_to(spec, batch if len(batch) > 1 else batch[0])
            return nest.pack_sequence_as(spec, [_restored(c, rows) for c, rows in zip(nest.flatten(spec), flat)])

        return dataset_ops.DatasetV1Adapter(dataset.map(restore))

    return apply


def _by_rows(component):
    """A SparseTensor as two Values with a row each: the elements, the indices behind the row; and the dense shape in each row."""
    if not isinstance(component, sparse_tensor.SparseTensor):
        return component
    rows = component.dense_shape[0]
    splits = array_ops.searchsorted(component.indices[:, 0], math_ops.range(rows + 1), out_type=dtypes.int32)
    inner = array_ops.tile(component.dense_shape[None, 1:], [math_ops.cast(rows, dtypes.int32), 1])
    return (Value(component.values, (splits,)), Value(component.indices[:, 1:], (splits,)), inner)


def _restored(spec, component):
    if not isinstance(spec, sparse_tensor.SparseTensorSpec):
        return component
    values, inner_indices, inner_shapes = component
    splits = math_ops.cast(values.nested_row_splits[0], dtypes.int64)
    count = array_ops.shape(splits, out_type=dtypes.int64)[0] - 1
    rows = array_ops.repeat(math_ops.range(count), splits[1:] - splits[:-1])
    indices = array_ops.concat([rows[:, None], inner_indices.values], axis=1)
    shape = array_ops.concat([[count], math_ops.reduce_max(inner_shapes, axis=0)], axis=0)
    result = sparse_tensor.SparseTensor(indices, values.values, shape)
    result.set_shape(tensor_shape.TensorShape([None]).concatenate(spec.shape[1:]))
    return result


def _components(spec) -> list:
    """Components of an element in the order of its tensors; a Value is one."""
    if isinstance(spec, Value):
        return [spec]
    if isinstance(spec, dict):
        return [c for name in sorted(spec) for c in _components(spec[name])]
    if isinstance(spec, (list, tuple)):
        return [c for item in spec for c in _components(item)]
    return [spec]


def _flat_components(spec) -> list:
    """For each tensor its spec and whether its first dimension is the rows."""
    flat = []
    for component in _components(spec):
        if isinstance(component, Value):
            flat += [(tensor, False) for tensor in nest.flatten(component)]
        else:
            flat.append((component, True))
    return flat


def _ragged_rank(component) -> int:
    if isinstance(component, Value):
        return len(component.nested_row_splits)
    if not isinstance(component, tensor_spec.TensorSpec):
        raise TypeError(
            f"rows of {component} cannot be batched; rectify takes SparseTensors, rebatch Tensors and Values"
        )
    if component.shape.rank == 0:
        raise TypeError(f"a scalar has no rows to batch, got {component}; batch the dataset first")
    return 0


def _resized(component, rows):
    spec, has_rows = component
    if spec.shape.rank is None:
        return tensor_spec.TensorSpec(None, spec.dtype)
    return tensor_spec.TensorSpec(
        tensor_shape.TensorShape([rows if has_rows else None]).concatenate(spec.shape[1:]), spec.dtype
    )


def _check_fields(fields, spec) -> None:
    if not isinstance(spec, dict):
        raise ValueError(f"fields are given, so elements must be dicts by name, got {spec}")
    for field in map(as_field, fields):
        if field.name not in spec:
            raise ValueError(f"fields has {field.name!r}, but elements have {sorted(spec)}")
        found = _ragged_rank(spec[field.name])
        if field.ragged_rank is not None and field.ragged_rank != found:
            raise ValueError(
                f"field {field.name!r} has a ragged_rank of {field.ragged_rank}, elements have {found} row splits"
            )
