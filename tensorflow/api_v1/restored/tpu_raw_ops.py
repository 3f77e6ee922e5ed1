"""Raw ops that load and read TPU embeddings for debugging: callable by name, and raise what a CPU build of 1.15 raised."""

import inspect

import tensorflow as tf

# The kind of table -> the tensors that its Load op takes.
_TENSORS = {
    "ADAM": "parameters momenta velocities gradient_accumulators",
    "Adadelta": "parameters accumulators updates gradient_accumulators",
    "Adagrad": "parameters accumulators gradient_accumulators",
    "FTRL": "parameters accumulators linears gradient_accumulators",
    "Momentum": "parameters momenta gradient_accumulators",
    "ProximalAdagrad": "parameters accumulators gradient_accumulators",
    "RMSProp": "parameters ms mom gradient_accumulators",
}


def _make(name: str, required: list[str]):
    optional = {"table_id": -1, "table_name": "", "name": None}
    parameters = [inspect.Parameter(p, inspect.Parameter.KEYWORD_ONLY) for p in required]
    parameters += [inspect.Parameter(p, inspect.Parameter.KEYWORD_ONLY, default=d) for p, d in optional.items()]
    signature = inspect.Signature(parameters)

    def op(**kwargs):
        signature.bind(**kwargs)
        raise tf.errors.InvalidArgumentError(
            None, None, f"No OpKernel was registered to support Op '{name}': no TPU support"
        )

    op.__name__ = op.__qualname__ = name
    op.__doc__ = "Raises tf.errors.InvalidArgumentError: there is no TPU."
    op.__signature__ = signature
    return op


for _kind, _tensors in _TENSORS.items():
    for _way, _inputs in (("Load", _tensors.split()), ("Retrieve", [])):
        _name = f"{_way}TPUEmbedding{_kind}ParametersGradAccumDebug"
        globals()[_name] = _make(_name, [*_inputs, "num_shards", "shard_id"])
