"""Where a checkpoint directory stands, and whether it fits the model that is about to use it."""

import contextlib
import glob
import json
import os
from typing import Iterator, NamedTuple, Optional

import tensorflow as tf

from common.errors import InputError
from common.report import write_json

LINES_READ = "input/lines_read"
EXAMPLES = "input/examples"
_MODEL_FILE = "model.json"
_INCREMENTS = ".incremental_checkpoint"
_OURS = ("checkpoint", "model.ckpt-*", "graph.pbtxt", _MODEL_FILE, f"{_INCREMENTS}/*")


class Position(NamedTuple):
    """step: global step. lines_read: training lines consumed. examples: the good ones among them."""

    step: int
    lines_read: int
    examples: int


def open_directory(
    directory: str, model: dict, restart: bool, owner: bool = True, incremental: bool = False
) -> Position:
    """Makes the directory ready for training and says where to go on.

    Args:
      directory: made if missing.
      model: the settings that decide which variables there are; those of the checkpoint must be the same.
      restart: remove what an earlier run left.
      owner: whether this process writes there. Another begins at 0.
      incremental: whether incremental checkpoints will be restored too.
    Raises:
      InputError: the path is no directory, the checkpoint is unreadable or of another model.
    """
    if not owner:
        return Position(0, 0, 0)
    try:
        os.makedirs(directory, exist_ok=True)
        if restart:
            for pattern in _OURS:
                for path in glob.glob(os.path.join(glob.escape(directory), pattern)):
                    os.remove(path)
        state = tf.train.get_checkpoint_state(directory)
        if state is None:
            write_json(os.path.join(directory, _MODEL_FILE), model)
            return Position(0, 0, 0)
    except OSError as error:
        raise InputError(f"{error.filename or directory}: {error.strerror}") from None
    _check_model(directory, model)
    return _read_position((incremental and _newest_increment(directory, state)) or state.model_checkpoint_path)


def _newest_increment(directory: str, full) -> Optional[str]:
    """Prefix of the incremental checkpoint that a session restores after the full one."""
    # Not of TensorFlow 1.15.
    from tensorflow.python.training import incremental_saver

    increments = tf.train.get_checkpoint_state(os.path.join(directory, _INCREMENTS))
    if increments is None:
        return None
    with refused(increments.model_checkpoint_path):
        return incremental_saver.newest_increment(full.model_checkpoint_path, increments.all_model_checkpoint_paths)


def _check_model(directory: str, model: dict) -> None:
    path = os.path.join(directory, _MODEL_FILE)
    try:
        with open(path, encoding="utf-8") as file:
            saved = json.load(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); use --restart or another --checkpoint") from None
    differing = sorted(
        key for key in saved.keys() | model.keys() if saved.get(key) != json.loads(json.dumps(model.get(key)))
    )
    if differing:
        changes = ", ".join(f"{key} {saved.get(key)} there and {model.get(key)} now" for key in differing)
        raise InputError(
            f"{directory}: holds checkpoints of another model ({changes}); use --restart or another --output_dir"
        )


def _read_position(prefix: str) -> Position:
    with refused(prefix):
        reader = tf.train.load_checkpoint(prefix)
        return Position(*(int(reader.get_tensor(name)) for name in (tf.GraphKeys.GLOBAL_STEP, LINES_READ, EXAMPLES)))


@contextlib.contextmanager
def refused(prefix: str) -> Iterator[None]:
    """Turns what reading a damaged checkpoint raises into an InputError that names it."""
    try:
        yield
    except (tf.errors.OpError, ValueError, IndexError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{prefix}: cannot be restored ({reason}); use --restart or another --checkpoint") from None
