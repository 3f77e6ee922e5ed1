"""ESMM (Ma et al., 2018, arXiv:1804.07931) on Taobao columns.

user, item: the embeddings of each side -> relu layers; combo: [user, item] -> relu layers
click: pCTR = sigmoid(combo -> relu layers -> 1); buy after click: pCVR, likewise
pCTCVR = pCTR * pCVR is the probability of a buy in an impression; its loss and that of pCTR are over all impressions, so pCVR is
    learned without the choice of clicked ones.
"""

import tensorflow as tf

from common import flags, taobao, taobao_columns, zoo
from common.model_flags import dense_scope, logit, mlp


def add_flags(group) -> None:
    for name, units in (
        ("user", (256, 128, 96, 64)),
        ("item", (256, 128, 96, 64)),
        ("combo", (128, 96, 64, 32)),
        ("ctr", (256, 128, 96, 64)),
        ("cvr", (256, 128, 96, 64)),
    ):
        group.add_argument(f"--{name}_units", type=flags.int_list, default=units, metavar="N,N,...")


def outputs(features, labels, args, embeddings, training) -> zoo.Outputs:
    """Features and labels: see taobao.FORMAT."""
    del training  # the network is the same
    sides = []
    for name, columns, units in (
        ("user", taobao_columns.USER, args.user_units),
        ("item", taobao_columns.ITEM, args.item_units),
    ):
        with dense_scope(args, name):
            sides.append(mlp(taobao_columns.vectors(features, args, embeddings, columns), units, "hidden"))
    with dense_scope(args, "combo"):
        combo = mlp(tf.concat(sides, 1), args.combo_units, "hidden")
    with dense_scope(args, "ctr"):
        ctr = logit(mlp(combo, args.ctr_units, "hidden"))
    with dense_scope(args, "cvr"):
        cvr = logit(mlp(combo, args.cvr_units, "hidden"))
    losses = zoo.cross_entropy(labels[taobao.CLICK], ctr) + product_cross_entropy(labels[taobao.BUY], ctr, cvr)
    return zoo.Outputs(losses, {taobao.CLICK: tf.sigmoid(ctr), taobao.BUY: tf.sigmoid(ctr) * tf.sigmoid(cvr)})


def product_cross_entropy(labels: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Of the probability p = sigmoid(a) * sigmoid(b), finite for all finite a and b: 1 - p is
    (exp(-a) + exp(-b) + exp(-a - b)) * p."""
    log_p = tf.log_sigmoid(a) + tf.log_sigmoid(b)
    log_rest = log_p + tf.reduce_logsumexp(tf.stack([-a, -b, -a - b]), 0)
    return -(labels * log_p + (1 - labels) * log_rest)
