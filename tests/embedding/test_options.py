"""Options of EmbeddingVariables: what they hold, what they refuse, and where programs find them."""

import pytest
import tensorflow as tf
from tensorflow.api_v1 import moved_names


@pytest.mark.parametrize(
    "make, argument",
    [
        (lambda: tf.CounterFilter(filter_freq=-1), "filter_freq"),
        (lambda: tf.CounterFilter(filter_freq=1.5), "filter_freq"),
        (lambda: tf.CounterFilter(filter_freq=2**31), "filter_freq"),
        (lambda: tf.CounterFilter(filter_freq=True), "filter_freq"),
        (lambda: tf.CBFFilter(filter_freq=-3), "filter_freq"),
        (lambda: tf.CBFFilter(3, max_element_size=10, false_positive_probability=0.0), "false_positive_probability"),
        (lambda: tf.CBFFilter(3, max_element_size=10, false_positive_probability=1.0), "false_positive_probability"),
        (lambda: tf.CBFFilter(3, max_element_size=10, false_positive_probability=-0.5), "false_positive_probability"),
        (lambda: tf.CBFFilter(3, max_element_size=10), "false_positive_probability"),
        (lambda: tf.CBFFilter(3, false_positive_probability=0.01), "max_element_size"),
        (lambda: tf.CBFFilter(3, max_element_size=-1, false_positive_probability=0.01), "max_element_size"),
        (lambda: tf.CBFFilter(3, 10, 0.01, counter_type=tf.float32), "counter_type"),
        (lambda: tf.CounterFilter(filter_freq=None), "filter_freq"),
        (lambda: tf.CBFFilter(3, max_element_size=2**60, false_positive_probability=0.01), "max_element_size"),
        (lambda: tf.CBFFilter(3, max_element_size=10, false_positive_probability=None), "false_positive_probability"),
        (lambda: tf.GlobalStepEvict(steps_to_live=1.5), "steps_to_live"),
        (lambda: tf.GlobalStepEvict(steps_to_live="x"), "steps_to_live"),
        (lambda: tf.L2WeightEvict(l2_weight_threshold=float("nan")), "l2_weight_threshold"),
        (lambda: tf.L2WeightEvict(l2_weight_threshold=float("inf")), "l2_weight_threshold"),
        (lambda: tf.L2WeightEvict(l2_weight_threshold="x"), "l2_weight_threshold"),
        (lambda: tf.InitializerOption(default_value_dim=1.5), "default_value_dim"),
        (lambda: tf.InitializerOption(default_value_dim=None), "default_value_dim"),
        (lambda: tf.InitializerOption(default_value_no_permission="x"), "default_value_no_permission"),
        (lambda: tf.GlobalStepEvict(steps_to_live=0), "steps_to_live"),
        (lambda: tf.GlobalStepEvict(steps_to_live=-2), "steps_to_live"),
        (lambda: tf.L2WeightEvict(l2_weight_threshold=0.0), "l2_weight_threshold"),
        (lambda: tf.L2WeightEvict(l2_weight_threshold=-2.0), "l2_weight_threshold"),
        (lambda: tf.InitializerOption(default_value_dim=0), "default_value_dim"),
        (lambda: tf.InitializerOption(default_value_dim=-4), "default_value_dim"),
        (lambda: tf.StorageOption(storage_size=1 << 30), "storage_size"),
        (lambda: tf.StorageOption(storage_path="somewhere"), "storage_type"),
        (lambda: tf.StorageOption(storage_type=77), "storage_type"),
        (lambda: tf.EmbeddingVariableOption(filter_option=tf.GlobalStepEvict(3)), "filter_option"),
        (lambda: tf.EmbeddingVariableOption(evict_option=tf.CounterFilter(3)), "evict_option"),
        (lambda: tf.EmbeddingVariableOption(init_option=tf.ones_initializer()), "init_option"),
        (lambda: tf.EmbeddingVariableOption(storage_option="DRAM"), "storage_option"),
        (lambda: tf.EmbeddingVariableOption(ckpt="model.ckpt"), "ckpt"),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(make, argument):
    with pytest.raises(ValueError, match=argument):
        make()


@pytest.mark.parametrize("storage_type", ["LEVELDB", "SSDHASH", "DRAM_LEVELDB", "DRAM_SSDHASH", "DRAM_PMEM_SSDHASH"])
def test_storage_on_disk_needs_a_path(storage_type):
    from tensorflow.core.framework.embedding import config_pb2

    with pytest.raises(ValueError, match="storage_path"):
        tf.StorageOption(storage_type=config_pb2.StorageType.Value(storage_type))


def test_defaults_are_deeprecs():
    option = tf.EmbeddingVariableOption()
    assert option.ht_partition_num == 1000
    assert option.init.default_value_dim == 4096 and option.init.default_value_no_permission == 0.0
    assert option.evict is None and option.filter_strategy is None and option.ckpt is None
    assert option.storage_option.storage_size == [1 << 30] * 4
    assert tf.CBFFilter().counter_type == tf.uint64


def test_signed_counters_are_those_of_their_size():
    assert tf.CBFFilter(3, 10, 0.01, counter_type=tf.int64).counter_type == tf.uint64


def test_lists_of_sizes_are_not_shared():
    first, second = tf.StorageOption(), tf.StorageOption()
    first.storage_size.append(7)
    given = [512]
    third = tf.StorageOption(storage_size=given)
    assert second.storage_size == [1 << 30] * 4
    assert given == [512] and third.storage_size == [512, *[1 << 30] * 3]


def test_a_storage_path_is_made(tmp_path):
    from tensorflow.core.framework.embedding import config_pb2

    path = tmp_path / "a" / "b"
    tf.StorageOption(storage_type=config_pb2.StorageType.DRAM_SSDHASH, storage_path=str(path))
    assert path.is_dir()


def test_enums_have_deeprecs_numbers():
    from tensorflow.core.framework.embedding import config_pb2

    assert dict(config_pb2.StorageType.items()) == {
        "DEFAULT": 0,
        "DRAM": 1,
        "PMEM_MEMKIND": 2,
        "PMEM_LIBPMEM": 3,
        "SSDHASH": 4,
        "LEVELDB": 5,
        "HBM": 6,
        "DRAM_PMEM": 11,
        "DRAM_SSDHASH": 12,
        "HBM_DRAM": 13,
        "DRAM_LEVELDB": 14,
        "DRAM_PMEM_SSDHASH": 101,
        "HBM_DRAM_SSDHASH": 102,
    }
    assert config_pb2.INVALID == 0
    assert (config_pb2.CacheStrategy.LRU, config_pb2.CacheStrategy.LFU) == (0, 1)
    assert config_pb2.CacheType is config_pb2.CacheStrategy
    assert (config_pb2.SlotType.EMBEDDING_VARIABLE, config_pb2.SlotType.VARIABLE) == (0, 1)
    assert config_pb2.StorageType.Name(14) == "DRAM_LEVELDB"
    assert config_pb2.DRAM == 1


_ROOT = """
CBFFilter CheckpointOption CounterFilter EmbeddingVariableOption GlobalStepEvict InitializerOption L2WeightEvict StorageOption
get_dynamic_dimension_embedding_variable get_embedding_variable get_hash_table get_multihash_variable
""".split()


@pytest.mark.parametrize("name", _ROOT)
def test_the_root_and_compat_v1_have(name):
    assert getattr(tf, name) is getattr(tf.compat.v1, name)
    assert name in dir(tf)


def test_old_paths_lead_to_the_same_objects():
    from tensorflow.core.framework.embedding import config_pb2
    from tensorflow.python.feature_column import feature_column_v2
    from tensorflow.python.ops import embedding_ops, kv_variable_ops, variable_scope, variables
    from tensorflow.python.ops.hash_table import hash_table

    assert variable_scope.get_embedding_variable is tf.get_embedding_variable
    assert variable_scope.get_multihash_variable is tf.get_multihash_variable
    assert variables.EmbeddingVariableOption is tf.EmbeddingVariableOption
    assert variables.StorageOption is tf.StorageOption
    assert embedding_ops.embedding_lookup_sparse is tf.nn.embedding_lookup_sparse
    assert embedding_ops.safe_embedding_lookup_multi_dim is tf.nn.safe_embedding_lookup_multi_dim
    assert feature_column_v2.categorical_column_with_embedding is tf.feature_column.categorical_column_with_embedding
    assert callable(kv_variable_ops.lookup_tier) and callable(hash_table.HashTable)
    assert config_pb2.StorageType.DRAM == 1


def test_import_does_not_load_what_is_not_used(check_python):
    code = (
        "import sys, tensorflow as tf\n"
        "names = [m for m in sys.modules if m.startswith('tensorflow.deeprec.embedding.')]\n"
        "print([m for m in names if m.rsplit('.')[-1] in ('hash_table', 'dynamic_dimension', 'lookup_multi_dim')])"
    )
    assert check_python(code).splitlines()[-1] == "[]"


def test_collections_that_programs_run_exist(check_python):
    code = (
        "import tensorflow as tf\n"
        "tf.get_embedding_variable('v', 2)\n"
        "with tf.Session() as s:\n"
        "    print(s.run(tf.get_collection(tf.GraphKeys.EV_INIT_VAR_OPS)),\n"
        "          s.run(tf.get_collection(tf.GraphKeys.EV_INIT_SLOT_OPS)))\n"
    )
    assert check_python(code).splitlines()[-1] == "[] []"


@pytest.mark.parametrize(
    "make, argument",
    [
        (lambda: tf.StorageOption(storage_size=[1 << 20]), "storage_size"),
        (lambda: tf.StorageOption(layout="normal"), "layout"),
        (lambda: tf.EmbeddingVariableOption(ht_type="dense_hash_map"), "ht_type"),
        (lambda: tf.EmbeddingVariableOption(ht_partition_num=10), "ht_partition_num"),
        (lambda: tf.CheckpointOption(init_data_source="table"), "init_data_source"),
        (lambda: tf.get_embedding_variable("cached", 2, caching_device="/cpu:0"), "caching_device"),
        (lambda: tf.get_embedding_variable("unchecked", 2, validate_shape=False), "validate_shape"),
        (lambda: tf.StorageOption(cache_strategy=0), "cache_strategy"),
    ],
)
def test_arguments_without_effect_warn(make, argument, monkeypatch):
    # Each message comes once in a process.
    monkeypatch.setattr(moved_names, "_WARNED", set())
    with tf.Graph().as_default(), pytest.warns(UserWarning, match=f"{argument}=.* has no effect"):
        make()
