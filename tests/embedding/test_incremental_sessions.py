"""Incremental checkpoints in MonitoredTrainingSession, CheckpointSaverHook, Scaffold and Estimator."""

import glob
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.training import incremental_saver

SECONDS = 1e-6  # an increment is due at every step


class Model:
    """A step on given ids, in a fresh default graph."""

    def __init__(self):
        tf.reset_default_graph()
        variable = tf.get_embedding_variable("var", 4, initializer=tf.ones_initializer())
        self.ids = tf.placeholder(tf.int64, [None])
        self.rows = tf.nn.embedding_lookup(variable, self.ids)
        self.step = tf.train.get_or_create_global_step()
        self.train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(self.rows**2), global_step=self.step)


def session_of(folder, **kwargs):
    options = dict(save_checkpoint_steps=4, save_summaries_steps=0, log_step_count_steps=0)
    return tf.train.MonitoredTrainingSession(checkpoint_dir=str(folder), **{**options, **kwargs})


def increments(folder):
    prefix = f"{folder}/.incremental_checkpoint/incremental_model.ckpt-"
    return sorted(int(path[len(prefix) : -len(".index")]) for path in glob.glob(prefix + "*.index"))


def test_increments_come_between_full_checkpoints(tmp_path):
    model = Model()
    with session_of(tmp_path, save_incremental_checkpoint_secs=SECONDS) as session:
        for i in range(10):
            session.run(model.train, {model.ids: [i]})
            # At steps 4, 8, ... there is a full one.
            steps = [step for step in range(1, i + 2) if step % 4]
            assert increments(tmp_path) == steps[-5:]
    state = tf.train.get_checkpoint_state(str(tmp_path / ".incremental_checkpoint"))
    assert [int(path.rsplit("-")[-1]) for path in state.all_model_checkpoint_paths] == [5, 6, 7, 9, 10][:5]


def test_they_come_by_the_clock(tmp_path):
    model = Model()
    with session_of(tmp_path, save_checkpoint_steps=1000, save_incremental_checkpoint_secs=1) as session:
        session.run(model.train, {model.ids: [1]})
        assert increments(tmp_path) == []
        time.sleep(1.1)
        session.run(model.train, {model.ids: [1]})
        session.run(model.train, {model.ids: [1]})
        assert increments(tmp_path) == [2]


@pytest.mark.parametrize("seconds", [None, 0, False])
def test_without_seconds_there_are_none(tmp_path, seconds):
    model = Model()
    with session_of(tmp_path, save_incremental_checkpoint_secs=seconds) as session:
        session.run(model.train, {model.ids: [1]})
    assert not (tmp_path / ".incremental_checkpoint").exists()
    assert "KvResourceRecord" not in {op.type for op in tf.get_default_graph().get_operations()}


def test_a_session_resumes_at_the_newest_increment(tmp_path):
    model = Model()
    session = session_of(tmp_path, save_incremental_checkpoint_secs=SECONDS)
    for i in range(7):
        session.run(model.train, {model.ids: [i % 3, i]})
    expected = session.run(model.rows, {model.ids: range(8)})
    # It is not closed: that would save a full checkpoint.
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-4")
    model = Model()
    with session_of(tmp_path, save_incremental_checkpoint_secs=60) as resumed:
        assert resumed.run(model.step) == 7
        assert np.array_equal(resumed.run(model.rows, {model.ids: range(8)}), expected)
        # Of what it has resumed there is a full checkpoint at once.
        assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-7")
    model = Model()
    with session_of(tmp_path) as without:
        assert without.run(model.step) == 7


def test_without_asking_for_them_a_session_resumes_at_the_full_checkpoint(tmp_path):
    model = Model()
    session = session_of(tmp_path, save_incremental_checkpoint_secs=SECONDS)
    for i in range(6):
        session.run(model.train, {model.ids: [i]})
    model = Model()
    with session_of(tmp_path) as resumed:
        assert resumed.run(model.step) == 4


def program(folder, parts, last, seconds, full_steps=50):
    path = os.path.join(os.path.dirname(__file__), "incremental_program.py")
    return subprocess.Popen(
        [sys.executable, path, *map(str, (folder, parts, last, seconds, full_steps))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )


def test_who_is_killed_and_resumes_with_other_parts_has_what_an_uninterrupted_run_has(tmp_path):
    # Of three parts, as the one that resumes: another number of tables would have another digest.
    uninterrupted = program(tmp_path / "uninterrupted", 3, 120, 0)
    killed = program(tmp_path / "killed", 2, 10**6, SECONDS)
    for line in killed.stdout:
        # While increments are being written.
        if line.startswith("step") and int(line.split()[1]) >= 70:
            break
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    done = int([line for line in [line, *killed.stdout] if line.startswith("step")][-1].split()[1])
    resumed = program(tmp_path / "killed", 3, 120, SECONDS)
    lines = resumed.stdout.read().splitlines()
    assert resumed.wait() == 0
    resumed_at = int(re.fullmatch(r"resumed at (\d+)", lines[0])[1])
    # The last full one was before; of the newest increment one step at most is missing.
    assert resumed_at >= done - 1 and resumed_at % 50
    digest = lines[-1]
    assert digest.startswith("digest")
    assert uninterrupted.stdout.read().splitlines()[-1] == digest
    assert uninterrupted.wait() == 0


def test_a_damaged_increment_is_refused_by_name(tmp_path):
    model = Model()
    session = session_of(tmp_path, save_incremental_checkpoint_secs=SECONDS)
    for i in range(3):
        session.run(model.train, {model.ids: [i]})
    prefix = f"{tmp_path}/.incremental_checkpoint/incremental_model.ckpt-3"
    os.truncate(prefix + ".index", 30)
    model = Model()
    with pytest.raises(tf.errors.DataLossError, match=f"{re.escape(prefix)} is damaged"):
        session_of(tmp_path, save_incremental_checkpoint_secs=SECONDS)


def test_increments_of_an_earlier_run_are_not_put_over_another(tmp_path):
    model = Model()
    session = session_of(tmp_path, save_incremental_checkpoint_secs=SECONDS)
    for i in range(3):
        session.run(model.train, {model.ids: [i]})
    for path in [*glob.glob(f"{tmp_path}/model.ckpt-*"), tmp_path / "checkpoint"]:
        os.remove(path)
    # It begins again at 0, and is killed at once.
    Model()
    session_of(tmp_path, save_incremental_checkpoint_secs=60)
    model = Model()
    with session_of(tmp_path, save_incremental_checkpoint_secs=60) as session:
        assert session.run(model.step) == 0


def test_a_scaffold_and_hook_of_ones_own(tmp_path):
    model = Model()
    saver = tf.train.Saver(sharded=True, incremental_save_restore=True, max_to_keep=2)
    scaffold = tf.train.Scaffold(saver=saver, incremental_save_restore=True)
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=100, scaffold=scaffold, incremental_save_secs=SECONDS)
    creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=str(tmp_path))
    session = tf.train.MonitoredSession(creator, hooks=[hook])
    for i in range(4):
        session.run(model.train, {model.ids: [i]})
    assert increments(tmp_path) == [3, 4]


