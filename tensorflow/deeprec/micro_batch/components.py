"""What one read of a `tf.data` iterator gives: its components, and how the rows of several reads are put together.

A component is dense, or a variant tensor that one op behind the iterator turns into the parts of a SparseTensor or a RaggedTensor. The
parts are what a program holds, and what is replaced.
"""

import functools

from tensorflow.deeprec import rewiring
from tensorflow.deeprec.micro_batch import padding
from tensorflow.python.framework import constant_op, dtypes, tensor_shape, tensor_util
from tensorflow.python.ops import array_ops, math_ops
from tensorflow.python.ops.ragged import ragged_concat_ops, ragged_tensor


def of(get_next) -> list:
    """The components of the op IteratorGetNext that can be joined; those that nothing reads in their coded form are left out.

    Raises:
      ValueError: a component has no rows, or a number of rows that the graph has baked in, or an unknown coded form.
    """
    found, known = [], _paddings(get_next)
    for index, output in enumerate(get_next.outputs):
        place = f"component {index} of {get_next.name!r}"
        if output.dtype != dtypes.variant:
            found.append(Dense(index, place, output, known.get(output.dtype)))
            continue
        for reader in output.consumers():
            if reader.type not in _DECODED:
                raise ValueError(
                    f"micro_batch_num: {place} must be dense, or read as a SparseTensor or a RaggedTensor right behind the "
                    f"iterator; got a variant that {reader.name!r} ({reader.type}) reads"
                )
            found.append(_DECODED[reader.type](index, place, reader))
    return found


class Dense:
    """A tensor whose first dimension are the rows."""

    def __init__(self, index: int, place: str, tensor, padding=None):
        """`index`: position among the outputs of the iterator; `place`: the component in errors; `tensor`: that output; `padding`:
        the value that makes rows of other sizes equal, if there is one."""
        self.index, self.parts = index, [tensor]
        self._padding = padding if _may_vary(tensor.shape) else None
        _check_rows(place, tensor.shape, f"a tensor of {tensor.dtype.name}")

    def decode(self, output) -> list:
        """The parts that `output`, the component of another read, holds."""
        return [output]

    def empty(self) -> list:
        """The parts of no rows."""
        return [self.parts[0][:0]]

    def join(self, reads: list) -> list:
        """The parts of the rows of all reads together, in their order."""
        tensors = [tensor for (tensor,) in reads]
        if self._padding is not None:
            widest = functools.reduce(math_ops.maximum, [array_ops.shape(tensor)[1:] for tensor in tensors])
            tensors = [_padded(tensor, widest, self._padding) for tensor in tensors]
        return [array_ops.concat(tensors, 0, name=f"component_{self.index}")]

    def shapes(self) -> list:
        """Static shapes of what `join` gives."""
        return [_free_rows(self.parts[0].shape)]


class Sparse(Dense):
    """Indices, values and dense shape; the rows are the first column of the indices."""

    def __init__(self, index: int, place: str, decoder):
        self.index, self.parts = index, list(decoder.outputs)
        self._type = decoder
        rows = _baked_rows(decoder)
        if rows is not None:
            _check_rows(place, tensor_shape.TensorShape([rows]), "a SparseTensor")

    def decode(self, output) -> list:
        return _again(self._type, output)

    def empty(self) -> list:
        indices, values, shape = self.parts
        return [indices[:0], values[:0], array_ops.concat([array_ops.zeros([1], dtypes.int64), shape[1:]], 0)]

    def join(self, reads: list) -> list:
        # Not by SparseConcat: that sorts what is not sorted yet, and a plain batch does not.
        shapes = [shape for _, _, shape in reads]
        row_column = array_ops.concat([array_ops.ones([1], dtypes.int64), array_ops.zeros_like(shapes[0][1:])], 0)
        indices, before = [reads[0][0]], None
        for (mine, _, _), shape in zip(reads[1:], shapes):
            rows = shape * row_column
            before = rows if before is None else before + rows
            indices.append(mine + before)
        widest, total = shapes[0], shapes[0][0]
        for shape in shapes[1:]:
            widest, total = math_ops.maximum(widest, shape), total + shape[0]
        values = [values for _, values, _ in reads]
        return [
            array_ops.concat(indices, 0),
            array_ops.concat(values, 0),
            array_ops.concat([[total], widest[1:]], 0),
        ]

    def shapes(self) -> list:
        return [_free_rows(tensor.shape) for tensor in self.parts[:2]] + [self.parts[2].shape]


