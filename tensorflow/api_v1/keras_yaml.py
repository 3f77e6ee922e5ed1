"""Keras models as YAML, as in 1.15, where PyYAML is installed. Loading runs no code: only plain data is read."""

import json
import types

from tensorflow.api_v1 import import_hooks


def install() -> None:
    """Puts the functions in as Keras loads."""
    import_hooks.after_import("tf_keras.src.engine.training", _training)
    import_hooks.after_import("tf_keras.src.saving.legacy.model_config", _model_config)


def _training(module: types.ModuleType) -> None:
    module.Model.to_yaml = to_yaml


def _model_config(module: types.ModuleType) -> None:
    module.model_from_yaml = model_from_yaml


def to_yaml(self, **kwargs):
    """The architecture of the model as a YAML string; no weights, and nothing of `compile`.

    Args:
      **kwargs: go to `yaml.dump`.

    Returns:
      A string for `tf.keras.models.model_from_yaml`.

    Raises:
      ImportError: PyYAML is not installed.
      NotImplementedError: the model is a subclass that has no `get_config`.
    """
    # By way of JSON, so that the text has plain data only: lists for tuples, numbers for those of NumPy.
    return _yaml().dump(json.loads(self.to_json()), **kwargs)


def model_from_yaml(yaml_string, custom_objects=None):
    """Builds a model, with new weights, from the text of `model.to_yaml()`, or an open file of it.

    Args:
      yaml_string: the text, or a file object. That of 1.15 is read too, with its `!!python/tuple`.
      custom_objects: optional dict from names to classes and functions of your own.

    Returns:
      The model, not compiled.

    Raises:
      ImportError: PyYAML is not installed.
      ValueError: the text has a tag that would create an object of another type, or is no description of a model.
    """
    yaml = _yaml()
    try:
        config = yaml.load(yaml_string, Loader=_loader(yaml))
    except yaml.constructor.ConstructorError as error:
        raise ValueError(f"yaml_string must hold plain data only, to be safe to load: {error}") from error
    if not isinstance(config, dict) or "class_name" not in config:
        raise ValueError(
            f"yaml_string must describe a model, with a class_name, got {type(config).__name__}: {config!r}"
        )
    from tf_keras.src.saving.legacy import model_config

    return model_config.model_from_json(json.dumps(config), custom_objects=custom_objects)


def _yaml() -> types.ModuleType:
    try:
        import yaml
    except ImportError as error:
        raise ImportError("Models as YAML need PyYAML: pip install pyyaml") from error
    return yaml


def _loader(yaml: types.ModuleType) -> type:
    """PyYAML's safe loader, plus the tags of plain Python data that `yaml.dump` writes."""

    class Loader(yaml.SafeLoader):
        pass

    for name, construct in (
        ("tuple", lambda loader, node: list(loader.construct_sequence(node, deep=True))),
        ("unicode", lambda loader, node: loader.construct_scalar(node)),
        ("str", lambda loader, node: loader.construct_scalar(node)),
        ("long", lambda loader, node: loader.construct_yaml_int(node)),
    ):
        Loader.add_constructor(f"tag:yaml.org,2002:python/{name}", construct)
    return Loader
