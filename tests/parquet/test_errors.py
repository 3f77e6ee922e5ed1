"""Bad input: an error that names the file and the column; skip_corrupted_data passes over what cannot be decoded."""

import pathlib
import random
import types

import columnar_helpers as helpers
import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from tensorflow.deeprec.data import file_systems, reader_callbacks
from tensorflow.deeprec.data.parquet_dataset import FileDataset
from tensorflow.deeprec.data.reader import CorruptedError
from tensorflow.python.data.experimental.ops.parquet_dataset_ops import DataFrame, ParquetDataset

X = [DataFrame.Field("x", tf.int64, 0)]


def from_names(names, **kwargs):
    """As ParquetDataset of names that Python does not see, so that errors come from reading."""
    return ParquetDataset(tf.data.Dataset.from_tensor_slices(names), **{"batch_size": 10, "fields": X, **kwargs})


def junk(tmp_path, name="junk.parquet"):
    (tmp_path / name).write_bytes(b"these are no columns" * 30)
    return str(tmp_path / name)


def cut_short(path):
    with open(path, "r+b") as file:
        file.truncate(file.seek(0, 2) // 2)
    return path


def overwritten(write, column="x"):
    """A file of three row groups, the data of the middle one overwritten."""
    from pyarrow import parquet

    path = write(
        pa.table({"x": np.random.default_rng(0).integers(0, 1 << 40, 3000)}), name="bad.parquet", row_group_size=1000
    )
    where = parquet.ParquetFile(path).metadata.row_group(1).column(0)
    with open(path, "r+b") as file:
        file.seek(where.dictionary_page_offset or where.data_page_offset)
        file.write(b"\xff" * where.total_compressed_size)
    return path


def test_what_is_not_parquet_is_data_loss(tmp_path):
    with pytest.raises(tf.errors.DataLossError, match="junk.parquet.*not a whole Parquet file"):
        helpers.read(lambda: from_names([junk(tmp_path)]))


def test_a_file_cut_short_is_data_loss(write):
    path = cut_short(write(pa.table({"x": range(1000)})))
    with pytest.raises(tf.errors.DataLossError, match="a.parquet.*not a whole Parquet file"):
        helpers.read(lambda: from_names([path]))


def test_overwritten_data_is_data_loss_of_a_column(write):
    path = overwritten(write)
    with pytest.raises(tf.errors.DataLossError, match="bad.parquet.*column 'x'"):
        helpers.read(lambda: from_names([path]))


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="none.parquet"):
        helpers.read(lambda: from_names([str(tmp_path / "none.parquet")]))
    with pytest.raises(FileNotFoundError, match="none.parquet"):
        ParquetDataset(str(tmp_path / "none.parquet"))


def test_a_folder_in_place_of_a_file_is_not_found(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match=f"a folder, not a file: '{tmp_path}'"):
        helpers.read(lambda: from_names([str(tmp_path)]))
    with pytest.raises(IsADirectoryError, match=f"a folder, not a file: '{tmp_path}'"):
        ParquetDataset([f"file://{tmp_path}"])


