"""S6: a training step in a replica: the table with one optimizer, the dense layers with another."""

import common
import s04_mirrored_strategy
import s05_mirrored_model
import tensorflow as tf

import sparse_operation_kit as sok


def make_train_step(strategy, model, emb_opt, dense_opt, args):
    """A function (keys, labels), of one replica or of all, -> the loss of each replica."""

    def of_replica(inputs, labels):
        with tf.GradientTape() as tape:
            logits = model(inputs, training=True)
            loss = common.replica_loss(labels, logits, args.batch_size)
        emb_var, other_var = sok.split_embedding_variable_from_others(model.trainable_variables)
        other_grads, emb_grads = tape.gradient(loss, [other_var, emb_var])
        # The table's gradients are summed over all replicas already: nobody may do so again.
        if args.use_tf_opt:
            with sok.OptimizerScope(emb_var):
                emb_opt.apply_gradients(zip(emb_grads, emb_var), experimental_aggregate_gradients=False)
        else:
            emb_opt.apply_gradients(zip(emb_grads, emb_var), experimental_aggregate_gradients=False)
        dense_opt.apply_gradients(zip(other_grads, other_var))
        return loss

    return tf.function(lambda inputs, labels: strategy.run(of_replica, args=(inputs, labels)))


def main(argv=None):
    tf.compat.v1.enable_v2_behavior()
    args = s05_mirrored_model.parse(__doc__, argv, replicas=s04_mirrored_strategy.REPLICAS)
    strategy = s04_mirrored_strategy.make_strategy(args.replicas)
    with strategy.scope():
        model, emb_opt, dense_opt = s05_mirrored_model.make_model(args)
    train_step = make_train_step(strategy, model, emb_opt, dense_opt, args)
    batch = next(iter(strategy.experimental_distribute_dataset(common.dataset(args))))
    print("loss of each replica:", strategy.experimental_local_results(train_step(*batch)))


if __name__ == "__main__":
    main()
