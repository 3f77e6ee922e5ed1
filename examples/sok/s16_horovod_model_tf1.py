"""S16: the model in a TF1 graph. sok.Init gives an op, which runs first."""

import horovod.tensorflow as hvd
import s02_subclassed_model
import s05_mirrored_model
import tensorflow.compat.v1 as tf

import sparse_operation_kit as sok


def make_model(args):
    """`(op of sok.Init, model, optimizer of the table, optimizer of the dense layers)`."""
    sok_init_op = sok.Init(global_batch_size=args.batch_size)
    model = s02_subclassed_model.make(args)
    # Those of tf.compat.v1: the newer ones of the 2.x root do nothing in a session.
    dense_opt = tf.keras.optimizers.Adam(learning_rate=args.learning_rate)
    if args.use_tf_opt:
        emb_opt = tf.keras.optimizers.Adam(learning_rate=args.learning_rate)
    else:
        emb_opt = sok.optimizers.Adam(learning_rate=args.learning_rate)
    return sok_init_op, model, emb_opt, dense_opt


def main(argv=None):
    tf.disable_v2_behavior()
    args = s05_mirrored_model.parse(__doc__, argv)
    hvd.init()
    with tf.Graph().as_default(), tf.Session() as sess:
        sok_init_op, *made = make_model(args)
        print("sok.Init:", sess.run(sok_init_op).decode())
        print(*[type(x).__name__ for x in made])


if __name__ == "__main__":
    main()
