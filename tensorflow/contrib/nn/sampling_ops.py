"""Softmax losses over sampled classes."""

from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, candidate_sampling_ops, embedding_ops, math_ops, nn_impl, nn_ops


def _rank_resample(weights, biases, inputs, sampled_values, num_resampled, resampling_temperature, partition_strategy):
    """The `num_resampled` candidates with the largest log(sum over inputs of exp(logit / temperature))."""
    sampled, true_expected_count, sampled_expected_count = sampled_values
    sampled = math_ops.cast(array_ops.stop_gradient(sampled), dtypes.int64)
    true_expected_count = array_ops.stop_gradient(true_expected_count)
    sampled_expected_count = array_ops.stop_gradient(sampled_expected_count)
    scaled = inputs / resampling_temperature

    def logsumexp_logit(embeddings):
        return math_ops.reduce_logsumexp(math_ops.matmul(embeddings, scaled, transpose_b=True), axis=1)

    # Computed beside the parts of the weights, which may be on other devices.
    logits = embedding_ops._embedding_lookup_and_transform(
        weights, sampled, partition_strategy, transform_fn=logsumexp_logit
    )
    sampled_b = array_ops.reshape(embedding_ops.embedding_lookup(biases, sampled, partition_strategy), [-1])
    logits += sampled_b / resampling_temperature
    _, chosen = nn_ops.top_k(logits, k=num_resampled, sorted=False)
    return array_ops.gather(sampled, chosen), true_expected_count, array_ops.gather(sampled_expected_count, chosen)


def rank_sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_resampled,
    num_classes,
    num_true,
    sampled_values,
    resampling_temperature,
    remove_accidental_hits,
    partition_strategy,
    name=None,
):
    """Sampled softmax loss whose samples are chosen in two passes (TAPAS, https://arxiv.org/abs/1707.03073).

    Of `num_sampled` classes, the `num_resampled` are kept that the model finds most probable in the batch.

    Args:
      weights: tensor `[num_classes, dim]`, list of its parts, or `PartitionedVariable`.
      biases: tensor `[num_classes]`.
      labels: int64 tensor `[batch, num_true]`.
      inputs: tensor `[batch, dim]`.
      num_sampled, num_resampled: numbers of classes; the second is the smaller one.
      num_classes: number of classes.
      num_true: number of labels of an example.
      sampled_values: result of a candidate sampler; None: `tf.nn.learned_unigram_candidate_sampler`.
      resampling_temperature: float or scalar; the lower, the more the second pass follows the model.
      remove_accidental_hits: whether samples that are labels are left out.
      partition_strategy: "div" or "mod".
      name: name of the ops.

    Returns:
      Tensor `[batch]`.

    Raises:
      ValueError: if the numbers do not fit, or `partition_strategy` is unknown.
    """
    if num_sampled > num_classes:
        raise ValueError(f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})")
    if num_sampled <= num_resampled:
        raise ValueError(f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})")
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    scope_values = [weights, biases, labels, inputs, sampled_values, resampling_temperature]
    with ops.name_scope(name, "rank_sampled_softmax_loss", scope_values) as name:
        if not sampled_values:
            sampled_values = candidate_sampling_ops.learned_unigram_candidate_sampler(
                true_classes=labels, num_true=num_true, num_sampled=num_sampled, unique=True, range_max=num_classes
            )
        resampled = _rank_resample(
            weights, biases, inputs, sampled_values, num_resampled, resampling_temperature, partition_strategy
        )
        return nn_impl.sampled_softmax_loss(
            weights=weights,
            biases=biases,
            labels=labels,
            inputs=inputs,
            num_sampled=num_resampled,
            num_classes=num_classes,
            num_true=num_true,
            sampled_values=resampled,
            remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy,
            name=name,
        )


def sampled_sparse_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    sampled_values=None,
    remove_accidental_hits=True,
    partition_strategy="mod",
    name="sampled_sparse_softmax_loss",
):
    """Sampled softmax loss with one label for each example; arguments as for `tf.nn.sampled_softmax_loss`.

    Args:
      labels: int64 tensor `[batch, 1]`.

    Returns:
      Tensor `[batch]`.
    """
    logits, _ = nn_impl._compute_sampled_logits(
        weights=weights,
        biases=biases,
        labels=labels,
        inputs=inputs,
        num_sampled=num_sampled,
        num_classes=num_classes,
        num_true=1,
        sampled_values=sampled_values,
        subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
    # The label's logit stands first.
    first = array_ops.zeros([array_ops.shape(logits)[0]], dtype=dtypes.int64)
    return nn_ops.sparse_softmax_cross_entropy_with_logits(labels=first, logits=logits)
