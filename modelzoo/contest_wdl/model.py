"""The Wide & Deep (Cheng et al., 2016, arXiv:1606.07792) of the Tianchi contest, on Ele.me-like columns.

wide:  sum over the 18 categories of one weight per hash bucket
deep:  [10 numbers, 27 embeddings, each scaled to length 1] -> relu layers -> 1
logit = wide + deep
"""

import tensorflow as tf

from common import eleme_columns, flags, model_flags
from common.model_flags import dense_scope, logit, mlp
from common.parts import minimize_parts

_WIDE_SCOPE, _DEEP_SCOPE = "linear", "deep"


def add_flags(group) -> None:
    group.add_argument("--hidden_units", type=flags.int_list, default=(1024, 512, 256, 64), metavar="N,N,...")
    group.add_argument(
        "--linear_learning_rate", type=flags.positive_float, default=0.2, metavar="R", help="of the wide part, by Ftrl"
    )


def logits(features, args, embeddings, training) -> tf.Tensor:
    """float32 [B]; features: see eleme.FORMAT."""
    del training  # the network is the same
    with embeddings.variable_scope(_WIDE_SCOPE):
        wide = tf.feature_column.linear_model(
            {name: features[name] for name in eleme_columns.CATEGORIES}, eleme_columns.hashed(args)
        )
    with tf.variable_scope(_DEEP_SCOPE):
        vectors = [tf.nn.l2_normalize(vector, 1) for vector in eleme_columns.vectors(features, args, embeddings)]
        with dense_scope(args, "dnn"):
            net = tf.concat([eleme_columns.numbers(features), *vectors], 1)
            return tf.squeeze(wide, 1) + logit(mlp(net, args.hidden_units, "hidden"))


def minimize(args, loss: tf.Tensor, step: tf.Variable) -> tf.Operation:
    """One step: Ftrl on the wide part, --optimizer on the deep one."""
    return minimize_parts(
        loss,
        {
            _WIDE_SCOPE: tf.train.FtrlOptimizer(args.linear_learning_rate),
            _DEEP_SCOPE: model_flags.OPTIMIZERS[args.optimizer](args.learning_rate, step),
        },
        step,
    )
