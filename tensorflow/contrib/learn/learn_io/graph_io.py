"""Readers of files of examples into batches, through queues."""

from tensorflow.contrib.learn import run_config
from tensorflow.python.framework import dtypes, errors, ops, sparse_tensor
from tensorflow.python.ops import array_ops, data_flow_ops, io_ops, math_ops, parsing_ops
from tensorflow.python.platform import gfile
from tensorflow.python.summary import summary
from tensorflow.python.training import input as input_ops
from tensorflow.python.training import queue_runner


def _file_names(file_pattern, randomize_input):
    patterns = list(file_pattern) if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise ValueError("No files given to dequeue_examples.")
    names = [name for pattern in patterns for name in gfile.Glob(pattern)]
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    # Shuffled reads depend on the seed alone, not on the order in which a file system lists.
    return sorted(names) if not randomize_input or len(patterns) == 1 else names


def _check(batch_size, queue_capacity, num_threads, read_batch_size, num_epochs):
    if queue_capacity is None or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    tensor = isinstance(batch_size, ops.Tensor)
    if batch_size is None or (not tensor and not 0 < batch_size < queue_capacity):
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    if read_batch_size is None or read_batch_size <= 0 or (not tensor and read_batch_size > batch_size):
        raise ValueError(f"Invalid read_batch_size {read_batch_size}, with batch_size {batch_size}.")
    if num_threads is None or num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")


def _read(reader, queue, read_batch_size, parse_fn):
    """Keys and examples that one thread reads: single ones, or vectors of up to `read_batch_size`."""
    reader = reader() if callable(reader) else reader
    if read_batch_size > 1:
        keys, examples = reader.read_up_to(queue, read_batch_size)
    else:
        keys, examples = reader.read(queue)
    if parse_fn is not None:
        examples = parse_fn(examples)
    return keys, examples


def _read_keyed(
    file_pattern,
    batch_size,
    reader,
    randomize_input,
    num_epochs,
    queue_capacity,
    num_threads,
    read_batch_size,
    parse_fn,
    name,
    seed,
    shared,
):
    _check(batch_size, queue_capacity, num_threads, read_batch_size, num_epochs)
    names = _file_names(file_pattern, randomize_input)
    with ops.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        make = _shared_file_queue if shared else _file_queue
        queue = make(names, randomize_input, num_epochs, seed)
        read = [_read(reader, queue, read_batch_size, parse_fn) for _ in range(num_threads)]
        # Dicts go through the queue together with their keys, under a name that none of theirs is.
        in_dict = isinstance(read[0][1], dict)
        key_name = "__record_key__"
        while in_dict and key_name in read[0][1]:
            key_name += "_"
        items = [{**examples, key_name: keys} if in_dict else (keys, examples) for keys, examples in read]
        options = dict(
            batch_size=batch_size,
            capacity=queue_capacity,
            enqueue_many=read_batch_size > 1,
            allow_smaller_final_batch=num_epochs is not None,
            name=scope,
        )
        if randomize_input:
            # What is left for mixing when a batch has been taken; all of a small queue but one batch.
            least = max(queue_capacity - 3 * batch_size, 0) if not isinstance(batch_size, ops.Tensor) else 0
            batch = input_ops.shuffle_batch_join(items, min_after_dequeue=least, seed=seed, **options)
        else:
            batch = input_ops.batch_join(items, **options)
        if in_dict:
            batch = dict(batch)
            return batch.pop(key_name), batch
        return batch[0], batch[1]


def _file_queue(names, shuffle, num_epochs, seed):
    return input_ops.string_input_producer(
        ops.convert_to_tensor(names, dtypes.string, name="input"), num_epochs, shuffle, seed, name="file_names"
    )


