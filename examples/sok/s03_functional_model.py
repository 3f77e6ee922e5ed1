"""S3: the same model by the functional API. The last Dense is called, which the user guide forgets."""

import common
import tensorflow as tf

import sparse_operation_kit as sok


def create_model(vocabulary, slots, nnz, dim, layers, units):
    """See DemoModel of s02_subclassed_model.py."""
    inputs = tf.keras.Input(type_spec=tf.TensorSpec(shape=(None, slots, nnz), dtype=tf.int64))
    embedding_layer = sok.All2AllDenseEmbedding(
        max_vocabulary_size_per_gpu=vocabulary, embedding_vec_size=dim, slot_num=slots, nnz_per_slot=nnz
    )
    hidden = tf.keras.layers.Reshape(target_shape=(slots * nnz * dim,))(embedding_layer(inputs))
    for _ in range(layers):
        hidden = tf.keras.layers.Dense(units, activation="relu")(hidden)
    logit = tf.keras.layers.Dense(1, activation=None)(hidden)
    return tf.keras.Model(inputs=inputs, outputs=logit)


def make(args):
    return create_model(args.vocabulary, args.slots, args.nnz, args.dim, args.layers, args.units)


def main(argv=None):
    tf.compat.v1.enable_v2_behavior()
    args = common.parse(__doc__, argv)
    sok.Init(global_batch_size=args.batch_size)
    model = make(args)
    model.summary()
    for keys, _ in common.dataset(args).take(1):
        print("logits:", model(keys, training=True).shape)


if __name__ == "__main__":
    main()
