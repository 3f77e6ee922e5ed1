"""Two towers on one set of embeddings, on Taobao columns: the plain form of multi-task learning (Caruana, 1997).

x: 18 embeddings side by side
logit of a task: x -> relu layers of its own -> 1
"""

from typing import Dict

import tensorflow as tf

from common import flags, taobao, taobao_columns
from common.model_flags import dense_scope, logit, mlp


def add_flags(group) -> None:
    group.add_argument("--tower_units", type=flags.int_list, default=(256, 196, 128, 64), metavar="N,N,...")


def logits(features, args, embeddings, training) -> Dict[str, tf.Tensor]:
    """float32 [B] of each label; features: see taobao.FORMAT."""
    del training  # the network is the same
    net = taobao_columns.vectors(features, args, embeddings)
    result = {}
    for task in taobao.LABELS:
        with dense_scope(args, f"tower_{task}"):
            result[task] = logit(mlp(net, args.tower_units, "hidden"))
    return result
