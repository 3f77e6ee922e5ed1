"""--parquet_dataset: the same batches as of the text files, and what does not fit."""

import argparse
import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from modelzoo_helpers import HEADER, SMALL, run_train, write_rows


def arguments(data, **kwargs):
    defaults = {
        "data": data, "eval_data": None, "no_eval": False, "holdout": 0.2, "batch_size": 32, "shuffle_buffer": 0, "seed": 1,
        "bad_rows": "fail", "parquet_dataset": False, "data_location": None,
    }  # fmt: skip
    return argparse.Namespace(**{**defaults, **kwargs})


@pytest.fixture
def files(sample_rows, tmp_path):
    """(text files, Parquet files) of 150 and 50 rows."""
    import to_parquet

    texts = [
        write_rows(tmp_path / f"{i}.txt", rows, delimiter="\t", header=HEADER)
        for i, rows in enumerate([sample_rows[:150], sample_rows[150:]])
    ]
    folder = tmp_path / "parquet"
    assert to_parquet.main(["criteo", *texts, "--output", str(folder), "--row_group_size", "40"]) == 0
    return texts, [str(folder / "0.parquet"), str(folder / "1.parquet")]


def make_input(args):
    from common.criteo_input import CriteoInput

    return CriteoInput(args, None)


def batches(make_dataset):
    with tf.Graph().as_default(), tf.Session() as session:
        element = tf.data.make_one_shot_iterator(make_dataset()).get_next()
        found = []
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


def assert_equal(ours, theirs):
    assert len(ours) == len(theirs)
    for (features, labels, lines), expected in zip(ours, theirs):
        assert lines.tolist() == expected[2].tolist()
        np.testing.assert_array_equal(labels, expected[1])
        assert sorted(features) == sorted(expected[0])
        for name, value in features.items():
            np.testing.assert_array_equal(value, expected[0][name])


@pytest.mark.parametrize(("start", "end"), [(0, 100), (0, 500), (96, 300), (160, 165), (320, 333)])
def test_training_batches_are_those_of_the_text_files(files, start, end):
    texts, parquets = files
    of_text = make_input(arguments(texts))
    of_parquet = make_input(arguments(parquets, parquet_dataset=True))
    assert (of_parquet.train_rows, of_parquet.eval_rows) == (of_text.train_rows, of_text.eval_rows) == (160, 40)
    assert_equal(batches(lambda: of_parquet.training(start, end)), batches(lambda: of_text.training(start, end)))


@pytest.mark.parametrize("limit", [-1, 0, 7, 33, 1000])
def test_evaluation_batches_are_those_of_the_text_files(files, limit):
    texts, parquets = files
    of_text, of_parquet = make_input(arguments(texts)), make_input(arguments(parquets, parquet_dataset=True))

    def make(data):
        return lambda: data.evaluation(tf.constant(limit, tf.int64), 16)

    assert_equal(batches(make(of_parquet)), batches(make(of_text)))


def test_shuffled_passes_have_every_row_once_and_go_on_where_they_were(files):
    data = make_input(arguments(files[1], parquet_dataset=True, shuffle_buffer=100))

    def keys(start, end):
        found = batches(lambda: data.training(start, end))
        return [row for features, _, _ in found for row in zip(features["C3"], features["C26"], features["I2"])]

    whole = keys(0, 320)
    first, second = whole[:160], whole[160:]
    assert sorted(first) == sorted(second) and first != second
    assert keys(192, 320) == whole[192:]


def test_a_model_trains_on_parquet_files_and_resumes(files, tmp_path):
    flags = ["--data", *files[1], "--parquet_dataset", *SMALL, "--batch_size", 20, "--output_dir", "out"]
    for steps in (4, 9):
        done = run_train(tmp_path, *flags, "--steps", steps)
        assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["resumed_from_step"] == 4
    assert result["eval"]["examples"] == 20
    assert 0 < result["eval"]["loss"] < 2


@pytest.mark.parametrize("is_shuffled", [True, False])
def test_rows_are_shuffled_unless_the_flag_says_no(files, is_shuffled):
    import train

    flags = [] if is_shuffled else ["--parquet_dataset_shuffle", "false"]
    args = train.parse(["--parquet_dataset", *flags, "--data", *files[1], "--no_eval"])

    def keys(args):
        found = batches(lambda: make_input(args).training(0, 200))
        return [row for features, _, _ in found for row in zip(features["C3"], features["C26"], features["I2"])]

    in_order = keys(arguments(files[1], parquet_dataset=True, no_eval=True))
    assert (keys(args) == in_order) is not is_shuffled and sorted(keys(args)) == sorted(in_order)


@pytest.mark.parametrize("parquet", [False, True])
def test_a_folder_has_both_files_by_their_names(files, tmp_path, parquet):
    texts, parquets = files
    folder = tmp_path / "data"
    folder.mkdir()
    for path, name in zip(parquets if parquet else texts, ("train", "eval")):
        pathlib.Path(path).rename(folder / (name + (".parquet" if parquet else ".csv")))
    flags = ["--parquet_dataset"] if parquet else []
    done = run_train(
        tmp_path, "--data_location", folder, *flags, *SMALL, "--batch_size", 20, "--steps", 2, "--output_dir", "out"
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert (result["data"]["train_rows"], result["data"]["eval_rows"]) == (150, 50)
    assert result["data"]["generated"] is False


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--parquet_dataset"], "--parquet_dataset needs --data or --data_location"),
        (["--parquet_dataset_shuffle"], "--parquet_dataset_shuffle has no effect without --parquet_dataset"),
        (
            ["--parquet_dataset", "--data", "x", "--parquet_dataset_shuffle", "--shuffle_buffer", "0"],
            "--parquet_dataset_shuffle and --shuffle_buffer 0 contradict each other",
        ),
        (["--parquet_dataset", "--data", "x", "--bad_rows", "skip"], "--bad_rows skip has no effect"),
        (["--parquet_dataset", "--data", "x", "--workqueue"], "--workqueue hands out pieces of text files"),
        (["--parquet_dataset", "--data", "nowhere.parquet"], "nowhere.parquet"),
    ],
)
def test_flags_that_do_not_fit_end_the_program(tmp_path, extra, message):
    done = run_train(tmp_path, *extra)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_text_file_and_a_missing_column_are_refused(files):
    from common.errors import InputError
    from pyarrow import parquet

    with pytest.raises(InputError, match="0.txt: not a whole Parquet file"):
        make_input(arguments(files[0], parquet_dataset=True))
    path = files[1][0]
    parquet.write_table(parquet.read_table(path).drop_columns(["C5"]), path)
    with pytest.raises(InputError, match="0.parquet: it has no column 'C5'"):
        make_input(arguments([path], parquet_dataset=True))
