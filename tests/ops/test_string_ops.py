"""Text and serialized lists to tensors."""

import numpy as np
import pytest


def split(texts, delimiters, length, filler):
    rows = []
    for text in texts:
        fields, field = [], b""
        for byte in text + (delimiters[:1] or b""):
            byte = bytes([byte])
            if not delimiters:
                fields.append(byte)
            elif byte in [bytes([d]) for d in delimiters]:
                fields += [field] if field else []
                field = b""
            else:
                field += byte
        rows.append((fields + [filler] * length)[:length])
    return rows


@pytest.mark.parametrize("delimiter", [b",", b",;", b""])
@pytest.mark.parametrize("length", [0, 1, 4])
def test_split_and_pad_is_a_plain_split(tf, run, delimiter, length):
    random = np.random.RandomState(length)
    texts = [bytes(random.choice(list(b"ab,; "), random.randint(9))) for _ in range(200)]
    got = run(tf.string_split_and_pad(texts, length, delimiter=delimiter, default_value="-"))
    assert got.tolist() == split(texts, delimiter, length, b"-")


def test_split_and_pad_has_the_defaults_of_old(tf, run):
    values = tf.string_split_and_pad(["f1 f2", ""], max_length=3)
    assert values.shape.as_list() == [2, 3]
    assert run(values).tolist() == [[b"f1", b"f2", b"</s>"], [b"</s>"] * 3]
    assert run(tf.string_split_and_pad(tf.constant([], tf.string), 2)).shape == (0, 2)


def test_split_and_pad_refuses_what_is_no_vector_or_length(tf, run):
    with pytest.raises(ValueError, match="rank 1 but is rank 0"):
        tf.string_split_and_pad("f1,f2", max_length=4, delimiter=",")
    with pytest.raises(ValueError, match="rank 0 but is rank 1"):
        tf.string_split_and_pad(["f1"], max_length=[4])
    length = tf.placeholder(tf.int64, [])
    for bad, message in (
        (-1, "max_length must not be negative, got -1"),
        (2**62, "overflow|too many|exceed|2\\^63|large"),
    ):
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError), match=message):
            run(tf.string_split_and_pad(["a"] * 8, length), {length: bad})


def test_farm_hash_is_that_of_the_buckets(tf, run):
    from tensorflow.python.ops import string_ops

    texts = [f"text {i}" for i in range(300)] + [""]
    hashes, again, buckets, bucketed = run(
        [
            string_ops.string_to_hash(texts),
            string_ops.string_to_hash64(texts),
            tf.strings.to_hash_bucket_fast(texts, 1000),
            string_ops.string_to_hash(texts, num_buckets=1000),
        ]
    )
    assert hashes.dtype == np.int64 and (hashes < 0).any() and (hashes > 0).any()
    assert (hashes == again).all() and (hashes.view(np.uint64) % 1000 == buckets).all() and (bucketed == buckets).all()


def test_murmur_hash_is_that_of_the_old_buckets(tf, run):
    from tensorflow.python.ops import string_ops

    texts = [[f"text {i}"] for i in range(300)]
    old = tf.raw_ops.StringToHashBucket(string_tensor=texts, num_buckets=999)
    got = string_ops.string_to_hash(texts, "murmur", num_buckets=999)
    assert got.shape.as_list() == [300, 1]
    np.testing.assert_array_equal(*run([old, got]))


def test_a_hash_without_sign_is_the_lower_bits(tf, run):
    from tensorflow.python.ops import string_ops

    texts = [f"text {i}" for i in range(100)]
    for kind in ("farm", "murmur"):
        signed, unsigned = run(
            [string_ops.string_to_hash(texts, kind), string_ops.string_to_hash(texts, kind, allow_neg=False)]
        )
        assert (signed & (2**63 - 1) == unsigned).all() and (signed != unsigned).any()


def test_unknown_hashes_are_refused(tf):
    from tensorflow.python.ops import string_ops

    with pytest.raises(ValueError, match="hash_type.*city"):
        string_ops.string_to_hash(["a"], "city")
    with pytest.raises(ValueError, match="num_buckets"):
        string_ops.string_to_hash(["a"], num_buckets=-1)


