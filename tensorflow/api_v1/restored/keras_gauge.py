"""The gauge that 1.15's Keras set when a model was trained, evaluated or asked for predictions."""

from tensorflow.python.eager import monitoring

_keras_api_gauge = monitoring.BoolGauge("/tensorflow/api/keras/1.15", "keras api usage", "method")
