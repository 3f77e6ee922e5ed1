"""Sequence to sequence models over lists of steps: encoders and decoders unrolled in the graph.

Inputs are lists with one tensor a step: vectors [batch, size], or symbols [batch] int32 for the embedding models. `cell` is
any RNN cell; encoders run a copy of it. `feed_previous`, a bool or a scalar bool tensor, makes decoders take their own last
output as the next input, after the first one.
"""

import copy

import tensorflow as tf
from tensorflow.python.util import nest

from tensorflow.contrib.rnn.core_rnn_cell import EmbeddingWrapper, OutputProjectionWrapper, _Linear

__all__ = (
    "attention_decoder basic_rnn_seq2seq embedding_attention_decoder embedding_attention_seq2seq embedding_rnn_decoder "
    "embedding_rnn_seq2seq embedding_tied_rnn_seq2seq model_with_buckets one2many_rnn_seq2seq rnn_decoder sequence_loss "
    "sequence_loss_by_example tied_rnn_seq2seq"
).split()


def _extract_argmax_and_embed(embedding, output_projection=None, update_embedding=True):
    """A loop function that feeds the embedding of the greatest output."""

    def loop_function(prev, _):
        if output_projection is not None:
            prev = tf.nn.xw_plus_b(prev, output_projection[0], output_projection[1])
        embedded = tf.nn.embedding_lookup(embedding, tf.argmax(prev, 1))
        return embedded if update_embedding else tf.stop_gradient(embedded)

    return loop_function


def _check_projection(output_projection, num_symbols, dtype, with_weights=True) -> None:
    if output_projection is None:
        return
    if with_weights:
        weights = tf.convert_to_tensor(output_projection[0], dtype=dtype)
        weights.shape.assert_is_compatible_with([None, num_symbols])
    biases = tf.convert_to_tensor(output_projection[1], dtype=dtype)
    biases.shape.assert_is_compatible_with([num_symbols])


