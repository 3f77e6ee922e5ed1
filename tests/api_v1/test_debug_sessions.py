"""Arguments of 1.15 of the debugger's sessions and hooks."""

import inspect

import numpy as np
import pytest
import tensorflow as tf

from tensorflow.python import debug as tfdbg

# As inspect gives them on 1.15.5.
ARGUMENTS = {
    "DumpingDebugWrapperSession": "sess session_root watch_fn thread_name_filter pass_through_operrors log_usage",
    "LocalCLIDebugWrapperSession": "sess dump_root log_usage ui_type thread_name_filter config_file_path",
    "GrpcDebugWrapperSession": "sess grpc_debug_server_addresses watch_fn thread_name_filter log_usage",
    "TensorBoardDebugWrapperSession": (
        "sess grpc_debug_server_addresses thread_name_filter send_traceback_and_source_code log_usage"
    ),
    "DumpingDebugHook": "session_root watch_fn thread_name_filter log_usage",
    "GrpcDebugHook": "grpc_debug_server_addresses watch_fn thread_name_filter log_usage",
    "TensorBoardDebugHook": ("grpc_debug_server_addresses thread_name_filter send_traceback_and_source_code log_usage"),
    "LocalCLIDebugHook": "ui_type dump_root thread_name_filter config_file_path",
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name):
    assert list(inspect.signature(getattr(tfdbg, name)).parameters) == ARGUMENTS[name].split()


@pytest.mark.parametrize("named", [False, True])
def test_dumping_session(named, tmp_path):
    with tf.Graph().as_default():
        given = tf.placeholder(tf.float32, [2])
        x = tf.log(given, name="lg")
        root = str(tmp_path / "dumps")
        if named:
            session = tfdbg.DumpingDebugWrapperSession(tf.Session(), root, log_usage=False)
        else:
            session = tfdbg.DumpingDebugWrapperSession(tf.Session(), root, None, None, None, False)
        session.run(x, {given: [0.0, 1.0]})
    (run,) = (tmp_path / "dumps").iterdir()
    (tensor,) = tfdbg.DebugDumpDir(str(run)).get_tensors("lg", 0, "DebugIdentity")
    np.testing.assert_array_equal(tensor, [-np.inf, 0])


def test_dumping_hook(tmp_path):
    with tf.Graph().as_default():
        step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        hook = tfdbg.DumpingDebugHook(str(tmp_path / "dumps"), log_usage=False)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(step)
    assert len(list((tmp_path / "dumps").iterdir())) == 1


def test_the_screen_is_the_line_interface(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        wrapped = tfdbg.LocalCLIDebugWrapperSession(session, str(tmp_path / "a"), False, "curses")
        assert wrapped._ui_type == "readline"
        tfdbg.LocalCLIDebugHook("curses")
        tfdbg.LocalCLIDebugHook(ui_type="curses")
        with pytest.raises(ValueError, match="log_usage"):
            tfdbg.LocalCLIDebugWrapperSession(session, log_usage="yes")
