"""S24: gradients of the tables, which are of the rows that this rank holds and summed over all ranks, and a step of SGD."""

import s20_experimental_init
import s21_variables
import s23_lookup_sparse
import tensorflow as tf


def main(argv=None):
    args = s21_variables.parse(__doc__, argv)
    s20_experimental_init.initialize()
    variables = list(s21_variables.make(args.localized))
    with tf.GradientTape() as tape:
        embeddings = s23_lookup_sparse.lookup(variables)
        loss = tf.add_n([tf.reduce_sum(embedding) for embedding in embeddings])
    grads = tape.gradient(loss, variables)
    for i, grad in enumerate(grads, 1):
        print(f"grad{i}:", grad)
    optimizer = tf.keras.optimizers.SGD(learning_rate=1.0)
    optimizer.apply_gradients(zip(grads, variables))
    for i, variable in enumerate(variables, 1):
        print(f"v{i}:", variable)


if __name__ == "__main__":
    main()