def _shared_file_queue(names, shuffle, num_epochs, seed):
    """The queue of file names that all workers take from; the chief fills it."""
    config = run_config.RunConfig()
    with ops.device("/job:ps/task:0" if config.num_ps_replicas else None):
        runners = ops.get_collection_ref(ops.GraphKeys.QUEUE_RUNNERS)
        count = len(runners)
        queue = input_ops.string_input_producer(
            ops.convert_to_tensor(names, dtypes.string, name="input"),
            num_epochs,
            shuffle,
            seed,
            shared_name=ops.get_default_graph().unique_name("file_name_queue", mark_as_used=False),
            name="file_names",
        )
        if not config.is_chief:
            del runners[count:]
    return queue


def read_keyed_batch_examples(
    file_pattern,
    batch_size,
    reader,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    num_threads=1,
    read_batch_size=1,
    parse_fn=None,
    name=None,
    seed=None,
):
    """Batches of examples of files, with their keys.

    The queues need `tf.train.start_queue_runners`, and with `num_epochs` the initialized local variables.

    Args:
      file_pattern: file name, pattern of them, or list of both.
      batch_size: number of examples of a batch.
      reader: class or function that returns a `tf.ReaderBase`.
      randomize_input: whether files and examples are shuffled.
      num_epochs: how often the files are read; None: without end.
      queue_capacity: number of examples in the queue.
      num_threads: number of threads that read.
      read_batch_size: number of examples that a thread reads at a time.
      parse_fn: function of a serialized example (of a vector of them, if `read_batch_size` > 1) that returns a tensor or a dict of tensors.
      name: name of the ops.
      seed: seed of the shuffling.

    Returns:
      `(keys, examples)`: string tensors `[batch]`; or what `parse_fn` returned, in batches.

    Raises:
      ValueError: if no file matches, or a size is out of its range.
    """
    return _read_keyed(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
        shared=False,
    )


def read_keyed_batch_examples_shared_queue(
    file_pattern,
    batch_size,
    reader,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    num_threads=1,
    read_batch_size=1,
    parse_fn=None,
    name=None,
    seed=None,
):
    """`read_keyed_batch_examples` with one queue of file names for all workers, on the first parameter server."""
    return _read_keyed(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
        shared=True,
    )


def read_batch_examples(
    file_pattern,
    batch_size,
    reader,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    num_threads=1,
    read_batch_size=1,
    parse_fn=None,
    name=None,
    seed=None,
):
    """The examples of `read_keyed_batch_examples`, without keys."""
    _, examples = read_keyed_batch_examples(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
    )
    return examples


def queue_parsed_features(parsed_features, keys=None, feature_queue_capacity=100, num_enqueue_threads=2, name=None):
    """Puts a queue behind parsed features, so that parsing runs ahead of the model.

    Args:
      parsed_features: dict: feature -> `Tensor` or `SparseTensor`.
      keys: tensor that goes through the queue with them, or None.
      feature_queue_capacity: number of batches in the queue.
      num_enqueue_threads: number of threads that fill it.
      name: name of the ops.

    Returns:
      `(keys or None, dict of features)`.

    Raises:
      ValueError: if there is no thread or room.
    """
    for argument, number in (
        ("feature_queue_capacity", feature_queue_capacity),
        ("num_enqueue_threads", num_enqueue_threads),
    ):
        if number < 1:
            raise ValueError(f"{argument} must be at least 1, got {number}")
    with ops.name_scope(name, "queue_parsed_features", list(parsed_features.values())):
        flat = [] if keys is None else [keys]
        for feature in sorted(parsed_features):
            tensor = parsed_features[feature]
            is_sparse = isinstance(tensor, sparse_tensor.SparseTensor)
            flat += [tensor.indices, tensor.values, tensor.dense_shape] if is_sparse else [tensor]
        queue = data_flow_ops.FIFOQueue(feature_queue_capacity, dtypes=[tensor.dtype for tensor in flat])
        summary.scalar(
            f"queue/{queue.name}/fraction_of_{feature_queue_capacity}_full",
            math_ops.cast(queue.size(), dtypes.float32) / feature_queue_capacity,
        )
        queue_runner.add_queue_runner(
            queue_runner.QueueRunner(
                queue,
                [queue.enqueue(flat) for _ in range(num_enqueue_threads)],
                queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError),
            )
        )
        dequeued = queue.dequeue()
        dequeued = iter([array_ops.identity(t) for t in (dequeued if isinstance(dequeued, list) else [dequeued])])

        def take(like):
            tensor = next(dequeued)
            tensor.set_shape(like.get_shape())
            return tensor

        queued_keys = None if keys is None else take(keys)
        features = {}
        for feature in sorted(parsed_features):
            tensor = parsed_features[feature]
            if isinstance(tensor, sparse_tensor.SparseTensor):
                parts = [take(part) for part in (tensor.indices, tensor.values, tensor.dense_shape)]
                features[feature] = sparse_tensor.SparseTensor(*parts)
            else:
                features[feature] = take(tensor)
        return queued_keys, features