class Ragged(Dense):
    """Row splits, from the outermost inwards, and flat values."""

    def __init__(self, index: int, place: str, decoder):
        self.index, self.parts = index, list(decoder.outputs)
        self._type = decoder
        outer = self.parts[0].shape
        if len(self.parts) > 1 and outer.rank is not None and outer.dims[0].value is not None:
            outer = tensor_shape.TensorShape([outer.dims[0].value - 1])
        _check_rows(place, outer, "a RaggedTensor")

    def decode(self, output) -> list:
        return _again(self._type, output)

    def empty(self) -> list:
        return [splits[:1] for splits in self.parts[:-1]] + [self.parts[-1][:0]]

    def join(self, reads: list) -> list:
        together = ragged_concat_ops.concat(
            [
                ragged_tensor.RaggedTensor.from_nested_row_splits(parts[-1], parts[:-1], validate=False)
                for parts in reads
            ],
            0,
        )
        if not self.parts[:-1]:
            return [together]
        return [*together.nested_row_splits, together.flat_values]

    def shapes(self) -> list:
        return [_free_rows(tensor.shape) for tensor in self.parts]


_DECODED = {"DeserializeSparse": Sparse, "RaggedTensorFromVariant": Ragged}


def _check_rows(place: str, shape, what: str) -> None:
    if shape.rank == 0:
        raise ValueError(
            f"micro_batch_num: {place} must have a first dimension that counts rows; got {what} without any: "
            "batch the dataset"
        )
    if shape.rank is not None and shape.dims[0].value is not None:
        raise ValueError(
            f"micro_batch_num: {place} must have an unknown number of rows, as ops behind it may have taken over a known one; got "
            f"{what} of {shape.dims[0].value} rows: batch without drop_remainder"
        )


def _may_vary(shape) -> bool:
    """Whether rows of one read may be of another size than those of the next."""
    return shape.rank is not None and not shape[1:].is_fully_defined()


def _paddings(get_next) -> dict:
    return padding.values(get_next.graph) if any(_may_vary(output.shape) for output in get_next.outputs) else {}


def _padded(tensor, sizes, value):
    """The rows, each of the sizes `sizes`."""
    missing = array_ops.concat([[0], sizes - array_ops.shape(tensor)[1:]], 0)
    amounts = array_ops.stack([array_ops.zeros_like(missing), missing], 1)
    return array_ops.pad(tensor, amounts, constant_values=constant_op.constant(value, tensor.dtype))


def _free_rows(shape):
    return shape if shape.rank is None else tensor_shape.TensorShape([None]).concatenate(shape[1:])


def _again(decoder, output) -> list:
    """The outputs of an op like `decoder` on another variant tensor."""
    copy = rewiring.copy_of(decoder, [output], decoder.type)
    for mine, tensor in zip(copy.outputs, decoder.outputs):
        mine.set_shape(_free_rows(tensor.shape))
    return list(copy.outputs)


def _baked_rows(decoder):
    """The number of rows that tf.data has written into the graph in place of the one that DeserializeSparse gives, or None."""
    for reader in decoder.outputs[2].consumers():
        # Of sizes of which some are known, tf.data takes the dense shape apart and puts it together with them.
        if reader.type == "Unpack" and not reader.outputs[0].consumers():
            for pack in (pack for size in reader.outputs for pack in size.consumers() if pack.type == "Pack"):
                if pack.inputs[0].op.type == "Const":
                    return int(tensor_util.constant_value(pack.inputs[0]))
    if decoder.outputs[2].consumers():
        return None
    # Of sizes that are all known, it makes a constant right behind the op.
    operations = decoder.graph.get_operations()
    following = operations[operations.index(decoder) + 1 :][:1]
    if following and following[0].type == "Const" and following[0].name.rsplit("/", 1)[-1].startswith("shape"):
        value = tensor_util.constant_value(following[0].outputs[0])
        if value.dtype.name == "int64" and value.ndim == 1 and len(value):
            return int(value[0])
    return None
