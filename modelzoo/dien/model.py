"""DIEN (Zhou et al., 2019, "Deep Interest Evolution Network for Click-Through Rate Prediction", arXiv:1809.03672) on Amazon Books
columns.

h: a GRU over the events of the history; an auxiliary loss wants h_t to tell event t + 1 from an item that was not chosen
final interest: the last state of an attention GRU over h, whose update gate is scaled by the candidate's attention on h_t
logit: batch normalization of [user, q, sum of the events, q * that sum, final interest] -> layers with Dice -> 2
loss: cross entropy + the mean auxiliary loss
"""

import tensorflow as tf

from common import amazon, amazon_columns, flags, zoo
from common.interest import attention_scores, click_logit
from common.model_flags import dense, dense_scope


def add_flags(group) -> None:
    group.add_argument(
        "--sequence_length", type=flags.positive_int, default=amazon.LENGTH, metavar="N", help="events of a history"
    )
    group.add_argument("--gru_units", type=flags.positive_int, default=36, metavar="N")
    group.add_argument("--attention_units", type=flags.int_list, default=(80, 40), metavar="N,N,...")
    group.add_argument("--auxiliary_units", type=flags.int_list, default=(100, 50), metavar="N,N,...")
    group.add_argument("--hidden_units", type=flags.int_list, default=(200, 80), metavar="N,N,...")


class AttentionGRUCell(tf.nn.rnn_cell.RNNCell):
    """A GRU whose gate to keep the state is scaled by 1 - a, where the attention a is the last of its inputs.

    r, u = sigmoid([x, h] W + b); c = tanh([x, r h] V + d); u' = (1 - a) u; h' = u' h + (1 - u') c
    """

    def __init__(self, units: int):
        super().__init__()
        self._units = units

    state_size = output_size = property(lambda self: self._units)

    def call(self, inputs, state):
        x, attention = inputs[:, :-1], inputs[:, -1:]
        gates = tf.layers.dense(
            tf.concat([x, state], 1), 2 * self._units, tf.sigmoid, bias_initializer=tf.ones_initializer(), name="gates"
        )
        reset, keep = tf.split(gates, 2, 1)
        candidate = tf.layers.dense(tf.concat([x, reset * state], 1), self._units, tf.tanh, name="candidate")
        keep *= 1 - attention
        state = keep * state + (1 - keep) * candidate
        return state, state


def outputs(features, labels, args, embeddings, training) -> zoo.Outputs:
    """Of a batch of Amazon Books features (see amazon.FORMAT_WITH_NEGATIVES)."""
    vectors = amazon_columns.vectors(features, args, embeddings, negatives=True)
    with dense_scope(args, "interest"):
        states, _ = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(args.gru_units), vectors.history, vectors.length, dtype=tf.float32, scope="gru"
        )
        auxiliary = auxiliary_loss(states, vectors, args.auxiliary_units)
        query = tf.layers.dense(vectors.item, args.gru_units, name="query")
        scores = attention_scores(query, states, vectors.mask, args.attention_units)
        _, interest = tf.nn.dynamic_rnn(
            AttentionGRUCell(args.gru_units),
            tf.concat([states, scores[:, :, None]], 2),
            vectors.length,
            dtype=tf.float32,
            scope="attention_gru",
        )
    with dense_scope(args, "final"):
        total = tf.reduce_sum(vectors.history, 1)
        net = tf.concat([vectors.user, vectors.item, total, vectors.item * total, interest], 1)
        logit = click_logit(net, args.hidden_units, training)
    return zoo.Outputs(zoo.cross_entropy(labels, logit) + auxiliary, tf.sigmoid(logit))


def auxiliary_loss(states: tf.Tensor, vectors: amazon_columns.Vectors, units) -> tf.Tensor:
    """float32 []: the mean over events of the cross entropies of an event behind its past (1) and of what was not chosen (0)."""
    mask = tf.cast(vectors.mask[:, 1:], tf.float32)
    losses = []
    for events, truth in ((vectors.history, 1.0), (vectors.negatives, 0.0)):
        net = tf.concat([states[:, :-1], events[:, 1:]], -1)
        with tf.variable_scope("auxiliary", reuse=bool(losses)):
            for i, width in enumerate(units):
                net = dense(net, width, tf.sigmoid, f"hidden_{i}")
            logit = tf.squeeze(tf.layers.dense(tf.cast(net, tf.float32), 1, name="logits"), -1)
        losses.append(tf.nn.sigmoid_cross_entropy_with_logits(labels=truth * tf.ones_like(logit), logits=logit))
    return tf.reduce_sum(tf.add_n(losses) * mask) / tf.maximum(tf.reduce_sum(mask), 1)
