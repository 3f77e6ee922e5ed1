"""Where a checkpoint directory stands, and which ones are refused."""

import os

import pytest
import tensorflow as tf

from common import checkpoint
from common.errors import InputError

MODEL = {"model": "m", "hidden_units": (4, 2), "optimizer": "adam"}


def save(directory, step=7, lines=70, examples=68):
    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in (
            (tf.GraphKeys.GLOBAL_STEP, step),
            (checkpoint.LINES_READ, lines),
            (checkpoint.EXAMPLES, examples),
        ):
            tf.get_variable(name, initializer=tf.constant(value, tf.int64))
        session.run(tf.global_variables_initializer())
        return tf.train.Saver(save_relative_paths=True).save(session, str(directory / "model.ckpt"), global_step=step)


@pytest.fixture
def saved(tmp_path):
    assert checkpoint.open_directory(str(tmp_path / "c"), MODEL, restart=False) == (0, 0, 0)
    save(tmp_path / "c")
    return tmp_path / "c"


def test_position_is_what_was_saved(saved):
    position = checkpoint.open_directory(str(saved), MODEL, restart=False)
    assert position == checkpoint.Position(step=7, lines_read=70, examples=68)


def test_directory_may_be_moved(saved, tmp_path):
    os.rename(saved, tmp_path / "moved")
    assert checkpoint.open_directory(str(tmp_path / "moved"), MODEL, restart=False).step == 7


@pytest.fixture
def increment(saved):
    (saved / ".incremental_checkpoint").mkdir()
    return save(saved / ".incremental_checkpoint", step=9, lines=90, examples=88)


def test_position_is_that_of_the_increment_if_it_will_be_restored(saved, increment):
    assert checkpoint.open_directory(str(saved), MODEL, restart=False, incremental=True) == (9, 90, 88)
    assert checkpoint.open_directory(str(saved), MODEL, restart=False) == (7, 70, 68)
    save(saved, step=10)
    assert checkpoint.open_directory(str(saved), MODEL, restart=False, incremental=True).step == 10


def test_a_damaged_increment_is_refused_by_name(saved, increment):
    os.truncate(f"{increment}.index", 20)
    with pytest.raises(InputError, match=f"{increment}: cannot be restored"):
        checkpoint.open_directory(str(saved), MODEL, restart=False, incremental=True)


def test_restart_removes_increments(saved, increment):
    assert checkpoint.open_directory(str(saved), MODEL, restart=True, incremental=True).step == 0
    assert not os.listdir(saved / ".incremental_checkpoint")


def test_other_model_is_refused_and_named(saved):
    with pytest.raises(
        InputError, match=r"another model \(hidden_units \[4, 2\] there and \(8,\) now\); use --restart"
    ):
        checkpoint.open_directory(str(saved), {**MODEL, "hidden_units": (8,)}, restart=False)


def test_restart_removes_checkpoints_and_nothing_else(saved):
    (saved / "mine.txt").write_text("x")
    assert checkpoint.open_directory(str(saved), MODEL, restart=True).step == 0
    assert sorted(os.listdir(saved)) == ["mine.txt", "model.json"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: os.remove(folder / "model.ckpt-7.index"),
        lambda folder: os.truncate(folder / "model.ckpt-7.index", 20),
        lambda folder: os.truncate(folder / "model.ckpt-7.data-00000-of-00001", 3),
    ],
    ids=["no_index", "cut_index", "cut_data"],
)
def test_damaged_checkpoint_is_refused(saved, damage):
    damage(saved)
    with pytest.raises(InputError, match=r"model.ckpt-7: cannot be restored .*; use --restart"):
        checkpoint.open_directory(str(saved), MODEL, restart=False)


def test_checkpoint_of_another_program_is_refused(saved):
    os.remove(saved / "model.json")
    with pytest.raises(InputError, match="model.json: cannot be read"):
        checkpoint.open_directory(str(saved), MODEL, restart=False)


def test_path_that_cannot_be_a_directory_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="file.*: (File exists|Not a directory)"):
        checkpoint.open_directory(str(tmp_path / "file"), MODEL, restart=False)
