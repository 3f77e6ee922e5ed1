"""Lookups in one op beside SmartStage and asynchronous embedding."""

import numpy as np
import tensorflow as tf


def train(marked_in_stage, steps=20, **options):
    """Losses, op types of the last step, and types of the operations whose outputs the stage's buffer takes."""
    config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
    for name, value in options.items():
        setattr(config.graph_options.optimizer_options, name, value)
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(2)
        words = np.random.RandomState(0).choice(["a", "b", "c", "d", ""], [8 * (steps + 10), 3])
        data = tf.data.Dataset.from_tensor_slices(words).batch(8)
        batch = tf.data.make_one_shot_iterator(data).get_next()
        batch = tf.staged(batch) if marked_in_stage else batch
        column = tf.feature_column.embedding_column(
            tf.feature_column.categorical_column_with_hash_bucket("word", 20), 4, combiner="sum"
        )
        net = tf.feature_column.input_layer({"word": batch}, column)
        loss = tf.reduce_mean(tf.square(tf.layers.dense(net, 1) - 1.0))
        step = tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
        hooks = [tf.make_prefetch_hook()] if marked_in_stage else []
        metadata = tf.RunMetadata()
        with tf.train.MonitoredTrainingSession(config=config, hooks=hooks) as session:
            losses = [session.run([loss, step])[0] for _ in range(steps)]
            session.run(step, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
        run = [node.op for part in metadata.partition_graphs for node in part.node]
        puts = [op for op in graph.get_operations() if op.type == "TensorBufferPut"]
        return losses, run, {tensor.op.type for tensor in (puts[-1].inputs if puts else ())}


def test_smart_stage_leaves_the_ops_of_a_lookup_in_one_op_where_they_are():
    plain, run, _ = train(False)
    assert run.count("GroupEmbeddingLookup") == 1
    staged, run, record = train(True, do_smart_stage=True)
    assert run.count("GroupEmbeddingLookup") == 1 and "SparseSegmentSum" not in run
    assert "StringToHashBucketFast" in record and not {"Unique", "SparseFillEmptyRows"} & record
    np.testing.assert_array_equal(staged, plain)


def test_asynchronous_embedding_moves_the_lookup_as_it_was():
    losses, run, record = train(True, do_async_embedding=True)
    assert not {"GroupEmbeddingLookup", "SparseSegmentSum"} & set(run) and len(record) > 1
    assert np.mean(losses[-5:]) < 0.7 * np.mean(losses[:5])