def _fed(inp, i, prev, loop_function):
    """What step `i` gets: `inp`, or what the loop function makes of the last output."""
    if loop_function is None or prev is None:
        return inp
    with tf.variable_scope("loop_function", reuse=True):
        return loop_function(prev, i)


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """Runs `cell` over the inputs.

    Args:
      decoder_inputs: list of [batch, size].
      initial_state: of the cell.
      cell: an RNN cell.
      loop_function: (last output, step) -> next input, in place of all inputs but the first.
      scope: variable scope, "rnn_decoder" by default.

    Returns:
      (list of outputs, final state).
    """
    with tf.variable_scope(scope or "rnn_decoder"):
        state, outputs, prev = initial_state, [], None
        for i, inp in enumerate(decoder_inputs):
            inp = _fed(inp, i, prev, loop_function)
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(inp, state)
            outputs.append(output)
            if loop_function is not None:
                prev = output
    return outputs, state


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=tf.float32, scope=None):
    """An encoder whose final state starts a decoder, with weights of its own.

    Args:
      encoder_inputs: list of [batch, size].
      decoder_inputs: list of [batch, size].
      cell: an RNN cell.
      dtype: of the first state.
      scope: variable scope, "basic_rnn_seq2seq" by default.

    Returns:
      (list of decoder outputs, final decoder state).
    """
    with tf.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = tf.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=None, dtype=tf.float32, scope=None):
    """An encoder and a decoder with the same weights; arguments as in `basic_rnn_seq2seq` and `rnn_decoder`."""
    with tf.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = tf.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        tf.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_decoder(
    decoder_inputs,
    initial_state,
    cell,
    num_symbols,
    embedding_size,
    output_projection=None,
    feed_previous=False,
    update_embedding_for_previous=True,
    scope=None,
):
    """A decoder over symbols, with a variable "embedding".

    Args:
      decoder_inputs: list of [batch] int32.
      initial_state: of the cell.
      cell: an RNN cell.
      num_symbols: number of symbols.
      embedding_size: length of their vectors.
      output_projection: None, or (weights [output size, num_symbols], biases [num_symbols]) that make logits of outputs.
      feed_previous: whether the decoder gets its own last symbol.
      update_embedding_for_previous: whether gradients reach the embedding by that way.
      scope: variable scope, "embedding_rnn_decoder" by default.

    Returns:
      (list of outputs, final state).
    """
    with tf.variable_scope(scope or "embedding_rnn_decoder") as scope:
        _check_projection(output_projection, num_symbols, scope.dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _extract_argmax_and_embed(embedding, output_projection, update_embedding_for_previous)
        embedded = (tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)


def _either_way(feed_previous, decode, like):
    """`decode(feed_previous)`; if that is a tensor, both ways under a cond, with the variables of the first.

    `like` has the structure of the state.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous)

    def branch(feed, reuse):
        with tf.variable_scope(tf.get_variable_scope(), reuse=reuse):
            outputs, state = decode(feed)
        return outputs + nest.flatten(state)

    flat = tf.cond(feed_previous, lambda: branch(True, None), lambda: branch(False, True))
    count = len(flat) - len(nest.flatten(like))
    return flat[:count], nest.pack_sequence_as(structure=like, flat_sequence=flat[count:])


def embedding_rnn_seq2seq(
    encoder_inputs,
    decoder_inputs,
    cell,
    num_encoder_symbols,
    num_decoder_symbols,
    embedding_size,
    output_projection=None,
    feed_previous=False,
    dtype=None,
    scope=None,
):
    """An encoder and a decoder over symbols, each with an embedding.

    Args:
      encoder_inputs: list of [batch] int32.
      decoder_inputs: list of [batch] int32.
      cell: an RNN cell.
      num_encoder_symbols: number of the encoder's symbols.
      num_decoder_symbols: number of the decoder's symbols.
      embedding_size: length of their vectors.
      output_projection: None, for a projection of the decoder's own, or (weights, biases); outputs are then unprojected.
      feed_previous: whether the decoder gets its own last symbol.
      dtype: of the first state, that of the variable scope by default.
      scope: variable scope, "embedding_rnn_seq2seq" by default.

    Returns:
      (list of [batch, num_decoder_symbols] or unprojected outputs, final state).
    """
    with tf.variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        else:
            dtype = scope.dtype
        encoder = EmbeddingWrapper(
            copy.deepcopy(cell), embedding_classes=num_encoder_symbols, embedding_size=embedding_size
        )
        _, encoder_state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feed):
            return embedding_rnn_decoder(
                decoder_inputs,
                encoder_state,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feed,
                update_embedding_for_previous=isinstance(feed_previous, bool),
            )

        return _either_way(feed_previous, decode, encoder_state)


def embedding_tied_rnn_seq2seq(
    encoder_inputs,
    decoder_inputs,
    cell,
    num_symbols,
    embedding_size,
    num_decoder_symbols=None,
    output_projection=None,
    feed_previous=False,
    dtype=None,
    scope=None,
):
    """An encoder and a decoder over the same symbols, with one embedding and the same weights.

    Args:
      encoder_inputs: list of [batch] int32.
      decoder_inputs: list of [batch] int32.
      cell: an RNN cell.
      num_symbols: number of symbols.
      embedding_size: length of their vectors.
      num_decoder_symbols: number of symbols that the decoder can emit, all by default.
      output_projection: None, for a projection of the decoder's own, or (weights, biases); outputs are then unprojected.
      feed_previous: whether the decoder gets its own last symbol.
      dtype: of the first state, that of the variable scope by default.
      scope: variable scope, "embedding_tied_rnn_seq2seq" by default.

    Returns:
      (list of outputs, final state).
    """
    with tf.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        symbols = num_symbols if num_decoder_symbols is None else num_decoder_symbols
        _check_projection(output_projection, symbols, dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        encoder_vectors = [tf.nn.embedding_lookup(embedding, x) for x in encoder_inputs]
        decoder_vectors = [tf.nn.embedding_lookup(embedding, x) for x in decoder_inputs]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, symbols)

        def decode(feed):
            loop_function = None
            if feed:
                update = isinstance(feed_previous, bool)
                loop_function = _extract_argmax_and_embed(embedding, output_projection, update)
            return tied_rnn_seq2seq(encoder_vectors, decoder_vectors, cell, loop_function=loop_function, dtype=dtype)

        return _either_way(feed_previous, decode, cell.state_size)


def attention_decoder(
    decoder_inputs,
    initial_state,
    attention_states,
    cell,
    output_size=None,
    num_heads=1,
    loop_function=None,
    dtype=None,
    scope=None,
    initial_state_attention=False,
):
    """A decoder that attends to `attention_states` (Vinyals et al. 2014, arXiv:1412.7449).

    Args:
      decoder_inputs: list of [batch, size].
      initial_state: of the cell.
      attention_states: [batch, length, size].
      cell: an RNN cell.
      output_size: size of outputs, the cell's by default.
      num_heads: number of attentions.
      loop_function: (last output, step) -> next input, in place of all inputs but the first.
      dtype: of outputs and variables.
      scope: variable scope, "attention_decoder" by default.
      initial_state_attention: whether the first step attends with the initial state, else its attention is 0.

    Returns:
      (list of [batch, output_size], final state).

    Raises:
      ValueError: no inputs, no heads, or the size of inputs or attention states is unknown.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.dims[2].value is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    output_size = cell.output_size if output_size is None else output_size

    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        batch = tf.shape(decoder_inputs[0])[0]
        length = attention_states.shape.dims[1].value
        if length is None:
            length = tf.shape(attention_states)[1]
        size = attention_states.shape.dims[2].value
        hidden = tf.reshape(attention_states, [-1, length, 1, size])
        features, vectors = [], []
        for head in range(num_heads):
            kernel = tf.get_variable(f"AttnW_{head}", [1, 1, size, size], dtype=dtype)
            features.append(tf.nn.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME"))
            vectors.append(tf.get_variable(f"AttnV_{head}", [size], dtype=dtype))

        def attention(query):
            if nest.is_nested(query):
                query = tf.concat(nest.flatten(query), 1)
            heads = []
            for head in range(num_heads):
                with tf.variable_scope(f"Attention_{head}"):
                    y = tf.reshape(_Linear(query, size, True)(query), [-1, 1, 1, size])
                    y = tf.cast(y, dtype)
                    scores = tf.reduce_sum(vectors[head] * tf.tanh(features[head] + y), [2, 3])
                    # Always in float32: exponentials of half precision overflow.
                    weights = tf.cast(tf.nn.softmax(tf.cast(scores, dtype=tf.float32)), dtype)
                    context = tf.reduce_sum(tf.reshape(weights, [-1, length, 1, 1]) * hidden, [1, 2])
                    heads.append(tf.reshape(context, [-1, size]))
            return heads

        def project(parts, width):
            parts = [tf.cast(part, dtype) for part in parts]
            return _Linear(parts, width, True)(parts)

        state, outputs, prev = initial_state, [], None
        attended_shape = tf.stack([batch, size])
        attended = [tf.zeros(attended_shape, dtype=dtype) for _ in range(num_heads)]
        for head in attended:
            head.set_shape([None, size])
        if initial_state_attention:
            attended = attention(initial_state)
        for i, inp in enumerate(decoder_inputs):
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            inp = _fed(inp, i, prev, loop_function)
            width = inp.shape.with_rank(2).dims[1].value
            if width is None:
                raise ValueError(f"Could not infer input size from input: {inp.name}")
            cell_output, state = cell(project([inp] + attended, width), state)
            if i == 0 and initial_state_attention:
                with tf.variable_scope(tf.get_variable_scope(), reuse=True):
                    attended = attention(state)
            else:
                attended = attention(state)
            with tf.variable_scope("AttnOutputProjection"):
                output = project([cell_output] + attended, output_size)
            if loop_function is not None:
                prev = output
            outputs.append(output)
    return outputs, state


def embedding_attention_decoder(
    decoder_inputs,
    initial_state,
    attention_states,
    cell,
    num_symbols,
    embedding_size,
    num_heads=1,
    output_size=None,
    output_projection=None,
    feed_previous=False,
    update_embedding_for_previous=True,
    dtype=None,
    scope=None,
    initial_state_attention=False,
):
    """`attention_decoder` over symbols, with a variable "embedding"; arguments as there and in `embedding_rnn_decoder`."""
    output_size = cell.output_size if output_size is None else output_size
    _check_projection(output_projection, num_symbols, dtype, with_weights=False)
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _extract_argmax_and_embed(embedding, output_projection, update_embedding_for_previous)
        embedded = [tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs]
        return attention_decoder(
            embedded,
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=loop_function,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs,
    decoder_inputs,
    cell,
    num_encoder_symbols,
    num_decoder_symbols,
    embedding_size,
    num_heads=1,
    output_projection=None,
    feed_previous=False,
    dtype=None,
    scope=None,
    initial_state_attention=False,
):
    """`embedding_rnn_seq2seq` whose decoder attends to the encoder's outputs; arguments as there and in `attention_decoder`."""
    with tf.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        encoder = EmbeddingWrapper(
            copy.deepcopy(cell), embedding_classes=num_encoder_symbols, embedding_size=embedding_size
        )
        encoder_outputs, encoder_state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=dtype)
        attention_states = tf.concat([tf.reshape(e, [-1, 1, cell.output_size]) for e in encoder_outputs], 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(feed):
            return embedding_attention_decoder(
                decoder_inputs,
                encoder_state,
                attention_states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=feed,
                update_embedding_for_previous=isinstance(feed_previous, bool),
                initial_state_attention=initial_state_attention,
            )

        return _either_way(feed_previous, decode, encoder_state)


def one2many_rnn_seq2seq(
    encoder_inputs,
    decoder_inputs_dict,
    enc_cell,
    dec_cells_dict,
    num_encoder_symbols,
    num_decoder_symbols_dict,
    embedding_size,
    feed_previous=False,
    dtype=None,
    scope=None,
):
    """One encoder over symbols and several decoders by name, each as in `embedding_rnn_seq2seq`.

    Args:
      encoder_inputs: list of [batch] int32.
      decoder_inputs_dict: name -> list of [batch] int32.
      enc_cell: cell of the encoder.
      dec_cells_dict: name -> cell.
      num_encoder_symbols: number of the encoder's symbols.
      num_decoder_symbols_dict: name -> number of symbols.
      embedding_size: length of their vectors.
      feed_previous: whether decoders get their own last symbol.
      dtype: of the first state.
      scope: variable scope, "one2many_rnn_seq2seq" by default; decoders lie in "one2many_decoder_NAME".

    Returns:
      (name -> list of outputs, name -> final state).
    """
    outputs, states = {}, {}
    with tf.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        encoder = EmbeddingWrapper(enc_cell, embedding_classes=num_encoder_symbols, embedding_size=embedding_size)
        _, encoder_state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=dtype)
        for name, decoder_inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with tf.variable_scope("one2many_decoder_" + str(name)) as decoder_scope:
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(feed):
                    # The scope is entered by object, so that both branches of a cond have one place for variables.
                    return embedding_rnn_decoder(
                        decoder_inputs,
                        encoder_state,
                        cell,
                        symbols,
                        embedding_size,
                        feed_previous=feed,
                        scope=None if isinstance(feed_previous, bool) else decoder_scope,
                    )

                outputs[name], states[name] = _either_way(feed_previous, decode, encoder_state)
    return outputs, states


def sequence_loss_by_example(
    logits, targets, weights, average_across_timesteps=True, softmax_loss_function=None, name=None
):
    """Weighted cross entropy of each sequence.

    Args:
      logits: list of [batch, symbols].
      targets: list of [batch] int32.
      weights: list of [batch].
      average_across_timesteps: whether the sum is divided by that of the weights.
      softmax_loss_function: function of keywords (labels, logits) in place of sparse softmax cross entropy.
      name: name scope, "sequence_loss_by_example" by default.

    Returns:
      [batch] log perplexities.

    Raises:
      ValueError: the lists differ in length.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, {len(targets)}."
        )
    with tf.name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                target = tf.reshape(target, [-1])
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = tf.add_n(losses)
        if average_across_timesteps:
            # A sequence without weight has loss 0, not NaN.
            total /= tf.add_n(weights) + 1e-12
    return total


def sequence_loss(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    average_across_batch=True,
    softmax_loss_function=None,
    name=None,
):
    """The sum of `sequence_loss_by_example`, or its mean if `average_across_batch`; arguments as there."""
    with tf.name_scope(name, "sequence_loss", logits + targets + weights):
        cost = tf.reduce_sum(
            sequence_loss_by_example(
                logits,
                targets,
                weights,
                average_across_timesteps=average_across_timesteps,
                softmax_loss_function=softmax_loss_function,
            )
        )
        if average_across_batch:
            return cost / tf.cast(tf.shape(targets[0])[0], cost.dtype)
        return cost


def model_with_buckets(
    encoder_inputs,
    decoder_inputs,
    targets,
    weights,
    buckets,
    seq2seq,
    softmax_loss_function=None,
    per_example_loss=False,
    name=None,
):
    """One model for each bucket of lengths, all with the same variables.

    Args:
      encoder_inputs: list of tensors for the encoder, as long as the last bucket needs.
      decoder_inputs: the same for the decoder.
      targets: list of [batch] int32.
      weights: list of [batch].
      buckets: list of (encoder length, decoder length), the largest last.
      seq2seq: (encoder inputs, decoder inputs) -> (outputs, state).
      softmax_loss_function: as in `sequence_loss`.
      per_example_loss: whether losses are those of `sequence_loss_by_example`.
      name: name scope, "model_with_buckets" by default.

    Returns:
      (list of outputs, list of losses), one a bucket.

    Raises:
      ValueError: a list is shorter than the last bucket.
    """
    needed = (
        ("encoder_inputs", encoder_inputs, 0),
        ("targets", targets, 1),
        ("weights", weights, 1),
    )
    for what, values, side in needed:
        if len(values) < buckets[-1][side]:
            raise ValueError(
                f"Length of {what} ({len(values)}) must be at least that of last bucket ({buckets[-1][side]})."
            )
    outputs, losses = [], []
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    with tf.name_scope(name, "model_with_buckets", encoder_inputs + decoder_inputs + targets + weights):
        for j, (encoder_length, decoder_length) in enumerate(buckets):
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if j > 0 else None):
                bucket_outputs, _ = seq2seq(encoder_inputs[:encoder_length], decoder_inputs[:decoder_length])
                outputs.append(bucket_outputs)
                losses.append(
                    loss(
                        bucket_outputs,
                        targets[:decoder_length],
                        weights[:decoder_length],
                        softmax_loss_function=softmax_loss_function,
                    )
                )
    return outputs, losses
