"""S17: the ops of a training step in a TF1 graph, with the names and calls put right that the user guide has wrong."""

import common
import horovod.tensorflow as hvd
import s05_mirrored_model
import s16_horovod_model_tf1
import tensorflow.compat.v1 as tf

import sparse_operation_kit as sok


def train_step(inputs, labels, model, emb_opt, dense_opt, args):
    """`(mean loss over all ranks after a step, op that gives all ranks the dense layers of rank 0)`."""
    logits = model(inputs, training=True)
    loss = common.replica_loss(labels, logits, args.batch_size)
    emb_var, other_var = sok.split_embedding_variable_from_others(model.trainable_variables)
    grads = tf.gradients(loss, emb_var + other_var, colocate_gradients_with_ops=True)
    emb_grads, other_grads = grads[: len(emb_var)], grads[len(emb_var) :]
    if args.use_tf_opt:
        with sok.OptimizerScope(emb_var):
            emb_train_op = emb_opt.apply_gradients(zip(emb_grads, emb_var))
    else:
        emb_train_op = emb_opt.apply_gradients(zip(emb_grads, emb_var))
    other_grads = [hvd.allreduce(grad) for grad in other_grads]
    other_train_op = dense_opt.apply_gradients(zip(other_grads, other_var))
    with tf.control_dependencies([emb_train_op, other_train_op]):
        total_loss = hvd.allreduce(loss)
    return total_loss, hvd.broadcast_variables(other_var, root_rank=0)


def main(argv=None):
    tf.disable_v2_behavior()
    args = s05_mirrored_model.parse(__doc__, argv)
    hvd.init()
    with tf.Graph().as_default():
        _, *made = s16_horovod_model_tf1.make_model(args)
        inputs = tf.placeholder(tf.int64, [args.batch_size // hvd.size(), args.slots, args.nnz])
        total_loss, _ = train_step(inputs, tf.placeholder(tf.float32, [inputs.shape[0], 1]), *made, args)
        print("loss:", total_loss)


if __name__ == "__main__":
    main()