def test_a_scaffold_makes_the_saver():
    Model()
    scaffold = tf.train.Scaffold(incremental_save_restore=True)
    copy = tf.train.Scaffold(copy_from_scaffold=scaffold)
    scaffold.finalize()
    assert incremental_saver.incremental_saver_of(scaffold.saver) is not None
    Model()
    assert incremental_saver.incremental_saver_of(copy.finalize().saver) is not None
    Model()
    off = tf.train.Scaffold(incremental_save_restore=False).finalize()
    assert incremental_saver.incremental_saver_of(off.saver) is None


def test_an_estimator_trains_with_them(tmp_path):
    def model_fn(features, labels, mode):
        variable = tf.get_embedding_variable("var", 4, initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.nn.embedding_lookup(variable, features) ** 2)
        train = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
        scaffold = tf.train.Scaffold(
            saver=tf.train.Saver(sharded=True, incremental_save_restore=True), incremental_save_restore=True
        )
        hook = tf.train.CheckpointSaverHook(
            str(tmp_path), save_steps=1000, scaffold=scaffold, incremental_save_secs=SECONDS
        )
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=train, training_chief_hooks=[hook], scaffold=scaffold
        )

    class Stop(tf.train.SessionRunHook):
        """Ends the run as a kill would, without a last full checkpoint."""

        def __init__(self):
            self.runs = 0

        def after_run(self, run_context, run_values):
            self.runs += 1
            if self.runs == 4:
                raise RuntimeError("killed")

    def input_fn():
        return tf.data.Dataset.range(100).batch(2).map(lambda ids: (ids, ids))

    with pytest.raises(RuntimeError, match="killed"):
        tf.estimator.Estimator(model_fn, str(tmp_path)).train(input_fn, hooks=[Stop()])
    assert increments(tmp_path) and tf.train.latest_checkpoint(str(tmp_path)).endswith("-0")
    newest = increments(tmp_path)[-1]
    tf.estimator.Estimator(model_fn, str(tmp_path)).train(input_fn, steps=5)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith(f"-{newest + 5}")


WRONG = {
    "a negative number": dict(save_incremental_checkpoint_secs=-1),
    "a string": dict(save_incremental_checkpoint_secs="60"),
    "no number": dict(save_incremental_checkpoint_secs=float("nan")),
    "true": dict(save_incremental_checkpoint_secs=True),
}


@pytest.mark.parametrize("what", WRONG)
def test_seconds_must_be_a_positive_number(tmp_path, what):
    Model()
    with pytest.raises(ValueError, match="save_incremental_checkpoint_secs must be a positive number of seconds"):
        session_of(tmp_path, **WRONG[what])
    with pytest.raises(ValueError, match="incremental_save_secs must be a positive number of seconds"):
        tf.train.CheckpointSaverHook(
            str(tmp_path), save_steps=1, incremental_save_secs=WRONG[what]["save_incremental_checkpoint_secs"]
        )


def test_what_they_need_is_named(tmp_path):
    Model()
    plain = tf.train.Saver()
    with pytest.raises(ValueError, match="save_incremental_checkpoint_secs is 5, but checkpoint_dir is None"):
        tf.train.MonitoredTrainingSession(save_incremental_checkpoint_secs=5)
    with pytest.raises(ValueError, match="there are no full checkpoints to add to"):
        session_of(tmp_path, save_checkpoint_steps=None, save_checkpoint_secs=None, save_incremental_checkpoint_secs=5)
    with pytest.raises(ValueError, match="of a Scaffold needs a Saver.incremental_save_restore=True"):
        tf.train.Scaffold(saver=plain, incremental_save_restore=True)
    with pytest.raises(ValueError, match="incremental_save_secs needs a Saver.incremental_save_restore=True"):
        tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, saver=plain, incremental_save_secs=5)
    hook = tf.train.CheckpointSaverHook(
        str(tmp_path), save_steps=1, scaffold=tf.train.Scaffold(saver=plain), incremental_save_secs=5
    )
    with pytest.raises(ValueError, match="incremental_save_secs needs a Saver.incremental_save_restore=True"):
        tf.train.SingularMonitoredSession(hooks=[hook])
