"""S12: a training step under Horovod.

`hvd.allreduce` averages, as in the user guide: with a loss over the global batch the dense gradients are those of one process divided by
the number of ranks, the table's are not. Pass op=hvd.Sum to train as one process does.
"""

import common
import horovod.tensorflow as hvd
import s05_mirrored_model
import tensorflow as tf

import sparse_operation_kit as sok


def make_train_step(model, emb_opt, dense_opt, args):
    """A function (keys, labels, first_batch) -> the loss of this rank. It is traced twice, as first_batch is a Python bool."""

    @tf.function
    def train_step(inputs, labels, first_batch):
        with tf.GradientTape() as tape:
            logits = model(inputs, training=True)
            loss = common.replica_loss(labels, logits, args.batch_size)
        emb_var, other_var = sok.split_embedding_variable_from_others(model.trainable_variables)
        emb_grads, other_grads = tape.gradient(loss, [emb_var, other_var])
        if args.use_tf_opt:
            with sok.OptimizerScope(emb_var):
                emb_opt.apply_gradients(zip(emb_grads, emb_var), experimental_aggregate_gradients=False)
        else:
            emb_opt.apply_gradients(zip(emb_grads, emb_var), experimental_aggregate_gradients=False)
        other_grads = [hvd.allreduce(grad) for grad in other_grads]
        dense_opt.apply_gradients(zip(other_grads, other_var))
        if first_batch:
            # Not the table: each rank has its own part.
            hvd.broadcast_variables(other_var, root_rank=0)
            hvd.broadcast_variables(dense_opt.variables(), root_rank=0)
        return loss

    return train_step


def main(argv=None):
    tf.compat.v1.enable_v2_behavior()
    args = s05_mirrored_model.parse(__doc__, argv)
    hvd.init()
    train_step = make_train_step(*s05_mirrored_model.make_model(args), args)
    inputs, labels = next(iter(common.dataset(args, hvd.rank(), hvd.size())))
    print(f"loss of rank {hvd.rank()}:", train_step(inputs, labels, first_batch=True))


if __name__ == "__main__":
    main()
