"""Default seeds after one call: the number of ops that the call leaves in the graph, and the seeds of the random ops in it.

With 1.15.5 (Python 3.7): `python op_counts.py EXPRESSIONS > data/op_counts.tsv`, one line of code on each line of the file.
"""

import sys
import warnings

import numpy as np

_RANDOM_OPS = (
    "RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal Multinomial RandomGammaV2 RandomGamma".split()
)


def _namespace(tf):
    """What the lines may use: modules by a letter, and a few tensors. The same ops in every graph, before the line."""
    letters = dict(
        L=tf.layers,
        S=tf.contrib.seq2seq,
        R=tf.contrib.rnn,
        F=tf.feature_column,
        K=tf.keras.backend,
        M=tf.metrics,
        C=tf.contrib.layers,
        KL=tf.keras.layers,
    )
    return dict(
        letters,
        tf=tf,
        np=np,
        x=tf.constant(np.linspace(0.1, 0.9, 24).reshape(4, 6), tf.float32),
        im=tf.ones([2, 8, 8, 3]),
        sq=tf.ones([2, 4, 3]),
        lab=tf.constant([0, 1, 1, 0]),
        b=tf.constant([1.0, 0, 1, 1]),
        p=tf.constant([0.1, 0.7, 0.4, 0.8]),
        ids=tf.constant([1, 2, 1]),
        v=tf.get_variable("v", [6, 4]),
        bv=tf.get_variable("bv", [5], initializer=tf.zeros_initializer()),
        sp=tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [3, 4]),
        ssp=tf.SparseTensor([[0, 0], [1, 2]], ["a", "b"], [3, 4]),
    )


def measure(tf, code):
    """(default seed of a random op after `code`, seeds of the random ops in it), in a fresh graph with graph seed 1."""
    if "K" in code or "keras" in code:
        # Keras counts names beyond graphs; clearing collects garbage, which takes longer than most lines.
        tf.keras.backend.clear_session()
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(1)
        np.random.seed(7)
        names = _namespace(tf)
        before = len(graph.get_operations())
        exec(code, names)
        made = graph.get_operations()[before:]
        tf.random_uniform([])
        seeds = [op.get_attr("seed2") for op in made if op.type in _RANDOM_OPS]
    last = [op for op in graph.get_operations() if op.type == "RandomUniform"][-1]
    return last.get_attr("seed2"), seeds


def main():
    warnings.simplefilter("ignore")
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    print("code\tcount\tseeds")
    with open(sys.argv[1]) as source:
        for code in filter(None, map(str.strip, source)):
            try:
                count, seeds = measure(tf, code)
            except Exception as error:  # what 1.15 refuses is no expectation
                print("%s: %r" % (code, error), file=sys.stderr)
                continue
            print("%s\t%d\t%s" % (code, count, " ".join(map(str, seeds))), flush=True)


if __name__ == "__main__":
    main()
