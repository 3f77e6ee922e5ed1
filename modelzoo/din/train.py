"""Trains DIN on Amazon Books data, or on a generated set of that form. See README.md beside this file."""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # read at import: no start-up notices in the log
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import model
from common import amazon_input, model_flags, zoo

NETWORK = zoo.Network(
    name="din",
    data=amazon_input.AmazonInput,
    logits=model.logits,
    defaults=model_flags.Defaults(learning_rate=0.001, hash_buckets=None, embedding_dim=18),
    add_flags=model.add_flags,
    sizes=("attention_units", "hidden_units"),
    add_data_flags=amazon_input.add_flags,
    check=amazon_input.check,
)

if __name__ == "__main__":
    zoo.run(NETWORK, __doc__)