DTYPES = ["int32", "int64", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_ids_as_a_sparse_tensor(tf, run, dtype):
    got = run(tf.trans_csv_id2sparse(["2,10", "7", "", " 8 , 0"], 20, dtype=dtype))
    assert got.indices.tolist() == [[0, 2], [0, 10], [1, 7], [3, 0], [3, 8]]
    assert got.values.tolist() == [2, 10, 7, 0, 8] and got.values.dtype == dtype
    assert got.dense_shape.tolist() == [4, 20]
    constant = run(tf.trans_csv_id2sparse(["2,10"], 20, id_as_value=False, default_value=3, dtype=dtype))
    assert constant.values.tolist() == [3, 3]


@pytest.mark.parametrize("dtype", DTYPES)
def test_ids_as_a_matrix(tf, run, dtype):
    got = run(tf.trans_csv_id2dense(["2,1", "3", "0,2"], 4, dtype=dtype))
    assert got.tolist() == [[0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 1, 0]] and got.dtype == dtype
    assert run(tf.trans_csv_id2dense(["2;1"], 4, True, ";", dtype=dtype)).tolist() == [[0, 1, 2, 0]]


def test_columns_as_the_ids_need_them(tf, run):
    assert run(tf.trans_csv_id2sparse(["2,10", "7"], None)).dense_shape.tolist() == [2, 11]
    assert run(tf.trans_csv_id2dense(["2", "4"], None)).shape == (2, 5)
    assert run(tf.trans_csv_to_dense(["2", "4,5"], None)).shape == (2, 2)
    assert run(tf.trans_csv_id2dense(["", ""], None)).shape == (2, 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pairs_are_those_of_python(tf, run, dtype):
    random = np.random.RandomState(3)
    expected = np.zeros([50, 30], dtype)
    records = []
    for row in expected:
        ids = random.choice(30, random.randint(8), replace=False)
        row[ids] = (random.randn(len(ids)) * 100).astype(dtype)
        records.append(", ".join(f"{i}:{row[i]!s}" for i in ids))
    dense, sparse = run(
        [tf.trans_csv_kv2dense(records, 30, dtype=dtype), tf.trans_csv_kv2sparse(records, 30, dtype=dtype)]
    )
    np.testing.assert_array_equal(dense, expected)
    places = [
        [int(i), int(k)]
        for i, record in enumerate(records)
        for k in sorted(int(p.split(":")[0]) for p in record.split(",") if p)
    ]
    assert sparse.indices.tolist() == places and sparse.dense_shape.tolist() == [50, 30]
    np.testing.assert_array_equal(sparse.values, [expected[i, k] for i, k in places])
    assert dense.dtype == sparse.values.dtype == dtype


def test_pairs_have_the_defaults_of_old(tf, run):
    got = run(tf.trans_csv_kv2dense(["1:0.1,2:0.2", "0:-.1e-1", "3:0.2,2:0.1"], max_id=5))
    np.testing.assert_allclose(got, [[0, 0.1, 0.2, 0, 0], [-0.01, 0, 0, 0, 0], [0, 0, 0.1, 0.2, 0]], atol=1e-7)


def test_an_id_twice(tf, run):
    sparse, dense = run([tf.trans_csv_kv2sparse(["1:5,0:1,1:7"], 2), tf.trans_csv_kv2dense(["1:5,0:1,1:7"], 2)])
    assert sparse.indices.tolist() == [[0, 0], [0, 1], [0, 1]] and sparse.values.tolist() == [1, 5, 7]
    assert dense.tolist() == [[1, 7]]


def test_numbers_as_a_matrix(tf, run):
    got = run(tf.trans_csv_to_dense(["0.1,0.2 ", "-.1e-1", "0.2,  0.1, +.3", ""], max_id=3))
    np.testing.assert_allclose(got, [[0.1, 0.2, 0], [-0.01, 0, 0], [0.2, 0.1, 0.3], [0, 0, 0]], atol=1e-7)
    assert run(tf.trans_csv_to_dense(["1  2"], 2, field_delim=" ", dtype=tf.int64)).tolist() == [[1, 2]]


def test_no_rows(tf, run):
    none = tf.constant([], tf.string)
    sparse, dense = run([tf.trans_csv_id2sparse(none, 3), tf.trans_csv_kv2dense(none, 3)])
    assert sparse.indices.shape == (0, 2) and sparse.dense_shape.tolist() == [0, 3] and dense.shape == (0, 3)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda tf: tf.trans_csv_id2sparse(["1", "1,a\x01"], 5), r'records\[1\] must be a list of ids, got "1,a\\x01"'),
        (lambda tf: tf.trans_csv_id2dense(["1", "2,5"], 5), r"\[0, max_id = 5\), got 5 in row 1"),
        (lambda tf: tf.trans_csv_id2dense(["-1"], 5), r"got -1 in row 0"),
        (lambda tf: tf.trans_csv_id2sparse(["9223372036854775807"], None), r"\[0, 2\^63 - 1\)"),
        (lambda tf: tf.trans_csv_kv2sparse(["1:2", "3"], 5), r"records\[1\] must be a list of pairs id:value"),
        (lambda tf: tf.trans_csv_kv2dense(["1:2147483648"], 5, dtype="int32"), r"records\[0\]"),
        (
            lambda tf: tf.trans_csv_to_dense(["1,2", "1,2,3"], 2),
            r"records\[1\] must have at most max_id = 2 numbers, got 3",
        ),
        (lambda tf: tf.trans_csv_to_dense(["x" * 500], 2), r'got "x{100}\.\.\."'),
        (lambda tf: tf.trans_csv_id2sparse(["1"], -7), r"max_id must not be negative"),
        (lambda tf: tf.trans_csv_id2sparse(["1"], 5, field_delim="e"), r"field_delim"),
        (lambda tf: tf.trans_csv_id2sparse(["1"], 5, field_delim=",,"), r"field_delim"),
    ],
)
def test_bad_text_is_named(tf, run, make, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(make(tf))


def test_a_matrix_of_too_many_columns_is_refused(tf, run):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError, ValueError)):
        run(tf.trans_csv_id2dense(["1"] * 8, 2**62))


