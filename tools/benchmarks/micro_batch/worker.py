"""One form of the micro batch benchmark; run.py starts it.

The first request, {"form": name, "rows": rows of a micro batch}, builds the graph and warms up; each {"steps": n} is answered with the
milliseconds of n steps and the peak memory of the process.
"""

import json
import os
import resource
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

_BATCHES, _COLUMNS, _NUMERIC, _KEYS, _DIM = 4, 26, 13, 100000, 16


def dataset(rows):
    """The same few batches again and again, so that the input costs little."""
    random = np.random.RandomState(0)
    count = 8 * _BATCHES * 1024
    features = {f"c{i}": (random.zipf(1.2, count) % _KEYS).astype(np.int64) for i in range(_COLUMNS)}
    features["numeric"] = random.normal(size=[count, _NUMERIC]).astype(np.float32)
    features["label"] = random.randint(0, 2, [count, 1]).astype(np.float32)
    batches = [{name: value[at : at + rows] for name, value in features.items()} for at in range(0, count, rows)]
    placed = {name: np.stack([batch[name] for batch in batches]) for name in features}
    return tf.data.Dataset.from_tensor_slices(placed).repeat()


def free_rows(data):
    """The dataset without the static number of rows that from_tensor_slices knows."""
    shapes = tf.data.get_output_shapes(data)
    return data.map(
        lambda batch: {
            name: tf.placeholder_with_default(value, [None, *shapes[name].as_list()[1:]])
            for name, value in batch.items()
        }
    )


def loss_of(batch):
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        parts = [
            tf.nn.embedding_lookup(tf.get_embedding_variable(f"t{i}", _DIM), batch[f"c{i}"]) for i in range(_COLUMNS)
        ]
        wide = tf.layers.dense(batch["numeric"], 1, name="wide")
        net = tf.concat([*parts, batch["numeric"]], 1)
        for layer, units in enumerate((256, 128, 64)):
            net = tf.layers.dense(net, units, tf.nn.relu, name=f"dense{layer}")
        logits = tf.layers.dense(net, 1, name="logits") + wide
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=batch["label"], logits=logits))


def build(form, rows):
    """The session and the train op."""
    config = tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
    step = tf.train.get_or_create_global_step()
    data = free_rows(dataset(rows * _BATCHES if form == "plain batch" else rows))
    iterator = tf.data.make_initializable_iterator(data)
    if form == "copies of the graph":
        loss = tf.add_n([loss_of(iterator.get_next()) for _ in range(_BATCHES)]) / _BATCHES
    else:
        loss = loss_of(iterator.get_next())
        if form == "micro batches":
            config.graph_options.optimizer_options.micro_batch_num = _BATCHES
    train = tf.train.AdagradOptimizer(0.05).minimize(loss, step)
    session = tf.Session(config=config)
    session.run([tf.global_variables_initializer(), iterator.initializer])
    return session, train


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries print
    session = train = None
    for line in sys.stdin:
        request = json.loads(line)
        if "stop" in request:
            return
        if "form" in request:
            session, train = build(request["form"], request["rows"])
            for _ in range(20):
                session.run(train)
            answer = {"nodes": len(session.graph.get_operations())}
        else:
            answer = {"ms": []}
            for _ in range(request["steps"]):
                start = time.perf_counter()
                session.run(train)
                answer["ms"].append((time.perf_counter() - start) * 1e3)
            answer["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