def test_a_missing_column_is_named(write):
    path = write(pa.table({"y": [1]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="a.parquet: it has no column 'x'; it has 'y'"):
        helpers.read(lambda: from_names([path]))
    with pytest.raises(ValueError, match="a.parquet: it has no column 'x'"):
        ParquetDataset(path, fields=["x"])


def test_a_type_that_changes_between_files_is_named(write):
    good, bad = write(pa.table({"x": [1]})), write(pa.table({"x": [1.5]}), name="b.parquet")
    with pytest.raises(tf.errors.InvalidArgumentError, match="b.parquet: column 'x' holds float64 .* expected int64"):
        helpers.read(lambda: ParquetDataset([good, bad]))


def test_after_a_type_error_the_file_is_not_read_as_if_it_fitted(write):
    path = write(pa.table({"x": [1.5] * 10}), row_group_size=5)
    with tf.Graph().as_default(), helpers.session() as session:
        element = tf.data.make_one_shot_iterator(from_names([path])).get_next()
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="expected int64"):
                session.run(element)


def test_list_levels_that_change_between_files_are_named(write):
    good, bad = write(pa.table({"x": [1]})), write(pa.table({"x": [[1]]}), name="b.parquet")
    with pytest.raises(tf.errors.InvalidArgumentError, match="b.parquet: column 'x' .* below 1 list levels"):
        helpers.read(lambda: ParquetDataset([good, bad]))


@pytest.mark.parametrize("values", [[1, None, 3], [[1], None], [[1, None]]])
def test_nulls_are_refused_with_file_and_column(write, values):
    path = write(pa.table({"x": values}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="a.parquet: column 'x': .*null"):
        helpers.read(lambda: ParquetDataset(path, batch_size=5))


@pytest.mark.parametrize("name", helpers.SCALARS)
def test_nulls_of_every_type_are_refused(write, name):
    type_ = helpers.arrow_type(name)
    value = helpers.scalar_values(name, 1, random.Random(name))[0]
    value = np.float16(value) if name == "float16" else value
    for values, of in (
        ([value, None], type_),
        ([[value], [None]], pa.list_(type_)),
        ([[value], None], pa.list_(type_)),
    ):
        path = write(pa.table({"x": pa.array(values, of)}))
        with pytest.raises(tf.errors.InvalidArgumentError, match="a.parquet: column 'x': .*null"):
            helpers.read(lambda path=path: ParquetDataset(path, batch_size=5))


def test_nulls_of_a_dictionary_are_refused(write):
    path = write(pa.table({"x": pa.array(["a", None]).dictionary_encode()}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="column 'x': .*null"):
        helpers.read(lambda: ParquetDataset(path, batch_size=5))


def test_a_null_in_place_of_a_fixed_size_list_is_named(write):
    lists = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2))
    path = write(pa.table({"a": [1, 2, 3], "x": lists, "b": [1.0, 2, 3]}))
    with pytest.raises(tf.errors.DataLossError, match="a.parquet: column 'x': .*list"):
        helpers.read(lambda: ParquetDataset(path, batch_size=5))


@pytest.mark.parametrize(
    "type_",
    [pa.timestamp("us"), pa.decimal128(10, 2), pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int32())],
)
def test_other_types_are_refused_by_name(write, type_):
    path = write(pa.table({"x": pa.array([], type_), "y": pa.array([], pa.int64())}))
    with pytest.raises(ValueError, match="a.parquet: column 'x': its type is"):
        ParquetDataset(path)
    assert helpers.read(lambda: ParquetDataset(path, fields=["y"])) == []


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"batch_size": -3}, "batch_size must be at least 1, got -3"),
        ({"partition_count": 0}, "partition_count must be at least 1, got 0"),
        (
            {"partition_count": 2, "partition_index": 2},
            "partition_index must be .* less than partition_count .2., got 2",
        ),
        ({"partition_index": -1}, "partition_index must be at least 0 .*, got -1"),
        ({"num_parallel_reads": 0}, "num_parallel_reads must be at least 1, got 0"),
        ({"num_sequential_reads": 0}, "num_sequential_reads must be at least 1, got 0"),
        ({"fields": [DataFrame.Field("x", tf.float32)]}, "column 'x' holds int64, its field says float32"),
        (
            {"fields": [DataFrame.Field("x", ragged_rank=1)]},
            "column 'x' has 0 list levels, its field says a ragged_rank of 1",
        ),
        ({"fields": ["x", "x"]}, "fields must have different names"),
    ],
)
def test_arguments_that_do_not_fit_are_named(write, kwargs, message):
    path = write(pa.table({"x": [1]}))
    with pytest.raises(ValueError, match=message):
        ParquetDataset(path, **kwargs)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"partition_count": "2"}, "partition_count must be an integer, got '2'"),
        ({"partition_count": 3, "partition_index": 1.5}, "partition_index must be an integer, got 1.5"),
        ({"partition_count": 2, "partition_index": True}, "partition_index must be an integer, got True"),
        ({"partition_index": tf.constant(0)}, "partition_index must be an integer, got "),
        ({"num_parallel_reads": "2"}, "num_parallel_reads must be an integer .*, got '2'"),
        ({"num_parallel_parser_calls": 1.5}, "num_parallel_parser_calls must be an integer .*, got 1.5"),
    ],
)
def test_a_number_that_is_no_integer_is_named(write, kwargs, message):
    path = write(pa.table({"x": [1]}))
    with pytest.raises(TypeError, match=message):
        ParquetDataset(path, **kwargs)


