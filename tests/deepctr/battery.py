"""Builds, trains, saves and reloads every model of the deepctr that is on the path; prints {model: "ok" or the error} as JSON.

Run by test_deepctr.py in a process of its own: `python battery.py`.
"""

import json
import os
import sys
import tempfile
import traceback

import numpy as np
import tensorflow as tf
from deepctr import models
from deepctr.feature_column import DenseFeat, SparseFeat, VarLenSparseFeat

ROWS = 48
_RANDOM = np.random.RandomState(0)
_SMALL = {"dnn_hidden_units": (8, 4)}


def _plain_columns(groups=1):
    sparse = [
        SparseFeat(f"s{i}", 7, embedding_dim=4, group_name=f"g{i % groups}" if groups > 1 else "default_group")
        for i in range(4)
    ]
    dense = [DenseFeat("d", 1)]
    data = {f"s{i}": _RANDOM.randint(0, 7, ROWS) for i in range(4)}
    data["d"] = _RANDOM.rand(ROWS).astype(np.float32)
    return sparse + dense, data


def _behaviour_columns(negative=False):
    columns = [
        SparseFeat("user", 5, embedding_dim=4),
        SparseFeat("item", 9, embedding_dim=8),
        SparseFeat("cate", 5, embedding_dim=4),
        DenseFeat("price", 1),
    ]
    names = ["hist_item", "hist_cate"] + (["neg_hist_item", "neg_hist_cate"] if negative else [])
    for name in names:
        item = name.endswith("item")
        column = SparseFeat(
            name, 9 if item else 5, embedding_dim=8 if item else 4, embedding_name="item" if item else "cate"
        )
        columns.append(VarLenSparseFeat(column, maxlen=4, length_name="seq_length"))
    data = {
        "user": _RANDOM.randint(0, 5, ROWS),
        "item": _RANDOM.randint(1, 9, ROWS),
        "cate": _RANDOM.randint(1, 5, ROWS),
        "price": _RANDOM.rand(ROWS).astype(np.float32),
        "seq_length": _RANDOM.randint(1, 5, ROWS),
    }
    for name in names:
        data[name] = _RANDOM.randint(1, 9 if name.endswith("item") else 5, [ROWS, 4])
    return columns, data


def _session_columns():
    columns = [SparseFeat("user", 5, embedding_dim=4), SparseFeat("item", 9, embedding_dim=4), DenseFeat("price", 1)]
    data = {
        "user": _RANDOM.randint(0, 5, ROWS),
        "item": _RANDOM.randint(1, 9, ROWS),
        "price": _RANDOM.rand(ROWS).astype(np.float32),
        "sess_length": _RANDOM.randint(1, 3, ROWS),
    }
    for session in range(2):
        name = f"sess_{session}_item"
        columns.append(VarLenSparseFeat(SparseFeat(name, 9, embedding_dim=4, embedding_name="item"), maxlen=4))
        data[name] = _RANDOM.randint(0, 9, [ROWS, 4])
    return columns, data


# They take embeddings only.
_SPARSE_ONLY = ("AFM", "CCPM", "EDCN")


def _two_towers(name, **arguments):
    def make():
        columns, data = _plain_columns(groups=2 if name == "FLEN" else 1)
        deep = [c for c in columns if name not in _SPARSE_ONLY or isinstance(c, SparseFeat)]
        # EDCN looks every input up among its embeddings.
        linear = deep if name == "EDCN" else columns
        inputs = {c.name: data[c.name] for c in linear}
        return getattr(models, name)(linear, deep, **arguments), inputs, 1

    return make


def _one_tower(name, outputs=1, **arguments):
    def make():
        columns, data = _plain_columns()
        return getattr(models, name)(columns, **arguments), data, outputs

    return make


def _sequence(name, columns, features, **arguments):
    def make():
        made, data = columns()
        return getattr(models, name)(made, features, **arguments), data, 1

    return make


def _negative():
    return _behaviour_columns(negative=True)


