"""Modules of 1.15's contrib that are left out: why, and what is used in their place.

They import, and so do the modules below them; any name taken from them is a `LeftOut`, which raises when it is used.
"""

import importlib
import types

# module -> (why, the usual replacement)
MODULES = {
    "bigtable": ("it needs Google's Bigtable client", "tensorflow-io, or google-cloud-bigtable and tf.data.Dataset.from_generator"),
    "cloud": ("it needs Google Cloud clients in the runtime", "tf.io.gfile with a local copy, or tensorflow-io"),
    "cmake": ("it only helped 1.15's build on Windows", "this project's own build"),
    "constrained_optimization": ("it is hardly used", "the tensorflow_constrained_optimization package"),
    "decision_trees": ("it held only the messages of exported trees", "tf.estimator.BoostedTreesClassifier and its export"),
    "ffmpeg": ("it called the ffmpeg program", "tf.audio.decode_wav, or tensorflow-io"),
    "hadoop": ("it needs a SequenceFile reader", "tf.data.TFRecordDataset, or tensorflow-io"),
    "ignite": ("it needs an Ignite client", "tf.data.Dataset.from_generator over pyignite"),
    "kafka": ("it needs a Kafka client in the runtime", "tf.data.KafkaDataset"),
    "kernel_methods": ("it is hardly used", "sklearn.kernel_approximation.RBFSampler and tf.estimator.LinearClassifier"),
    "kinesis": ("it needs a Kinesis client", "tf.data.Dataset.from_generator over boto3"),
    "labeled_tensor": ("it is a library of its own, and hardly used", "xarray around plain tensors"),
    "linear_optimizer": ("it is hardly used", "tf.estimator.LinearClassifier, or tf.train.FtrlOptimizer"),
    "meta_graph_transform": ("it needs the graph transform tool, which is gone", "tf.graph_util, or tf.contrib.graph_editor"),
    "model_pruning": ("it is hardly used", "masks of one's own multiplied into the weights"),
    "nearest_neighbor": ("its kernel is gone from the runtime", "faiss, or scann"),
    "receptive_field": ("it is a tool of its own", "the receptivefield package"),
    "remote_fused_graph": ("it drives Qualcomm's Hexagon processor", "TensorFlow Lite's delegates"),
    "rpc": ("it needs gRPC inside the runtime", "tf.py_func over grpc"),
    "specs": ("it is a language of its own, and hardly used", "tf.contrib.layers"),
    "tensor_forest": ("its kernels are gone from the runtime", "tf.estimator.BoostedTreesClassifier, or scikit-learn"),
    "tensorrt": ("it needs a GPU and TensorRT", "TensorRT's own converters"),
    "timeseries": ("it is a library of its own, and hardly used", "statsmodels, or tensorflow_probability's sts"),
}  # fmt: skip


class LeftOut:
    """Stands for a name of a left-out module, so that a file which imports it and never uses it still loads.

    Calling it, subclassing it or reading an attribute raises NotImplementedError with the reason and the replacement.
    """

    def __init__(self, module: str, name: str):
        self.__dict__.update(_module=module, _name=name)

    def _error(self) -> NotImplementedError:
        return NotImplementedError(message(self._module, self._name))

    def __call__(self, *args, **kwargs):
        raise self._error()

    def __mro_entries__(self, bases):
        raise self._error()

    def __getattr__(self, item):
        if item.startswith("__"):
            # inspect, pickle and doctest probe objects for these.
            raise AttributeError(item)
        raise self._error()

    def __repr__(self):
        return f"<{self._name} of tf.contrib.{self._module}, which is left out>"


def message(module: str, name: str) -> str:
    why, instead = MODULES[module]
    return f"tf.contrib.{module} ({name}) is left out of this TensorFlow: {why}. Use {instead} instead."


def fill(module: types.ModuleType) -> None:
    """Makes `module`, a left-out module or one below it, answer for every name."""
    top = module.__name__.split(".")[2]
    why, instead = MODULES[top]
    module.__doc__ = f"Left out: {why}. Use {instead} instead."

    def missing(name: str):
        if name.startswith("__"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        try:
            return importlib.import_module(f"{module.__name__}.{name}")
        except ModuleNotFoundError:
            return LeftOut(top, name)

    module.__getattr__ = missing
