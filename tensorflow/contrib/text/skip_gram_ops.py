"""Pairs of words and their neighbours, for skip-gram models (Mikolov et al. 2013, arXiv:1310.4546)."""

import csv

import tensorflow as tf
from tensorflow.deeprec import library
from tensorflow.python.framework import ops, random_seed

if "SkipGramGenerateCandidates" not in ops.gradient_registry.list():
    ops.NotDifferentiable("SkipGramGenerateCandidates")


def skip_gram_sample(
    input_tensor,
    min_skips=1,
    max_skips=5,
    start=0,
    limit=-1,
    emit_self_as_target=False,
    vocab_freq_table=None,
    vocab_min_count=None,
    vocab_subsampling=None,
    corpus_size=None,
    batch_size=None,
    batch_capacity=None,
    seed=None,
    name=None,
):
    """Pairs (token, label): each token with its neighbours up to a random distance.

    Args:
      input_tensor: [tokens], of any type.
      min_skips: least distance, at least 0.
      max_skips: greatest distance; each token draws one between the two.
      start: position of the first token.
      limit: number of tokens, all if negative.
      emit_self_as_target: whether tokens are paired with themselves too.
      vocab_freq_table: lookup table token -> frequency; tokens are dropped by the next two.
      vocab_min_count: tokens of less frequency are dropped.
      vocab_subsampling: threshold t of frequency; a token of relative frequency f is kept with probability
        (sqrt(f / t) + 1) t / f.
      corpus_size: sum of all frequencies; needed for `vocab_subsampling`.
      batch_size: pairs come in batches of this size, through a queue.
      batch_capacity: capacity of the queue.
      seed: seed of distances and drops.
      name: name scope.

    Returns:
      (tokens, labels), vectors of one length.

    Raises:
      tf.errors.InvalidArgumentError: `min_skips` is negative or above `max_skips`, or `start` is no position; at run time.
      ValueError: arguments that need `vocab_freq_table` come without it, or only one of `vocab_subsampling` and
        `corpus_size` is given.
    """
    if vocab_freq_table is None and (vocab_min_count is not None or vocab_subsampling is not None):
        raise ValueError("vocab_freq_table is not provided, but vocab_min_count or vocab_subsampling is.")
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(
            "vocab_subsampling and corpus_size must both be provided, or neither: "
            f"got {vocab_subsampling} and {corpus_size}"
        )
    with tf.name_scope(name, "skip_gram_sample", values=[input_tensor, min_skips, max_skips, start, limit]):
        tokens = _filtered(tf.convert_to_tensor(input_tensor), vocab_freq_table, vocab_min_count, vocab_subsampling,
                           corpus_size, seed)  # fmt: skip
        # Before the arguments become constants: the number of ops decides a default seed.
        graph_seed, op_seed = random_seed.get_seed(seed)
        tokens, labels = library.ops().skip_gram_generate_candidates(
            tokens, min_skips, max_skips, start, limit, emit_self_as_target, seed=graph_seed, seed2=op_seed
        )
        if batch_size is None:
            return tokens, labels
        capacity = batch_capacity if batch_capacity is not None else 100 * batch_size
        return tf.train.batch([tokens, labels], batch_size, capacity=capacity, enqueue_many=True)


def _filtered(tokens, table, min_count, subsampling, corpus_size, seed):
    if table is None:
        return tokens
    frequency = table.lookup(tokens)
    frequency = tf.cast(frequency, tf.float32)
    # Tokens that are not in the vocabulary have the table's default, which is negative.
    keep = frequency >= 0 if min_count is None else frequency >= tf.cast(min_count, tf.float32)
    if subsampling is not None:
        expected = tf.cast(subsampling, tf.float32) * tf.cast(corpus_size, tf.float32)
        ratio = expected / tf.maximum(frequency, 1e-30)
        chance = tf.sqrt(ratio) + ratio
        keep &= tf.random_uniform(tf.shape(frequency), seed=seed) < chance
    return tf.boolean_mask(tokens, keep)


def skip_gram_sample_with_text_vocab(
    input_tensor,
    vocab_freq_file,
    vocab_token_index=0,
    vocab_token_dtype=tf.string,
    vocab_freq_index=1,
    vocab_freq_dtype=tf.float64,
    vocab_delimiter=",",
    vocab_min_count=0,
    vocab_subsampling=None,
    corpus_size=None,
    min_skips=1,
    max_skips=5,
    start=0,
    limit=-1,
    emit_self_as_target=False,
    batch_size=None,
    batch_capacity=None,
    seed=None,
    name=None,
):
    """`skip_gram_sample` with a vocabulary from a file of lines "token,frequency".

    Args:
      input_tensor: [tokens].
      vocab_freq_file: path of the file.
      vocab_token_index: column of the token.
      vocab_token_dtype: type of the token.
      vocab_freq_index: column of the frequency.
      vocab_freq_dtype: type of the frequency.
      vocab_delimiter: between columns.
      vocab_min_count: tokens of less frequency, and those not in the file, are dropped.
      vocab_subsampling: see `skip_gram_sample`.
      corpus_size: sum of all frequencies, that of the file by default.
      (others): as in `skip_gram_sample`.

    Raises:
      ValueError: an index is negative, the file has not the columns, or `corpus_size` is less than the file's sum.
    """
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(
            f"vocab_token_index={vocab_token_index} and vocab_freq_index={vocab_freq_index} must both be >= 0."
        )
    total = 0.0
    with tf.gfile.GFile(vocab_freq_file, "r") as lines:
        for number, row in enumerate(csv.reader(lines, delimiter=vocab_delimiter)):
            if not row:
                continue
            if max(vocab_token_index, vocab_freq_index) >= len(row):
                raise ValueError(f"{vocab_freq_file}, line {number + 1}: only {len(row)} columns")
            frequency = float(row[vocab_freq_index])
            if frequency < 0:
                raise ValueError(f"{vocab_freq_file}, line {number + 1}: frequency {frequency} is negative")
            total += frequency
    if vocab_subsampling is not None:
        if corpus_size is None:
            corpus_size = total
        elif corpus_size < total:
            raise ValueError(f"corpus_size={corpus_size} must be >= the sum of frequencies in the file, {total}")
    else:
        corpus_size = None
    table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            vocab_freq_file,
            key_dtype=vocab_token_dtype,
            key_index=vocab_token_index,
            value_dtype=vocab_freq_dtype,
            value_index=vocab_freq_index,
            delimiter=vocab_delimiter,
        ),
        # Below any count, so that unknown tokens are dropped.
        default_value=-1,
    )
    with tf.name_scope(name, "skip_gram_sample_with_text_vocab", values=[input_tensor]):
        return skip_gram_sample(
            input_tensor,
            min_skips=min_skips,
            max_skips=max_skips,
            start=start,
            limit=limit,
            emit_self_as_target=emit_self_as_target,
            vocab_freq_table=table,
            vocab_min_count=vocab_min_count,
            vocab_subsampling=vocab_subsampling,
            corpus_size=corpus_size,
            batch_size=batch_size,
            batch_capacity=batch_capacity,
            seed=seed,
        )
