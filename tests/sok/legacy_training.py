"""Trains a small model of both layers for some steps, on one of several backends, and dumps what it has learnt.

    legacy_training.py BACKEND OPTIMIZER MODE FOLDER

BACKEND: single, mirrored1, mirrored2, workers (two processes with TF_CONFIG) or horovod. OPTIMIZER: keras (TensorFlow's, for tables),
new_keras or sok. MODE: function or session. The same model in plain TensorFlow is `reference()`.
"""

import os
import sys

import numpy as np
import tensorflow as tf

KEYS, DIM, SLOTS, NNZ, BATCH, STEPS = 40, 4, 3, 2, 8, 12
_RATE = 0.05


def batches():
    """Keys of both layers (-1: none, in the second), and labels, of each step; of the whole batch."""
    random = np.random.default_rng(17)
    return [
        (
            random.integers(0, KEYS, [BATCH, SLOTS, NNZ]),
            np.where(random.random([BATCH, SLOTS, NNZ]) < 0.3, -1, random.integers(0, KEYS, [BATCH, SLOTS, NNZ])),
            random.standard_normal([BATCH, 1]).astype(np.float32),
        )
        for _ in range(STEPS)
    ]


def second_table():
    return np.random.default_rng(4).standard_normal([KEYS, DIM]).astype(np.float32)


def kernel():
    return np.random.default_rng(5).standard_normal([SLOTS * NNZ * DIM + SLOTS * DIM, 1]).astype(np.float32)


def sparse(keys):
    """`[batch, slots, nnz]` keys as the SparseTensor `[batch * slots, nnz]` of those that are not -1."""
    flat = tf.reshape(keys, [-1, NNZ])
    indices = tf.where(flat >= 0)
    return tf.SparseTensor(indices, tf.gather_nd(flat, indices), tf.cast(tf.shape(flat), tf.int64))


def model_loss(first, second, weights, labels):
    """The sum over samples over the size of the whole batch."""
    batch = tf.shape(labels)[0]
    features = tf.concat([tf.reshape(first, [batch, -1]), tf.reshape(second, [batch, -1])], 1)
    return tf.reduce_sum(tf.square(tf.matmul(features, weights) - labels)) / BATCH


def legacy_adam():
    from tf_keras.src.optimizers.legacy.adam import Adam

    return Adam(_RATE)


def reference():
    """Both tables and the kernel after training in plain TensorFlow, eagerly."""
    tables = [tf.Variable(np.full([KEYS, DIM], 0.25, np.float32)), tf.Variable(second_table())]
    weights, optimizer = tf.Variable(kernel()), legacy_adam()
    for first_keys, second_keys, labels in batches():
        with tf.GradientTape() as tape:
            first = tf.nn.embedding_lookup(tables[0], first_keys)
            ids = sparse(second_keys)
            second = tf.compat.v1.nn.safe_embedding_lookup_sparse(tables[1], ids, combiner="mean")
            second = tf.pad(second, [[0, BATCH * SLOTS - tf.shape(second)[0]], [0, 0]])
            loss = model_loss(first, second, weights, labels)
        variables = [*tables, weights]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return [v.numpy() for v in variables]


def _make(sok, optimizer):
    first = sok.All2AllDenseEmbedding(
        KEYS, DIM, SLOTS, NNZ, embedding_initializer=tf.keras.initializers.Constant(0.25), name="first"
    )
    second = sok.DistributedEmbedding("Mean", KEYS, DIM, SLOTS, NNZ, use_hashtable=False, name="second")
    weights = tf.Variable(kernel(), name="weights", **({"use_resource": True} if hasattr(tf, "Session") else {}))
    for_tables = {
        "keras": legacy_adam,
        "new_keras": lambda: __import__("tf_keras").src.optimizers.adam.Adam(_RATE),
        "sok": lambda: sok.optimizers.Adam(_RATE),
    }[optimizer]()
    return first, second, weights, for_tables, legacy_adam()


def _gradients(made, first_keys, second_keys, labels):
    first, second, weights, *_ = made
    with tf.GradientTape() as tape:
        loss = model_loss(first(first_keys, training=True), second(sparse(second_keys), training=True), weights, labels)
    tables = [first.embedding_variable, second.embedding_variable]
    return loss, tables, tape.gradient(loss, [tables, [weights]])


def _apply(sok, made, tables, of_tables, of_weights):
    _, _, weights, for_tables, for_weights = made
    with sok.OptimizerScope(tables):
        step = for_tables.apply_gradients(zip(of_tables, tables), experimental_aggregate_gradients=False)
    return [step, for_weights.apply_gradients(zip(of_weights, [weights]))]


