"""autograph, batching, compiler, deprecated, libsvm, proto, quantization, tensorboard, testing."""

import importlib

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format

_RANDOM = np.random.RandomState(5)


def _run(make):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(make())


def test_autograph_converts_a_loop():
    def double_until(x):
        while x < 100:
            x = x * 2
        return x

    converted = tf.contrib.autograph.to_graph(double_until)
    assert _run(lambda: converted(tf.constant(3))) == 192
    assert "while_stmt" in tf.contrib.autograph.to_code(double_until)


@pytest.mark.parametrize("name", ["audio", "histogram", "image", "scalar"])
def test_deprecated_summaries_write_protos(name):
    def make():
        values = {
            "audio": lambda s: s("tag", tf.zeros([1, 8, 1]), 8000.0),
            "histogram": lambda s: s("tag", tf.constant([1.0, 2.0])),
            "image": lambda s: s("tag", tf.zeros([1, 2, 2, 3])),
            "scalar": lambda s: s(["tag"], tf.constant([3.0])),
        }
        one = values[name](getattr(tf.contrib.deprecated, f"{name}_summary"))
        return tf.contrib.deprecated.merge_summary([one])

    summary = tf.Summary.FromString(_run(make))
    assert summary.value[0].tag.startswith("tag")
    with tf.Graph().as_default():
        tf.contrib.deprecated.scalar_summary("a", 1.0)
        assert tf.contrib.deprecated.merge_all_summaries().dtype == tf.string


def test_batch_function_calls_with_a_batch():
    @tf.contrib.batching.batch_function(1, 10, 1000)
    def square(x):
        return x * x

    np.testing.assert_array_equal(_run(lambda: square(tf.constant([2.0, 3.0]))), [4, 9])


def test_proto_round_trip():
    name = "tensorflow.contrib.tensorboard.SpriteMetadata"
    tf.contrib.tensorboard.plugins.projector.SpriteMetadata()
    message = tf.contrib.tensorboard.plugins.projector.projector_config_pb2.SpriteMetadata(image_path="a.png")
    descriptors = b"bytes://" + _descriptor_set(message)

    def make():
        sizes, [value] = tf.contrib.proto.decode_proto(
            [message.SerializeToString()], name, ["image_path"], [tf.string], descriptor_source=descriptors
        )
        again = tf.contrib.proto.encode_proto(sizes, [value], ["image_path"], name, descriptor_source=descriptors)
        return value, again

    value, again = _run(make)
    assert value.tolist() == [[b"a.png"]] and again[0] == message.SerializeToString()


def _descriptor_set(message):
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet()
    message.DESCRIPTOR.file.CopyToProto(files.file.add())
    return files.SerializeToString()


def test_quantization_is_undone_by_dequantize():
    x = _RANDOM.uniform(-1, 1, [20]).astype(np.float32)

    def make():
        low, high = tf.constant(-1.0), tf.constant(1.0)
        q = tf.contrib.quantization.quantize_v2(x, low, high, tf.quint8)
        joined, low, high = tf.contrib.quantization.quantized_concat(
            tf.constant(0), [q.output] * 2, [q.output_min] * 2, [q.output_max] * 2
        )
        return tf.contrib.quantization.dequantize(joined, low, high)

    np.testing.assert_allclose(_run(make), np.tile(x, 2), atol=2 / 255)


def test_compiled_functions_and_scopes_compute_the_same():
    a, b = _RANDOM.rand(3, 4), _RANDOM.rand(4, 2)

    def make():
        with tf.contrib.compiler.jit.experimental_jit_scope():
            scoped = tf.matmul(a, b)
        return scoped, tf.contrib.compiler.xla.compile(lambda x, y: tf.matmul(x, y), [a, b])[0]

    for got in _run(make):
        np.testing.assert_allclose(got, a @ b)


def test_libsvm_lines_become_labels_and_sparse_features():
    lines = [b"1 0:0.5 3:2", b"-1", b"0 2:1e-3"]
    labels, features = _run(lambda: tf.contrib.libsvm.decode_libsvm(tf.constant(lines), 4))
    assert labels.dtype == np.int64 and labels.tolist() == [1, -1, 0]
    assert features.indices.tolist() == [[0, 0], [0, 3], [2, 2]] and features.dense_shape.tolist() == [3, 4]
    np.testing.assert_allclose(features.values, [0.5, 2, 1e-3])


