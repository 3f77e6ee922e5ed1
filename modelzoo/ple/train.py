"""Trains PLE on Taobao data, or on a generated set of that form. See README.md beside this file."""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # read at import: no start-up notices in the log
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import model
from common import model_flags, zoo
from common.taobao_input import TaobaoInput

NETWORK = zoo.Network(
    name="ple",
    data=TaobaoInput,
    logits=model.logits,
    defaults=model_flags.Defaults(learning_rate=0.003, hash_buckets=100_000),
    add_flags=model.add_flags,
    sizes=("levels", "shared_experts", "task_experts", "expert_units", "tower_units"),
)

if __name__ == "__main__":
    zoo.run(NETWORK, __doc__)
