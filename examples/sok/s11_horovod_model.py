"""S11: the model under Horovod, which sok.Init takes as it has been imported."""

import horovod.tensorflow as hvd
import s05_mirrored_model
import tensorflow as tf


def main(argv=None):
    tf.compat.v1.enable_v2_behavior()
    args = s05_mirrored_model.parse(__doc__, argv)
    hvd.init()
    model, emb_opt, dense_opt = s05_mirrored_model.make_model(args)
    print(type(model).__name__, type(emb_opt).__name__, type(dense_opt).__name__)


if __name__ == "__main__":
    main()