def _train_with_strategy(sok, strategy, optimizer):
    with strategy.scope():
        status = sok.Init(global_batch_size=BATCH, seed=1)
        assert {v.numpy() for v in strategy.experimental_local_results(status)} == {b"OK"}
        made = _make(sok, optimizer)
    saver = sok.Saver()
    saver.load_embedding_values(made[1].embedding_variable, tf.constant(second_table()))

    each = BATCH // strategy.num_replicas_in_sync

    def step(*inputs):
        at = tf.distribute.get_replica_context().replica_id_in_sync_group
        loss, tables, (of_tables, of_weights) = _gradients(made, *[x[at * each : (at + 1) * each] for x in inputs])
        _apply(sok, made, tables, of_tables, of_weights)
        return loss

    run = tf.function(lambda *inputs: strategy.run(step, inputs))
    for whole in batches():
        run(*[tf.constant(x) for x in whole])
    return saver, made, made[2]


def _train(sok, optimizer, rank, size, reduce):
    sok.Init(global_batch_size=BATCH)
    made = _make(sok, optimizer)
    saver = sok.Saver()
    saver.load_embedding_values(
        made[1].embedding_variable, [tf.constant(second_table()[:10]), tf.constant(second_table()[10:])]
    )

    def step(*inputs):
        _, tables, (of_tables, of_weights) = _gradients(made, *inputs)
        _apply(sok, made, tables, of_tables, [reduce(g) for g in of_weights])

    run = tf.function(step)
    for whole in batches():
        run(*[tf.constant(x[rank * BATCH // size : (rank + 1) * BATCH // size]) for x in whole])
    return saver, made, made[2]


def _train_in_session(sok, optimizer, rank, size, reduce, folder):
    cut = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        init = sok.Init(global_batch_size=BATCH)
        made = _make(sok, optimizer)
        inputs = [tf.compat.v1.placeholder(x.dtype, x[cut].shape) for x in batches()[0]]
        _, tables, (of_tables, of_weights) = _gradients(made, *inputs)
        train = _apply(sok, made, tables, of_tables, [reduce(g) for g in of_weights])
        saver = sok.Saver()
        load = saver.load_embedding_values(made[1].embedding_variable, tf.constant(second_table()))
        dumps = [saver.dump_to_file(layer.embedding_variable, folder) for layer in made[:2]]
        assert sess.run(init) == b"OK"
        sess.run(tf.compat.v1.global_variables_initializer())
        sess.run(load)
        for whole in batches():
            sess.run(train, dict(zip(inputs, [x[cut] for x in whole])))
        for dump in dumps:
            assert sess.run(dump) == b"OK"
        return sess.run(made[2])


def main(backend, optimizer, mode, folder):
    rank, size, reduce = 0, 1, tf.identity
    if backend == "horovod":
        import horovod.tensorflow as hvd

        hvd.init()
        rank, size, reduce = hvd.rank(), hvd.size(), lambda g: hvd.allreduce(g, op=hvd.Sum)
    import sparse_operation_kit as sok

    if mode == "session":
        tf.compat.v1.disable_eager_execution()
        weights = _train_in_session(sok, optimizer, rank, size, reduce, folder)
    else:
        tf.compat.v1.enable_eager_execution()
        if backend in ("single", "horovod"):
            saver, made, variable = _train(sok, optimizer, rank, size, reduce)
        else:
            if backend == "mirrored2":
                cpu = tf.config.list_physical_devices("CPU")[0]
                tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
            strategy = {
                "mirrored1": lambda: tf.distribute.MirroredStrategy(),
                "mirrored2": lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]),
                "workers": lambda: tf.distribute.experimental.MultiWorkerMirroredStrategy(),
            }[backend]()
            size = strategy.num_replicas_in_sync
            rank = int(strategy.cluster_resolver.task_id) if backend == "workers" else 0
            saver, made, variable = _train_with_strategy(sok, strategy, optimizer)
            assert (
                sok.split_embedding_variable_from_others([made[2], made[0].embedding_variable])[0][0]
                is made[0].embedding_variable
            )
        for layer in made[:2]:
            assert saver.dump_to_file(layer.embedding_variable, folder).numpy() == b"OK"
        weights = variable.numpy()
    if rank == 0:
        np.save(os.path.join(folder, "weights.npy"), weights)
    print(f"trained on {size} replicas", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
