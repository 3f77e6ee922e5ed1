"""DNN estimators whose graph names its inputs, columns and input layer in collections (for integrated gradients).

Variables and checkpoints are those of `tf.estimator.DNNClassifier` and `DNNRegressor`.
"""

import contextlib
import pickle

from google.protobuf import any_pb2

import tensorflow.compat.v1 as tf
from tensorflow.python.feature_column import feature_column as fc_v1
from tensorflow_estimator.python.estimator import estimator
from tensorflow_estimator.python.estimator.canned import dnn
from tensorflow_estimator.python.estimator.canned import head as head_lib


class LayerAnnotationsCollectionNames:
    """Names of the collections."""

    UNPROCESSED_FEATURES = "layer_annotations/unprocessed_features"
    PROCESSED_FEATURES = "layer_annotatons/processed_features"
    FEATURE_COLUMNS = "layer_annotations/feature_columns"

    @classmethod
    def keys(cls, collection_name):
        return f"{collection_name}/keys"

    @classmethod
    def values(cls, collection_name):
        return f"{collection_name}/values"


def _annotate(collection, key, tensor):
    info = any_pb2.Any()
    info.Pack(tf.saved_model.utils.build_tensor_info(tensor))
    tf.add_to_collection(LayerAnnotationsCollectionNames.keys(collection), key)
    tf.add_to_collection(LayerAnnotationsCollectionNames.values(collection), info)


def _pickled(column) -> bytes:
    if isinstance(column, fc_v1._EmbeddingColumn):
        # The function that makes its variable cannot be pickled.
        column = column._replace(layer_creator=None)
    return pickle.dumps(column)


@contextlib.contextmanager
def _recorded_input_layers(outputs: dict):
    """Input layers that are built inside put column -> tensor into `outputs`."""
    from tf_keras.src.feature_column import dense_features

    old_layer, old_call = fc_v1._internal_input_layer, dense_features.DenseFeatures.call

    def record(kwargs):
        if kwargs.get("cols_to_output_tensors") is None:
            kwargs["cols_to_output_tensors"] = outputs
        return kwargs

    def layer(*args, **kwargs):
        return old_layer(*args, **record(kwargs))

    def call(self, features, cols_to_output_tensors=None, training=None):
        return old_call(self, features, outputs if cols_to_output_tensors is None else cols_to_output_tensors, training)

    fc_v1._internal_input_layer, dense_features.DenseFeatures.call = layer, call
    try:
        yield
    finally:
        fc_v1._internal_input_layer, dense_features.DenseFeatures.call = old_layer, old_call


def _make(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, partitioner, model_dir, config, warm):
    columns = tuple(feature_columns or ())
    names = LayerAnnotationsCollectionNames

    def model_fn(features, labels, mode, config):
        raw, outputs = dict(features), {}
        with _recorded_input_layers(outputs):
            spec = dnn._dnn_model_fn(
                features=features,
                labels=labels,
                mode=mode,
                head=head,
                hidden_units=hidden_units,
                feature_columns=columns,
                optimizer=optimizer,
                activation_fn=activation_fn,
                dropout=dropout,
                input_layer_partitioner=partitioner,
                config=config,
            )
        for key in tf.feature_column.make_parse_example_spec(columns):
            _annotate(names.UNPROCESSED_FEATURES, key, tf.convert_to_tensor_or_sparse_tensor(raw[key]))
        for column in columns:
            tf.add_to_collection(names.FEATURE_COLUMNS, _pickled(column))
        for column, tensor in outputs.items():
            _annotate(names.PROCESSED_FEATURES, column.name, tensor)
        return spec

    return estimator.Estimator(model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm)


def DNNClassifierWithLayerAnnotations(
    hidden_units,
    feature_columns,
    model_dir=None,
    n_classes=2,
    weight_column=None,
    label_vocabulary=None,
    optimizer="Adagrad",
    activation_fn=tf.nn.relu,
    dropout=None,
    input_layer_partitioner=None,
    config=None,
    warm_start_from=None,
    loss_reduction=tf.losses.Reduction.SUM,
):
    """A `tf.estimator.DNNClassifier`, arguments included, with layer annotations."""
    head = head_lib._binary_logistic_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
    return _make(
        head,
        hidden_units,
        feature_columns,
        optimizer,
        activation_fn,
        dropout,
        input_layer_partitioner,
        model_dir,
        config,
        warm_start_from,
    )


def DNNRegressorWithLayerAnnotations(
    hidden_units,
    feature_columns,
    model_dir=None,
    label_dimension=1,
    weight_column=None,
    optimizer="Adagrad",
    activation_fn=tf.nn.relu,
    dropout=None,
    input_layer_partitioner=None,
    config=None,
    warm_start_from=None,
    loss_reduction=tf.losses.Reduction.SUM,
):
    """A `tf.estimator.DNNRegressor`, arguments included, with layer annotations."""
    head = head_lib._regression_head(
        label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction
    )
    return _make(
        head,
        hidden_units,
        feature_columns,
        optimizer,
        activation_fn,
        dropout,
        input_layer_partitioner,
        model_dir,
        config,
        warm_start_from,
    )
