"""S2: a subclass of tf.keras.Model with a table that is spread over all replicas."""

import common
import tensorflow as tf

import sparse_operation_kit as sok


class DemoModel(tf.keras.Model):
    """Rows of all keys of a sample, side by side, through dense layers to one logit.

    Args:
      vocabulary: rows of the table on each replica.
      slots, nnz: slots of a sample, keys of a slot.
      dim: elements of a row.
      layers, units: hidden layers and their width.
    """

    def __init__(self, vocabulary, slots, nnz, dim, layers, units, **kwargs):
        super().__init__(**kwargs)
        self._width = slots * nnz * dim
        self.embedding_layer = sok.All2AllDenseEmbedding(
            max_vocabulary_size_per_gpu=vocabulary, embedding_vec_size=dim, slot_num=slots, nnz_per_slot=nnz
        )
        self.hidden_layers = [tf.keras.layers.Dense(units, activation="relu") for _ in range(layers)]
        self.out_layer = tf.keras.layers.Dense(1, activation=None)

    def call(self, inputs, training=True):
        """`[batch, slots, nnz]` keys -> `[batch, 1]` logits."""
        hidden = tf.reshape(self.embedding_layer(inputs, training=training), [-1, self._width])
        for layer in self.hidden_layers:
            hidden = layer(hidden)
        return self.out_layer(hidden)


def make(args):
    return DemoModel(args.vocabulary, args.slots, args.nnz, args.dim, args.layers, args.units)


def main(argv=None):
    tf.compat.v1.enable_v2_behavior()
    args = common.parse(__doc__, argv)
    sok.Init(global_batch_size=args.batch_size)
    model = make(args)
    for keys, _ in common.dataset(args).take(1):
        print("logits:", model(keys, training=True).shape)
    for variable in model.trainable_variables:
        print(variable.name, variable.shape)


if __name__ == "__main__":
    main()