def test_a_corrupted_first_file_is_passed_over_where_the_schema_is_asked_for(write, tmp_path):
    paths = [str(tmp_path / "none.parquet"), write(pa.table({"x": [1, 2]}))]
    open(paths[0], "w").close()
    before = reader_callbacks.skipped().get(paths[0], 0)
    found = helpers.read(lambda: ParquetDataset(paths, batch_size=5, skip_corrupted_data=True))
    assert found == [{"x": [1, 2]}]
    assert reader_callbacks.skipped()[paths[0]] == before + 1
    with pytest.raises(CorruptedError, match="none.parquet: not a whole Parquet file"):
        ParquetDataset(paths[:1], skip_corrupted_data=True)


def test_a_file_system_that_cannot_be_reached_is_named_with_the_file(monkeypatch):
    def fail(uri):
        raise OSError("Unable to load libhdfs")

    fake = types.SimpleNamespace(FileSystem=types.SimpleNamespace(from_uri=fail))
    monkeypatch.setattr(file_systems.arrow, "module", lambda name: fake)
    with pytest.raises(OSError, match="hdfs://host/a.parquet: Unable to load libhdfs"):
        file_systems.open_file("hdfs://host/a.parquet")


def test_a_batch_size_that_is_fed_is_checked(write):
    path = write(pa.table({"x": [1]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="batch_size must be at least 1, got -1"):
        helpers.read(lambda: FileDataset(tf.constant(path), tf.constant(-1, tf.int64), X))


def test_names_that_are_tensors_need_complete_fields():
    with pytest.raises(ValueError, match="dtype and ragged_rank"):
        ParquetDataset(tf.data.Dataset.from_tensor_slices(["a"]), fields=["x"])


@pytest.mark.parametrize("query", ["start=-1", "start=x", "start=2&end=1"])
def test_a_range_that_is_none_is_refused(write, query):
    path = write(pa.table({"x": [1]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="start"):
        helpers.read(lambda: from_names([f"{path}?{query}"]))


def test_a_range_limits_the_row_groups(write):
    path = write(pa.table({"x": range(100)}), row_group_size=10)
    batches = helpers.read(lambda: ParquetDataset(f"{path}?start=2&end=5"))
    assert helpers.joined(batches)["x"] == list(range(20, 50))


def test_a_file_uri_is_a_path(write):
    path = write(pa.table({"x": [1]}), name="with space é.parquet")
    for name in (path, f"file://{path}", "file://" + path.replace(" ", "%20")):
        assert helpers.read(lambda name=name: ParquetDataset(name)) == [{"x": [1]}]


def test_an_unknown_file_system_is_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError, match="nosuch://host/x"):
        helpers.read(lambda: from_names(["nosuch://host/x"]))


def test_skip_corrupted_data_passes_over_files_and_row_groups_and_counts_them(write, tmp_path):
    good, bad = write(pa.table({"x": range(10)})), overwritten(write)
    names = [junk(tmp_path, "skipped.parquet"), good, bad, good]
    batches = helpers.read(lambda: from_names(names, batch_size=1000, skip_corrupted_data=True))
    assert [len(batch["x"]) for batch in batches] == [10, 1000, 1000, 10]
    counted = reader_callbacks.skipped()
    assert counted[names[0]] == 1
    assert counted[bad] == 1
    assert good not in counted


def test_skip_corrupted_data_does_not_pass_over_other_errors(write, tmp_path):
    path = write(pa.table({"y": [1]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no column 'x'"):
        helpers.read(lambda: from_names([path], skip_corrupted_data=True))
    with pytest.raises(tf.errors.NotFoundError):
        helpers.read(lambda: from_names([str(tmp_path / "none")], skip_corrupted_data=True))


def test_without_pyarrow_the_error_says_what_to_install(check_python):
    out = check_python(
        "import sys; sys.modules['pyarrow'] = None\n"
        "import tensorflow as tf\n"
        "from tensorflow.python.data.experimental.ops.parquet_dataset_ops import ParquetDataset\n"
        "try:\n"
        "    ParquetDataset('a.parquet')\n"
        "except ImportError as e:\n"
        "    print(e)\n"
    )
    assert "pip install" in out and "pyarrow" in out


def test_a_process_without_the_reader_says_so(write, check_python):
    path = write(pa.table({"x": [1]}))
    out = check_python(
        "import ctypes, tensorflow as tf\n"
        "from tensorflow.deeprec import library\n"
        "from tensorflow.python.data.experimental.ops.parquet_dataset_ops import ParquetDataset\n"
        "ctypes.CDLL(library.PATH).deeprec_set_file_reader(None)\n"
        f"element = tf.data.make_one_shot_iterator(ParquetDataset({path!r})).get_next()\n"
        "try:\n"
        "    tf.Session().run(element)\n"
        "except tf.errors.FailedPreconditionError as e:\n"
        "    print(e.message)\n"
    )
    assert "no reader of columnar files" in out


@pytest.mark.parametrize("function", ["_guarded", "_read_nothing"])
def test_an_interrupt_in_python_is_an_error_and_no_end_of_the_data(write, check_python, function):
    path = write(pa.table({"x": [1]}))
    broken = {
        "_guarded": "def interrupt(*args, **kwargs): raise KeyboardInterrupt\ncallbacks._guarded = interrupt\n",
        "_read_nothing": (
            "guarded = callbacks._guarded\n"
            "def interrupt(*args, reading=False):\n"
            "    if reading: raise KeyboardInterrupt\n"
            "    return guarded(*args)\n"
            "callbacks._guarded = interrupt\n"
        ),
    }[function]
    out = check_python(
        "import tensorflow as tf\n"
        "from tensorflow.deeprec.data import reader_callbacks as callbacks\n"
        "from tensorflow.python.data.experimental.ops.parquet_dataset_ops import ParquetDataset\n"
        f"element = tf.data.make_one_shot_iterator(ParquetDataset({path!r})).get_next()\n{broken}"
        "try:\n"
        "    tf.Session().run(element)\n"
        "except tf.errors.CancelledError as e:\n"
        "    print(e.message)\n"
    )
    assert "reading was interrupted in Python" in out


def test_fields_that_are_no_list_or_empty_are_named(write):
    path = write(pa.table({"x": [1]}))
    with pytest.raises(TypeError, match="fields must be a list of names and DataFrame.Fields, got 3"):
        ParquetDataset(path, fields=3)
    with pytest.raises(ValueError, match="fields must have at least one name, got none"):
        ParquetDataset(path, fields=[])
    with pytest.raises(TypeError, match="dtype of field 'x' must be a dtype, got 'int65'"):
        DataFrame.Field("x", "int65")


def test_one_name_in_place_of_a_list_of_fields_is_named(write):
    path = write(pa.table({"x": [1]}))
    with pytest.raises(TypeError, match="^fields must be a list of names and DataFrame.Fields, got 'x'"):
        ParquetDataset(path, fields="x")


@pytest.mark.parametrize("filenames", [None, [["a.parquet"]], [3]])
def test_filenames_that_are_no_names_are_named(filenames):
    with pytest.raises(TypeError, match="^filenames must be"):
        ParquetDataset(filenames, fields=X)


def test_filenames_are_paths_and_arrays_of_names(write):
    path = pathlib.Path(write(pa.table({"x": [1, 2]})))
    for filenames in (path, [path], np.array([str(path)]), np.array([str(path)], object), bytes(path)):
        (batch,) = helpers.read(lambda filenames=filenames: ParquetDataset(filenames, batch_size=10))
        assert batch["x"] == [1, 2]


def test_a_column_that_is_larger_than_its_pad_is_an_error_that_says_so(write):
    path = write(pa.table({"x": [[1], [2, 3]]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="column x is larger than its pad"):
        helpers.read(lambda: ParquetDataset(path, batch_size=2).map(lambda b: DataFrame.parse(b, pad=[2, 1])))


def test_pad_of_a_column_that_is_not_there_is_refused(write):
    path = write(pa.table({"x": [[1], [2, 3]]}))
    with pytest.raises(ValueError, match="pad must have names of columns, x, got 'nope'"):
        helpers.read(lambda: ParquetDataset(path, batch_size=2).map(lambda b: DataFrame.parse(b, pad={"nope": True})))


def test_a_default_value_of_another_dtype_names_its_field():
    field = DataFrame.Field("x", tf.int64, 0, default_value="one")
    with pytest.raises((TypeError, ValueError), match="default_value of field 'x' must be of int64, got 'one'"):
        DataFrame.populate_defaults({}, [field], 2)
