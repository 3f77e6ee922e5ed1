"""S18: the training loop in a TF1 session: the op of sok.Init, the initializers, the steps."""

import common
import horovod.tensorflow as hvd
import s05_mirrored_model
import s16_horovod_model_tf1
import s17_horovod_train_step_tf1
import tensorflow.compat.v1 as tf


def main(argv=None):
    tf.disable_v2_behavior()
    args = s05_mirrored_model.parse(__doc__, argv)
    hvd.init()
    with tf.Graph().as_default(), tf.Session() as sess:
        sok_init_op, *made = s16_horovod_model_tf1.make_model(args)
        iterator = tf.data.make_initializable_iterator(common.dataset(args, hvd.rank(), hvd.size()))
        inputs, labels = iterator.get_next()
        total_loss, broadcast_op = s17_horovod_train_step_tf1.train_step(inputs, labels, *made, args)
        init_op = tf.group(tf.global_variables_initializer(), iterator.initializer)
        sess.run(sok_init_op)
        sess.run(init_op)
        sess.run(broadcast_op)
        for i in range(args.steps):
            loss_v = sess.run(total_loss)
            print(f"[SOK INFO]: Iteration: {i}, loss: {loss_v}")


if __name__ == "__main__":
    main()
