"""DeepRec's fields of ConfigProto."""

import subprocess
import sys

import pytest
import tensorflow as tf
from google.protobuf import text_format

from tensorflow.core.protobuf import config_pb2
from tensorflow.deeprec import library
from tensorflow.deeprec.config import effects


@pytest.fixture(autouse=True)
def nothing_is_told(monkeypatch):
    monkeypatch.setattr(effects, "_told", set())


def full_config():
    config = tf.ConfigProto(executor_policy=tf.ExecutorPolicy.USE_INLINE_EXECUTOR)
    options = config.graph_options.optimizer_options
    options.do_op_fusion = True
    options.micro_batch_num = 4
    options.do_smart_stage = True
    options.do_async_embedding = True
    options.async_embedding_options.threads_num = 3
    options.async_embedding_options.capacity = 5
    options.smart_stage_options.CopyFrom(tf.SmartStageOptions(capacity=7, num_threads=2, name="stage"))
    pool = config.session_stage_subgraph_thread_pool.add()
    pool.inter_op_threads_num, pool.intra_op_threads_num, pool.global_name = 8, 6, "pool"
    return config


SEEN = (
    "tensor_fuse=0 run_graph_mode=0 run_graph_mode_lite=0 executor_policy=2 micro_batch_num=4 do_op_fusion=1 "
    "do_smart_stage=1 do_async_embedding=1 pool=8/6/pool"
)


def test_they_are_fields_of_the_real_message():
    config = full_config()
    assert config.DESCRIPTOR is config_pb2.ConfigProto.DESCRIPTOR
    assert config_pb2.ConfigProto.FromString(config.SerializeToString()) == config
    assert text_format.Parse(str(config), tf.ConfigProto()) == config
    copy = tf.ConfigProto()
    copy.CopyFrom(config)
    copy.MergeFrom(tf.ConfigProto(tensor_fuse=True))
    assert copy.tensor_fuse and copy.graph_options.optimizer_options.micro_batch_num == 4


def test_defaults():
    config = tf.ConfigProto()
    options = config.graph_options.optimizer_options
    assert config.executor_policy == tf.ExecutorPolicy.USE_NORMAL_EXECUTOR == 0
    assert not (options.do_op_fusion or options.do_smart_stage or options.do_smart_stage_gpu)
    assert options.micro_batch_num == 0 and not config.HasField("graph_options")
    assert config.SerializeToString() == b""


@pytest.mark.parametrize("message", [tf.ConfigProto(), tf.OptimizerOptions(), tf.SmartStageOptions()])
def test_unknown_fields_are_refused(message):
    with pytest.raises(AttributeError):
        message.do_everything = True
    with pytest.raises(ValueError):
        type(message)(do_everything=True)


def test_values_of_another_type_are_refused():
    with pytest.raises(TypeError):
        tf.ConfigProto().graph_options.optimizer_options.micro_batch_num = "many"


def test_the_executor_policies():
    assert [tf.ExecutorPolicy.Value(name) for name in tf.ExecutorPolicy.keys()] == [0, 1, 2]
    assert config_pb2.USE_COST_MODEL_EXECUTOR == tf.ExecutorPolicy.USE_COST_MODEL_EXECUTOR == 1


def _session(config, caplog):
    tf.get_logger().propagate = True
    caplog.clear()
    with tf.Graph().as_default(), caplog.at_level("WARNING", "tensorflow"):
        with tf.Session(config=config) as session:
            fields = session.run(library.ops().deep_rec_config_fields()).decode()
    return fields, [r.getMessage() for r in caplog.records if "without effect" in r.getMessage()]


def test_the_runtime_sees_them_and_one_warning_names_what_does_nothing(caplog):
    fields, warnings = _session(full_config(), caplog)
    assert fields == SEEN
    assert len(warnings) == 1
    assert "intra_op_threads_num" in warnings[0]
    for name in (
        "do_op_fusion",
        "smart_stage",
        "micro_batch_num",
        "do_async_embedding",
        "executor_policy",
        "tensor_fuse",
    ):
        assert name not in warnings[0]


def test_a_field_is_told_of_once(caplog):
    config = tf.ConfigProto(tensor_fuse=True)
    assert len(_session(config, caplog)[1]) == 1
    assert _session(config, caplog)[1] == []
    config.run_graph_mode = True
    (warning,) = _session(config, caplog)[1]
    assert "run_graph_mode" in warning and "tensor_fuse" not in warning


def test_silent_configs_and_fields_with_effect_do_not_warn(caplog):
    assert _session(tf.ConfigProto(), caplog)[1] == []
    config = tf.ConfigProto(executor_policy=tf.ExecutorPolicy.USE_INLINE_EXECUTOR)
    config.graph_options.optimizer_options.micro_batch_num = 1
    config.session_stage_subgraph_thread_pool.add(inter_op_threads_num=1)
    assert _session(config, caplog)[1] == []


@pytest.mark.parametrize(
    "field",
    ["do_smart_stage_gpu", "stage_subgraph_on_cpu", "stage_multi_stream", "device_placement_optimization"],
)
def test_fields_for_gpus_warn(field, caplog):
    config = tf.ConfigProto()
    setattr(config.graph_options.optimizer_options, field, True)
    (warning,) = _session(config, caplog)[1]
    assert f"{field} (for GPUs)" in warning


@pytest.mark.parametrize("field", ["tensor_fuse", "run_graph_mode", "run_graph_mode_lite"])
def test_fields_for_clusters_warn(field, caplog):
    (warning,) = _session(tf.ConfigProto(**{field: True}), caplog)[1]
    assert field in warning