@pytest.mark.parametrize("line", [b"", b"1 7:2", b"1 0;2", b"x 0:1", b"1 -1:3"])
def test_libsvm_refuses_what_it_cannot_read(line):
    with pytest.raises(tf.errors.InvalidArgumentError, match="decode_libsvm"):
        _run(lambda: tf.contrib.libsvm.decode_libsvm(tf.constant([line]), 4)[0])


def test_libsvm_refuses_no_features():
    with pytest.raises(ValueError, match="num_features"):
        tf.contrib.libsvm.decode_libsvm(tf.constant([b"1"]), 0)


def test_projector_writes_its_configuration(tmp_path):
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add(tensor_name="table", metadata_path="names.tsv")
    embedding.sprite.single_image_dim.extend([8, 8])
    with tf.Graph().as_default():
        projector.visualize_embeddings(tf.summary.FileWriter(str(tmp_path)), config)
    read = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), projector.ProjectorConfig())
    assert read == config
    assert importlib.import_module("tensorflow.contrib.tensorboard.plugins").projector is projector


def test_latest_summaries_come_from_the_newest_file(tmp_path):
    testing = tf.contrib.testing
    assert testing.latest_event_file(str(tmp_path)) is None and testing.latest_events(str(tmp_path)) == []
    with tf.Graph().as_default():
        writer = tf.summary.FileWriter(str(tmp_path))
        for step in range(3):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=step)]), step)
        writer.close()
    summaries = testing.latest_summaries(str(tmp_path))
    assert [event.step for event in summaries] == [0, 1, 2]
    assert testing.simple_values_from_events(testing.latest_events(str(tmp_path)), ["loss", "other"]) == {"loss": 2}
    testing.assert_summary(["loss"], {"loss": 0}, summaries[0].summary)
    with pytest.raises(AssertionError, match="tags"):
        testing.assert_summary(["other"], {}, summaries[0].summary)


def test_fake_writer_takes_the_place_of_the_real_one():
    import unittest

    fake = tf.contrib.testing.FakeSummaryWriter
    fake.install()
    try:
        with tf.Graph().as_default() as graph:
            writer = tf.summary.FileWriterCache.get("somewhere")
            assert isinstance(writer, fake)
            serialized = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=2)]).SerializeToString()
            writer.add_summary(serialized, 4)
            writer.add_graph(graph)
            case = unittest.TestCase()
            writer.assert_summaries(case, "somewhere", expected_summaries={4: {"a": 2}}, expected_added_graphs=[graph])
            with pytest.raises(AssertionError):
                writer.assert_summaries(case, expected_summaries={4: {"a": 3}})
        with pytest.raises(ValueError, match="installed"):
            fake.install()
    finally:
        fake.uninstall()
        tf.summary.FileWriterCache.clear()
    assert tf.summary.FileWriterCache.get is not None
    with pytest.raises(ValueError, match="not installed"):
        fake.uninstall()


def test_keras_tensorboard_takes_its_arguments_in_the_order_of_contrib(tmp_path):
    from tensorflow.contrib.keras.api.keras.callbacks import TensorBoard

    assert TensorBoard is tf.contrib.keras.callbacks.TensorBoard
    with tf.Graph().as_default(), tf.Session():
        callback = TensorBoard(str(tmp_path), 0, False, False, "batch", 0)
        assert isinstance(callback, tf.keras.callbacks.TensorBoard)
        assert (callback.log_dir, callback.write_graph, callback.update_freq) == (str(tmp_path), False, 1)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        model.fit(np.ones((4, 2)), np.ones(4), batch_size=2, verbose=0, callbacks=[callback])
    tags = {
        value.tag
        for path in tmp_path.rglob("*tfevents*")
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
    }
    assert any("loss" in tag for tag in tags)
    with pytest.raises(TypeError, match="unknown"):
        TensorBoard(unknown=1)
