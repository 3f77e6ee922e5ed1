"""Which names of tensorflow_estimator's generated API modules become names of `tf.estimator`."""

import types


def public(api: types.ModuleType, but: tuple[str, ...] = ()) -> dict[str, object]:
    """The public names of an API module, without those in `but`.

    The API modules are wrappers that log a line for each name they hand out; the objects themselves are taken here.
    """
    api = vars(api).get("_tfmw_wrapped_module", api)
    return {name: value for name, value in vars(api).items() if not name.startswith("_") and name not in but}