def test_policies_that_do_nothing_warn(caplog):
    config = tf.ConfigProto(executor_policy=tf.ExecutorPolicy.USE_COST_MODEL_EXECUTOR)
    assert (
        "USE_COST_MODEL_EXECUTOR (the executor of this runtime measures kernels itself"
        in _session(config, caplog)[1][0]
    )
    config = tf.ConfigProto(executor_policy=tf.ExecutorPolicy.USE_INLINE_EXECUTOR)
    config.experimental.executor_type = "DEFAULT"
    assert "another executor" in _session(config, caplog)[1][0]


def test_the_inline_executor_runs_a_step_on_the_thread_that_called(check_python):
    program = """
import glob, sys, threading
import tensorflow as tf
config = tf.ConfigProto(inter_op_parallelism_threads=4, intra_op_parallelism_threads=1, executor_policy=int(sys.argv[1]))
x = [tf.random.normal([300, 300], seed=i) for i in range(6)]
y = tf.add_n([tf.matmul(tf.matmul(v, v), v) for v in x])

def ticks():
    stat = {task: open(task + "/stat").read().rsplit(")", 1)[1].split() for task in glob.glob("/proc/self/task/*")}
    return {task: int(fields[11]) + int(fields[12]) for task, fields in stat.items()}

with tf.Session(config=config) as session:
    session.run(y)
    before = ticks()
    for _ in range(60):
        session.run(y)
    spent = {task.rsplit("/", 1)[1]: count - before.get(task, 0) for task, count in ticks().items()}
    mine = spent.pop(str(threading.get_native_id()))
    print(mine, sum(spent.values()))
"""
    inline, normal = tf.ExecutorPolicy.USE_INLINE_EXECUTOR, tf.ExecutorPolicy.USE_NORMAL_EXECUTOR
    mine, others = map(int, check_python(program.replace("sys.argv[1]", str(inline))).split())
    assert others <= 0.1 * mine
    mine, others = map(int, check_python(program.replace("sys.argv[1]", str(normal))).split())
    assert others > 0.1 * mine


WORKER = """
import sys
import tensorflow as tf
config = tf.ConfigProto.FromString(bytes.fromhex(sys.argv[2]))
server = tf.train.Server({"worker": [sys.argv[1]]}, "worker", 0, config=config)
options = server.server_def.default_session_config.graph_options.optimizer_options
print(options.micro_batch_num, options.smart_stage_options.capacity, options.do_op_fusion, flush=True)
sys.stdin.read()
"""


def test_a_worker_in_another_process_reads_them(tmp_path, unused_port):
    address = f"localhost:{unused_port}"
    of_server = full_config()
    # The server merges its config with that of a session, which appends to a repeated field.
    of_server.ClearField("session_stage_subgraph_thread_pool")
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, address, of_server.SerializeToString().hex()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    )
    try:
        assert worker.stdout.readline().split() == ["4", "7", "True"]
        with tf.Graph().as_default(), tf.device("/job:worker/task:0"):
            fields = library.ops().deep_rec_config_fields()
            config = full_config()
            with tf.Session(f"grpc://{address}", config=config) as session:
                assert session.run(fields).decode() == SEEN
    finally:
        worker.stdin.close()
        worker.wait(30)


def test_the_python_implementation_of_protobuf(check_python):
    out = check_python(
        """
from google.protobuf.internal import api_implementation
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
config = tf.ConfigProto(executor_policy=tf.ExecutorPolicy.USE_INLINE_EXECUTOR)
config.graph_options.optimizer_options.smart_stage_options.capacity = 3
config.session_stage_subgraph_thread_pool.add(global_name="p")
assert tf.ConfigProto.FromString(config.SerializeToString()) == config
try:
    config.no_such_field = 1
except AttributeError:
    pass
else:
    raise SystemExit("no AttributeError")
from google.protobuf import descriptor_pb2
file = descriptor_pb2.FileDescriptorProto.FromString(config_pb2.DESCRIPTOR.serialized_pb)
for expected in file.message_type:
    found = descriptor_pb2.DescriptorProto()
    config_pb2.DESCRIPTOR.message_types_by_name[expected.name].CopyToProto(found)
    assert found == expected, expected.name
with tf.Session(config=config) as session:
    print(api_implementation.Type(), session.run(tf.constant(5)))
""",
        PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python",
    )
    assert out == "python 5"


def test_the_other_root_is_the_released_one(check_python):
    program = "import tensorflow as tf; print(hasattr(tf.compat.v1.ConfigProto(), 'executor_policy'))"
    assert check_python(program, TF_DEEPREC_ROOT="2") == "False"


@pytest.mark.parametrize(
    "field, number",
    [
        ("session_inter_op_thread_pool", "num_threads"),
        ("session_stage_subgraph_thread_pool", "inter_op_threads_num"),
        ("session_stage_subgraph_thread_pool", "intra_op_threads_num"),
    ],
)
def test_a_pool_of_a_negative_number_of_threads_is_an_error(field, number):
    config = tf.ConfigProto()
    getattr(config, field).add()
    setattr(getattr(config, field).add(), number, -1)
    with pytest.raises(ValueError, match=rf"{field}\[1\].{number} must be at least 1, or 0 for the default, got -1"):
        tf.Session(config=config)


def test_an_executor_policy_that_is_none_is_an_error():
    with pytest.raises(ValueError, match=r"executor_policy must be one of 0 \(USE_NORMAL_EXECUTOR\), .*got 77"):
        tf.Session(config=tf.ConfigProto(executor_policy=77))