MODELS = {
    **{
        name: _two_towers(name, **_SMALL)
        for name in "DCN DIFM DeepFM FNN FwFM IFM NFM ONN WDL xDeepFM AutoInt DeepFEFM DCNMix FiBiNET CCPM".split()
    },
    "AFM": _two_towers("AFM"),
    "EDCN": _two_towers("EDCN", cross_num=2),
    "FGCNN": _two_towers(
        "FGCNN", conv_kernel_width=(3, 2), conv_filters=(2, 1), new_maps=(2, 2), pooling_width=(2, 2), **_SMALL
    ),
    "FLEN": _two_towers("FLEN", **_SMALL),
    "MLR": lambda: (lambda c: (models.MLR(c[0]), c[1], 1))(_plain_columns()),
    "PNN": _one_tower("PNN", **_SMALL),
    "DIN": _sequence("DIN", _behaviour_columns, ["item", "cate"], **_SMALL),
    "BST": _sequence("BST", _behaviour_columns, ["item", "cate"], att_head_num=4, **_SMALL),
    "DIEN-GRU": _sequence("DIEN", _behaviour_columns, ["item", "cate"], **_SMALL),
    "DIEN-AUGRU": _sequence("DIEN", _negative, ["item", "cate"], gru_type="AUGRU", use_negsampling=True, **_SMALL),
    "DSIN": _sequence("DSIN", _session_columns, ["item"], sess_max_count=2, att_head_num=4, **_SMALL),
    "ESMM": _one_tower("ESMM", 2, tower_dnn_hidden_units=(8,)),
    "MMOE": _one_tower("MMOE", 2, expert_dnn_hidden_units=(8,), tower_dnn_hidden_units=(4,)),
    "PLE": _one_tower("PLE", 2, expert_dnn_hidden_units=(8,), tower_dnn_hidden_units=(4,)),
    "SharedBottom": _one_tower("SharedBottom", 2, bottom_dnn_hidden_units=(8,), tower_dnn_hidden_units=(4,)),
}


def run_model(make):
    """Trains a model for an epoch; its loss is finite, and a second model with its saved weights predicts the same."""
    tf.keras.backend.clear_session()
    tf.set_random_seed(1)
    model, data, outputs = make()
    labels = [_RANDOM.randint(0, 2, ROWS).astype(np.float32) for _ in range(outputs)]
    labels = labels if outputs > 1 else labels[0]
    model.compile("adam", ["binary_crossentropy"] * outputs if outputs > 1 else "binary_crossentropy")
    before = model.get_weights()
    tf.keras.backend.get_session().run(tf.global_variables_initializer())
    history = model.fit(data, labels, batch_size=16, epochs=2, verbose=0).history
    assert np.all(np.isfinite(history["loss"])), history
    after = model.get_weights()
    assert len(before) == len(after) and any(not np.array_equal(a, b) for a, b in zip(before, after))
    expected = np.concatenate(np.atleast_1d(model.predict(data, batch_size=16)), axis=None)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.h5")
        model.save_weights(path)
        model.set_weights([np.zeros_like(w) for w in after])
        model.load_weights(path)
    got = np.concatenate(np.atleast_1d(model.predict(data, batch_size=16)), axis=None)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    assert 0 <= expected.min() and expected.max() <= 1


def _estimator_input(data, labels):
    return tf.estimator.inputs.numpy_input_fn(data, labels, batch_size=16, num_epochs=2, shuffle=False)


def run_estimator(name):
    """Trains and evaluates a deepctr estimator on tf.feature_column columns."""
    from deepctr.estimator import models as estimators

    linear, deep, data = [], [], {}
    for i in range(3):
        column = tf.feature_column.categorical_column_with_identity(f"s{i}", 7)
        linear.append(column)
        deep.append(tf.feature_column.embedding_column(column, 4))
        data[f"s{i}"] = _RANDOM.randint(0, 7, ROWS)
    linear.append(tf.feature_column.numeric_column("d"))
    deep.append(tf.feature_column.numeric_column("d"))
    data["d"] = _RANDOM.rand(ROWS).astype(np.float32)
    labels = _RANDOM.randint(0, 2, [ROWS, 1]).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        estimator = getattr(estimators, name)(
            linear, deep, model_dir=folder, **({} if name == "AFMEstimator" else _SMALL)
        )
        estimator.train(_estimator_input(data, labels))
        result = estimator.evaluate(_estimator_input(data, labels))
    assert result["global_step"] == 6 and np.isfinite(result["loss"]) and 0 <= result["AUC"] <= 1, result


ESTIMATORS = ("DeepFMEstimator", "WDLEstimator", "DCNEstimator", "FiBiNETEstimator", "AFMEstimator")


def main():
    results = {}
    for name in sys.argv[1:] or (*MODELS, *ESTIMATORS):
        try:
            run_model(MODELS[name]) if name in MODELS else run_estimator(name)
            results[name] = "ok"
        except Exception:  # noqa: BLE001 (one model must not hide the others)
            results[name] = traceback.format_exc()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
