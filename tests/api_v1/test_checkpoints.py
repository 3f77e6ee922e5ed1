"""What tf.train.Saver writes."""

import tensorflow as tf


def test_sharded_saver_groups_by_the_device_of_what_is_saved(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("ref", [2], use_resource=False)
        tf.get_variable("parts", [4, 2], use_resource=True, partitioner=tf.fixed_size_partitioner(2))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver(sharded=True).save(session, str(tmp_path / "m"))
    assert len(list(tmp_path.glob("m.data-*-of-00002"))) == 2
    reader = tf.train.load_checkpoint(path)
    assert sorted(reader.get_variable_to_shape_map()) == ["parts", "ref"]
