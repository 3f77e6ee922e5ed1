"""DBMTL (Wang et al., 2019, "Deep Bayesian Multi-Target Learning for Recommender Systems", arXiv:1902.09154) on Taobao columns.

bottom: 18 embeddings side by side -> relu layers
tower of a task: bottom -> relu layers
click: its tower -> 1; buy, which depends on the click: [its tower, the click's tower] -> relation layers -> 1
"""

from typing import Dict

import tensorflow as tf

from common import flags, taobao, taobao_columns
from common.model_flags import dense_scope, logit, mlp


def add_flags(group) -> None:
    group.add_argument("--bottom_units", type=flags.int_list, default=(1024, 512, 256), metavar="N,N,...")
    group.add_argument("--tower_units", type=flags.int_list, default=(256, 128, 64, 32), metavar="N,N,...")
    group.add_argument("--relation_units", type=flags.int_list, default=(32,), metavar="N,N,...")


def logits(features, args, embeddings, training) -> Dict[str, tf.Tensor]:
    """float32 [B] of each label; features: see taobao.FORMAT."""
    del training  # the network is the same
    with dense_scope(args, "bottom"):
        net = mlp(taobao_columns.vectors(features, args, embeddings), args.bottom_units, "hidden")
    with dense_scope(args, "click"):
        click_tower = mlp(net, args.tower_units, "hidden")
        click = logit(click_tower)
    with dense_scope(args, "buy"):
        buy_tower = mlp(net, args.tower_units, "hidden")
        buy = logit(mlp(tf.concat([buy_tower, click_tower], 1), args.relation_units, "relation"))
    return {taobao.CLICK: click, taobao.BUY: buy}
