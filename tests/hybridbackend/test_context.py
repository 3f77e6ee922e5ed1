"""hb.context and its options."""

import json

import hybridbackend.tensorflow as hb
import pytest
import tensorflow as tf
from hybridbackend.tensorflow.framework.options import DictOption, Options


def test_without_a_cluster_it_is_one_local_process():
    context = hb.context
    assert context is hb.Context.get()
    assert (context.task_type, context.task_id, context.target, context.is_chief) == ("localhost", 0, "", True)
    assert (context.world_size, context.rank, context.num_gpus, context.cluster_spec) == (1, 0, 0, None)
    with pytest.raises(ValueError, match="has 1 devices, got number 1"):
        context.rank_at(1)


def test_devices_get_their_whole_names():
    assert hb.Context.canonicalize("/cpu:0") == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert hb.Context.canonicalize(["/job:ps/task:1/cpu:0", "/job:worker"]) == [
        "/job:ps/replica:0/task:1/device:CPU:0",
        "/job:worker/replica:0/task:0/device:CPU:0",
    ]
    with pytest.raises(ValueError, match="nonsense"):
        hb.Context.canonicalize("/nonsense:x")


def test_tf_config_gives_the_place_in_the_cluster(check_python):
    config = {
        "cluster": {"chief": ["a:1"], "worker": ["b:2", "c:3"], "ps": ["d:4"]},
        "task": {"type": "worker", "index": 1},
    }
    out = check_python(
        "import hybridbackend.tensorflow as hb\n"
        "c = hb.context\n"
        "config = hb.get_session_config()\n"
        "print(c.target, c.rank, c.world_size, c.is_chief, list(config.device_filters), config.isolate_session_state)\n",
        TF_CONFIG=json.dumps(config),
    )
    assert out.splitlines()[-1] == "grpc://c:3 2 3 False ['/job:ps', '/job:chief', '/job:worker/task:1'] False"


def test_a_tf_config_that_is_none_is_refused(run_python):
    done = run_python("import hybridbackend.tensorflow", TF_CONFIG="{not json")
    assert done.returncode != 0
    assert "TF_CONFIG must be JSON" in done.stderr


@pytest.mark.parametrize(
    ("task", "evaluator", "expected"),
    [(("worker", 0), False, ("chief", 0)), (("worker", 2), False, ("worker", 1)), (("worker", 1), True, ("evaluator", 0)),
     (("worker", 2), True, ("worker", 0)), (("ps", 0), False, ("ps", 0))],
)  # fmt: skip
def test_set_tf_config_numbers_the_tasks(monkeypatch, task, evaluator, expected):
    monkeypatch.setenv("TF_CONFIG", "")
    hb.Context.set_tf_config(*task, "a:1,b:2,c:3", ps_hosts=["d:4"], has_evaluator=evaluator)
    found = hb.Context.get_tf_config()
    assert (found.task_type, found.task_id) == expected
    assert found.cluster["chief"] == ["a:1"] and found.cluster["ps"] == ["d:4"]


def test_scope_sets_options_and_puts_them_back():
    with hb.context_scope(mode="eval", batch_size=7) as context:
        assert (context.options.mode, context.options.batch_size) == ("eval", 7)
    assert (hb.context.options.mode, hb.context.options.batch_size) == ("train", -1)


def test_an_unknown_option_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no option 'nothing'"):
        hb.context.options.nothing
    with pytest.raises(AttributeError, match="no option 'nothing'"):
        hb.context.options.nothing = 1


def test_options_take_their_type(monkeypatch):
    monkeypatch.setenv("FLAG", "no")
    monkeypatch.setenv("NUMBER", "12")
    monkeypatch.setenv("KIND", "float16")
    options = Options().register("flag", True, "FLAG").register("number", 1, "NUMBER")
    options.register("kind", tf.float32, "KIND").register("flag", True)
    assert (options.flag, options.number, options.kind) == (False, 12, tf.float16)
    with pytest.raises(ValueError, match="option 'flag'"):
        options.flag = "perhaps"
    assert options.update(number=3) == {"number": 12}
    assert options.number == 3


def test_an_environment_value_of_another_type_is_refused(monkeypatch):
    monkeypatch.setenv("NUMBER", "many")
    with pytest.raises(ValueError, match="NUMBER must be a int, got 'many'"):
        Options().register("number", 1, "NUMBER")


def test_a_dict_option_gives_the_first_name_that_has_a_value():
    option = DictOption(1, {"a": 2, "b": 3})
    assert (option["b"], option[["c", "a"]], option["c"]) == (3, 2, 1)


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="hybridbackend.tensorflow.train is not in this wheel"):
        hb.train
    assert "tensorflow" in hb.buildinfo() and hb.__version__ == hb.buildinfo()
