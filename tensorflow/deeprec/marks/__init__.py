"""Sub-graphs that run as one op, and how `tf.gradients` goes around them.

A function that composes a layer of many small ops builds them as it always did: names, results and files of graphs are TensorFlow's.
Beside them it puts a mark (`mark.put`): an IdentityN, which no forward op reads, of the sub-graph's results and then of all that it reads,
with what it computes in its attributes. When a session makes the graph ready, `core/graph/mark_pass.cc` puts one op in the place of
the sub-graph. `tf.gradients` takes the way through the mark, whose gradient is one op as well (`gradient_paths`).

Without the pass, as in the released TensorFlow, the sub-graph is what runs.
"""


def install() -> None:
    from tensorflow.deeprec.marks import gradient_paths

    gradient_paths.install()
