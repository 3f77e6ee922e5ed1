"""PLE (Tang et al., 2020, "Progressive Layered Extraction: A Novel Multi-Task Learning Model for Personalized Recommendations",
RecSys) on Taobao columns.

x: 18 embeddings side by side, the input of the shared part and of every task
level: each task and the shared part have experts (relu layers) on their own input; a task's next input is the sum of its and the
    shared experts, the shared part's that of all experts, weighted by a softmax gate on the own input. The last level has no gate
    of the shared part.
logit of a task: its last mixture -> relu layers -> 1
"""

from typing import Dict

import tensorflow as tf

from common import flags, taobao, taobao_columns
from common.model_flags import dense_scope, logit, mixture, mlp

_SHARED = "shared"


def add_flags(group) -> None:
    group.add_argument("--levels", type=flags.positive_int, default=3, metavar="N")
    group.add_argument("--shared_experts", type=flags.positive_int, default=1, metavar="N", help="of each level")
    group.add_argument("--task_experts", type=flags.positive_int, default=2, metavar="N", help="of each level and task")
    group.add_argument("--expert_units", type=flags.int_list, default=(256, 128, 64), metavar="N,N,...")
    group.add_argument("--tower_units", type=flags.int_list, default=(256, 128, 64), metavar="N,N,...")


def logits(features, args, embeddings, training) -> Dict[str, tf.Tensor]:
    """float32 [B] of each label; features: see taobao.FORMAT."""
    del training  # the network is the same
    inputs = dict.fromkeys((*taobao.LABELS, _SHARED), taobao_columns.vectors(features, args, embeddings))
    for level in range(args.levels):
        with dense_scope(args, f"level_{level}"):
            inputs = extraction(inputs, args, last=level + 1 == args.levels)
    result = {}
    for task in taobao.LABELS:
        with dense_scope(args, f"tower_{task}"):
            result[task] = logit(mlp(inputs[task], args.tower_units, "hidden"))
    return result


def extraction(inputs: Dict[str, tf.Tensor], args, last: bool) -> Dict[str, tf.Tensor]:
    """One level: the next input of each task and, but for the last level, of the shared part."""
    experts = {}
    for part, net in inputs.items():
        count = args.shared_experts if part == _SHARED else args.task_experts
        experts[part] = [mlp(net, args.expert_units, f"{part}_expert_{i}") for i in range(count)]
    result = {}
    for part, net in inputs.items():
        if part != _SHARED:
            result[part] = mixture(net, experts[part] + experts[_SHARED], f"{part}_gate")
        elif not last:
            result[part] = mixture(net, sum(experts.values(), []), f"{part}_gate")
    return result
