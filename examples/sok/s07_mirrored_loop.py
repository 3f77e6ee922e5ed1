"""S7: the training loop under a strategy."""

import common
import s04_mirrored_strategy
import s05_mirrored_model
import s06_mirrored_train_step
import tensorflow as tf


def train(strategy, args):
    """Trains for some steps and prints the loss of each, that of the whole batch."""
    with strategy.scope():
        model, emb_opt, dense_opt = s05_mirrored_model.make_model(args)
    train_step = s06_mirrored_train_step.make_train_step(strategy, model, emb_opt, dense_opt, args)
    batches = strategy.experimental_distribute_dataset(common.dataset(args))
    for i, (inputs, labels) in enumerate(batches):
        replica_losses = train_step(inputs, labels)
        total_loss = strategy.reduce(tf.distribute.ReduceOp.SUM, replica_losses, axis=None)
        print(f"[SOK INFO]: Iteration: {i}, loss:", total_loss)


def main(argv=None):
    tf.compat.v1.enable_v2_behavior()
    args = s05_mirrored_model.parse(__doc__, argv, replicas=s04_mirrored_strategy.REPLICAS)
    train(s04_mirrored_strategy.make_strategy(args.replicas), args)


if __name__ == "__main__":
    main()
