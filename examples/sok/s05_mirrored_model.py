"""S5: model and optimizers in the scope of a strategy."""

import common
import s02_subclassed_model
import s03_functional_model
import s04_mirrored_strategy
import tensorflow as tf

import sparse_operation_kit as sok

OPTIONS = {
    "use_tf_opt": (True, "train the table with TensorFlow's Adam; if not, with that of SparseOperationKit"),
    "functional": (False, "make the model of s03 in place of that of s02"),
}


def make_model(args):
    """Sets SparseOperationKit up; returns `(model, optimizer of the table, optimizer of the dense layers)`."""
    sok.Init(global_batch_size=args.batch_size)
    model = (s03_functional_model if args.functional else s02_subclassed_model).make(args)
    if args.use_tf_opt:
        emb_opt = tf.keras.optimizers.Adam(learning_rate=args.learning_rate)
    else:
        emb_opt = sok.optimizers.Adam(learning_rate=args.learning_rate)
    return model, emb_opt, tf.keras.optimizers.Adam(learning_rate=args.learning_rate)


def parse(description, argv, **extra):
    return common.parse(description, argv, learning_rate=(0.1, "of both optimizers"), **OPTIONS, **extra)


def main(argv=None):
    tf.compat.v1.enable_v2_behavior()
    args = parse(__doc__, argv, replicas=s04_mirrored_strategy.REPLICAS)
    with s04_mirrored_strategy.make_strategy(args.replicas).scope():
        model, emb_opt, dense_opt = make_model(args)
    print(type(model).__name__, type(emb_opt).__name__, type(dense_opt).__name__)


if __name__ == "__main__":
    main()