def _parsed(keys, examples, features, queue_capacity, threads, parse_fn, name):
    # A parse function has made features of single examples already.
    parsed = parsing_ops.parse_example(examples, features) if parse_fn is None else examples
    if not isinstance(parsed, dict):
        raise ValueError(f"parse_fn must return a dict of features, got {parsed!r}")
    return queue_parsed_features(parsed, keys, queue_capacity, threads, name)


def read_keyed_batch_features(
    file_pattern,
    batch_size,
    features,
    reader,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    reader_num_threads=1,
    feature_queue_capacity=100,
    num_enqueue_threads=2,
    parse_fn=None,
    name=None,
    read_batch_size=1,
):
    """Batches of parsed `tf.Example`s of files, with their keys.

    Args:
      features: dict: feature -> `FixedLenFeature`, `VarLenFeature` or `SparseFeature`.
      reader_num_threads: number of threads that read.
      feature_queue_capacity: number of parsed batches in the queue behind the parsing.
      num_enqueue_threads: number of threads that parse. With more than one, batches may be in another order.
      parse_fn: function that returns a dict of tensors, in the place of `features`.
      Others as for `read_keyed_batch_examples`.

    Returns:
      `(keys, dict: feature -> Tensor or SparseTensor)`.

    Raises:
      ValueError: as `read_keyed_batch_examples` does.
    """
    with ops.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            read_batch_size,
            parse_fn,
            name=scope,
        )
        return _parsed(keys, examples, features, feature_queue_capacity, num_enqueue_threads, parse_fn, scope)


def read_keyed_batch_features_shared_queue(
    file_pattern,
    batch_size,
    features,
    reader,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    reader_num_threads=1,
    feature_queue_capacity=100,
    num_queue_runners=2,
    parse_fn=None,
    name=None,
):
    """`read_keyed_batch_features` with one queue of file names for all workers, and `num_queue_runners` threads that parse."""
    with ops.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples_shared_queue(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            1,
            parse_fn,
            name=scope,
        )
        return _parsed(keys, examples, features, feature_queue_capacity, num_queue_runners, parse_fn, scope)


def read_batch_features(
    file_pattern,
    batch_size,
    features,
    reader,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    feature_queue_capacity=100,
    reader_num_threads=1,
    num_enqueue_threads=2,
    parse_fn=None,
    name=None,
    read_batch_size=1,
):
    """The features of `read_keyed_batch_features`, without keys."""
    _, parsed = read_keyed_batch_features(
        file_pattern,
        batch_size,
        features,
        reader,
        randomize_input=randomize_input,
        num_epochs=num_epochs,
        queue_capacity=queue_capacity,
        reader_num_threads=reader_num_threads,
        feature_queue_capacity=feature_queue_capacity,
        num_enqueue_threads=num_enqueue_threads,
        parse_fn=parse_fn,
        name=name,
        read_batch_size=read_batch_size,
    )
    return parsed


def read_batch_record_features(
    file_pattern,
    batch_size,
    features,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    reader_num_threads=1,
    name="dequeue_record_examples",
):
    """`read_batch_features` of TFRecord files."""
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        io_ops.TFRecordReader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )
