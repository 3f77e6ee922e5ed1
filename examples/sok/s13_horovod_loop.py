"""S13: the training loop under Horovod. The loss it prints is the mean over ranks, each of which divides by the global batch."""

import common
import horovod.tensorflow as hvd
import s05_mirrored_model
import s12_horovod_train_step
import tensorflow as tf


def main(argv=None):
    tf.compat.v1.enable_v2_behavior()
    args = s05_mirrored_model.parse(__doc__, argv)
    hvd.init()
    train_step = s12_horovod_train_step.make_train_step(*s05_mirrored_model.make_model(args), args)
    for i, (inputs, labels) in enumerate(common.dataset(args, hvd.rank(), hvd.size())):
        loss = hvd.allreduce(train_step(inputs, labels, first_batch=i == 0))
        print(f"[SOK INFO]: Iteration: {i}, loss:", loss)


if __name__ == "__main__":
    main()
