"""MMoE (Ma et al., 2018, "Modeling Task Relationships in Multi-task Learning with Multi-gate Mixture-of-Experts", KDD) on
Taobao columns.

x: 18 embeddings side by side
experts: x -> relu layers, `experts` times
mixture of a task: sum of the experts, weighted by softmax(x G) with a G of the task
logit of a task: its mixture -> relu layers -> 1
"""

from typing import Dict

import tensorflow as tf

from common import flags, taobao, taobao_columns
from common.model_flags import dense_scope, logit, mixture, mlp


def add_flags(group) -> None:
    group.add_argument("--experts", type=flags.positive_int, default=4, metavar="N")
    group.add_argument("--expert_units", type=flags.int_list, default=(256, 192, 128, 64), metavar="N,N,...")
    group.add_argument("--tower_units", type=flags.int_list, default=(256, 192, 128, 64), metavar="N,N,...")


def logits(features, args, embeddings, training) -> Dict[str, tf.Tensor]:
    """float32 [B] of each label; features: see taobao.FORMAT."""
    del training  # the network is the same
    net = taobao_columns.vectors(features, args, embeddings)
    experts = []
    for i in range(args.experts):
        with dense_scope(args, f"expert_{i}"):
            experts.append(mlp(net, args.expert_units, "hidden"))
    result = {}
    for task in taobao.LABELS:
        with dense_scope(args, f"tower_{task}"):
            result[task] = logit(mlp(mixture(net, experts, "gate"), args.tower_units, "hidden"))
    return result
