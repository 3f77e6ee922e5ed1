"""Text and serialized lists to tensors."""

from tensorflow.deeprec import library
from tensorflow.python.framework import dtypes, ops, sparse_tensor

# As many columns as the largest id needs.
_AS_NEEDED = -1048575


def string_split_and_pad(input, max_length, delimiter=" ", default_value="</s>", name=None):  # noqa: A002
    """The first `max_length` fields of each string, as a matrix.

    Args:
      input: `[rows]` strings.
      max_length: int64 scalar: number of columns.
      delimiter: string scalar; each of its characters ends a field, empty fields do not count. If it is empty, each byte is a
        field.
      default_value: string scalar that fills rows with fewer fields.
      name: name of the op.

    Returns:
      `[rows, max_length]` strings.

    Raises:
      ValueError: input is no vector.
      tf.errors.InvalidArgumentError: max_length is negative.
    """
    return library.ops().string_split_and_pad(input, delimiter, max_length, default_value, name=name)


def string_to_hash(input, hash_type="farm", allow_neg=True, num_buckets=0, name=None):  # noqa: A002
    """Hashes strings.

    Args:
      input: strings of any shape.
      hash_type: "farm", the hash of `tf.strings.to_hash_bucket_fast`, or "murmur", that of `tf.strings.to_hash_bucket`
        (MurmurHash64A with TensorFlow's seed).
      allow_neg: whether the result is all 64 bits, of which the highest is the sign, and not the lower 63.
      num_buckets: if positive, results are in `[0, num_buckets)`: the unsigned hash modulo num_buckets.
      name: name of the op.

    Returns:
      int64 of the shape of `input`.

    Raises:
      ValueError: hash_type is unknown, or num_buckets negative.
    """
    return library.ops().string_to_hash(
        input, hash_type=hash_type, allow_neg=allow_neg, num_buckets=num_buckets, name=name
    )


def string_to_hash64(input, name=None):  # noqa: A002
    """The 64 bits of which `tf.strings.to_hash_bucket_fast` gives the remainder, as int64 of the shape of `input`."""
    return library.ops().string_to_hash64(input, name=name)


def trans_csv_id2sparse(
    records, max_id, id_as_value=True, field_delim=",", default_value=1, dtype=dtypes.int64, name=None
):
    """Lists of ids, such as "2,10", as rows of a SparseTensor with an entry at each id.

    Args:
      records: `[rows]` strings. Blanks around ids do not count; an empty string is a row without ids.
      max_id: int64 scalar: number of columns, more than any id; None for as many as the largest id needs.
      id_as_value: whether the value of an entry is its id.
      field_delim: one character that is no part of a number and no colon. If it is a blank, several count as one.
      default_value: value of entries unless `id_as_value`.
      dtype: of the values: int32, int64, float32 or float64.
      name: name of the op.

    Returns:
      SparseTensor `[rows, max_id]`; ids of a row in order. An id that stands there twice has two entries.

    Raises:
      ValueError: an argument cannot be that of the op.
      tf.errors.InvalidArgumentError: a record is no list of ids, or an id is not in `[0, max_id)`.
    """
    return sparse_tensor.SparseTensor(
        *library.ops().trans_csv_id2_sparse(
            records,
            _columns(max_id),
            ops.convert_to_tensor(default_value, dtype),
            id_as_value=id_as_value,
            field_delim=field_delim,
            name=name,
        )
    )


def trans_csv_id2dense(
    records, max_id, id_as_value=False, field_delim=",", default_value=1, dtype=dtypes.int64, name=None
):
    """`trans_csv_id2sparse` as a matrix, `[rows, max_id]` of `dtype`: `default_value` at each id, or the id; 0 elsewhere."""
    return library.ops().trans_csv_id2_dense(
        records,
        _columns(max_id),
        ops.convert_to_tensor(default_value, dtype),
        id_as_value=id_as_value,
        field_delim=field_delim,
        name=name,
    )


def trans_csv_kv2sparse(records, max_id, field_delim=",", dtype=dtypes.float32, name=None):
    """Lists of pairs id:value, such as "2:0.5,10:1", as rows of a SparseTensor `[rows, max_id]` of `dtype`.

    For arguments and errors see `trans_csv_id2sparse`.
    """
    return sparse_tensor.SparseTensor(
        *library.ops().trans_csv_kv2_sparse(records, _columns(max_id), T=dtype, field_delim=field_delim, name=name)
    )


def trans_csv_kv2dense(records, max_id, field_delim=",", dtype=dtypes.float32, name=None):
    """`trans_csv_kv2sparse` as a matrix, `[rows, max_id]`; 0 where there is no id. Of an id that is there twice, the last
    value counts."""
    return library.ops().trans_csv_kv2_dense(records, _columns(max_id), T=dtype, field_delim=field_delim, name=name)


def trans_csv_to_dense(records, max_id, field_delim=",", dtype=dtypes.float32, name=None):
    """Lists of numbers, such as "0.2,-1e3", as rows of a matrix `[rows, max_id]` of `dtype`, from the left; the rest is 0.

    For arguments and errors see `trans_csv_id2sparse`; a record with more than `max_id` numbers is an error.
    """
    return library.ops().trans_csv_to_dense(records, _columns(max_id), T=dtype, field_delim=field_delim, name=name)


def sparse_decode(input, max_id, name=None):  # noqa: A002
    """Serialized `tf.train.Int64List` messages of ids as rows of an int64 SparseTensor `[rows, max_id]`, its id at each.

    Args:
      input: `[rows]` strings.
      max_id: as for `trans_csv_id2sparse`.
      name: name of the op.

    Returns:
      SparseTensor `[rows, max_id]` of int64; ids of a row in order.

    Raises:
      tf.errors.InvalidArgumentError: a string is no such message, or an id is not in `[0, max_id)`.
    """
    return sparse_tensor.SparseTensor(*library.ops().sparse_decode(input, _columns(max_id), name=name))


def kv2sparse_decode(input, max_id, name=None):  # noqa: A002
    """Serialized messages of ids (field 1, repeated int64) and as many values (field 2, repeated float) as rows of a float32
    SparseTensor `[rows, max_id]`. For arguments and errors see `sparse_decode`."""
    return sparse_tensor.SparseTensor(*library.ops().kv2_sparse_decode(input, _columns(max_id), name=name))


def kv2dense_decode(input, max_id, name=None):  # noqa: A002
    """`kv2sparse_decode` as rows one behind the other: float32 `[rows * max_id]`, 0 where there is no id."""
    return library.ops().kv2_dense_decode(input, _columns(max_id), name=name)


def dense_decode(input, dtype=dtypes.float32, name=None):  # noqa: A002
    """Serialized lists of one length, one behind the other.

    Args:
      input: `[rows]` strings: `tf.train.FloatList` messages, or the same with int32.
      dtype: float32 or int32.
      name: name of the op.

    Returns:
      `[rows * length]` of `dtype`.

    Raises:
      tf.errors.InvalidArgumentError: a string is no such message, or of another length than the first.
    """
    return library.ops().dense_decode(input, T=dtype, name=name)


def _columns(max_id):
    return _AS_NEEDED if max_id is None else max_id