@pytest.fixture
def decoders(tf):
    from tensorflow.python.ops import string_ops

    return string_ops


def test_serialized_ids(tf, run, decoders):
    lists = [[5, 2], [], [7]]
    messages = [tf.train.Int64List(value=ids).SerializeToString() for ids in lists]
    got = run(decoders.sparse_decode(messages, 10))
    assert got.indices.tolist() == [[0, 2], [0, 5], [2, 7]] and got.values.tolist() == [2, 5, 7]
    assert got.dense_shape.tolist() == [3, 10]


def test_serialized_numbers(tf, run, decoders):
    random = np.random.RandomState(1)
    floats = random.randn(4, 3).astype(np.float32)
    ints = random.randint(-(2**31), 2**31 - 1, [4, 3])
    got = run(
        [
            decoders.dense_decode([tf.train.FloatList(value=row).SerializeToString() for row in floats]),
            decoders.dense_decode([tf.train.Int64List(value=row).SerializeToString() for row in ints], tf.int32),
        ]
    )
    np.testing.assert_array_equal(got[0], floats.ravel())
    np.testing.assert_array_equal(got[1], ints.ravel())
    assert run(decoders.dense_decode(tf.constant([], tf.string))).shape == (0,)


def kv(ids, values):
    """A message of ids and values, packed; small ones."""
    packed = np.asarray(values, "<f4").tobytes()
    return b"\x0a" + bytes([len(ids)]) + bytes(ids) + b"\x12" + bytes([len(packed)]) + packed


def test_serialized_pairs(tf, run, decoders):
    messages = [kv([5, 2], [0.5, 2]), b"", kv([1], [-1])]
    sparse, dense = run([decoders.kv2sparse_decode(messages, 6), decoders.kv2dense_decode(messages, 6)])
    assert sparse.indices.tolist() == [[0, 2], [0, 5], [2, 1]] and sparse.values.tolist() == [2, 0.5, -1]
    assert dense.reshape(3, 6).tolist() == [[0, 0, 2, 0, 0, 0.5], [0] * 6, [0, -1, 0, 0, 0, 0]]


def test_bad_messages_are_named(tf, run, decoders):
    good = tf.train.FloatList(value=[1, 2]).SerializeToString()
    for make, message in (
        (lambda: decoders.sparse_decode([b"\x0a\x05\x01"], 5), r"input\[0\] must be a serialized Int64List"),
        (lambda: decoders.sparse_decode([tf.train.Int64List(value=[5]).SerializeToString()], 5), "got 5 in row 0"),
        (lambda: decoders.dense_decode([good, good[:-1]]), r"input\[1\] must be a serialized FloatList"),
        (lambda: decoders.dense_decode([good, b""]), r"input\[1\] must have as many numbers as input\[0\], 2, got 0"),
        (lambda: decoders.kv2dense_decode([kv([1, 2], [1])], 5), r"input\[0\] must be a serialized KvList"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(make())
