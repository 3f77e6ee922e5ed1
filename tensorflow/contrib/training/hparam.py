"""Hyperparameters: named values with types, set from text, JSON, dicts and protos."""

import json
import numbers
import re

from tensorflow.contrib.training import hparam_pb2
from tensorflow.python.framework import ops
from tensorflow.python.util import compat

__all__ = ["HParams", "parse_values"]

# One clause of "name=value,list=[1,2],list[0]=3".
PARAM_RE = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*((?P<val>[^,\[]*)|\[(?P<vals>[^\]]*)\])($|,\s*)"
)


def _parse_bool(text):
    if text in ("true", "True"):
        return True
    if text in ("false", "False"):
        return False
    return bool(int(text))


def _parse_one(name, var_type, text, values):
    try:
        return _parse_bool(text) if var_type is bool else var_type(text)
    except ValueError:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{var_type.__name__}' with value '{text}' in {values}"
        )


def parse_values(values, type_map, ignore_unknown=False):
    """Parses "name=value,..." into a dict.

    A value is an int or float as Python writes it, true or false, a string without comma, space and square bracket, or a list
    of such in square brackets. `name[index]=value` sets one element of a list.

    Args:
      values: the text.
      type_map: dict: name -> type, of the value or of a list's elements.
      ignore_unknown: skips names that are not in `type_map`.

    Returns:
      dict: name -> value, list, or dict of index -> value.

    Raises:
      ValueError: if the text is malformed, a value is not of its type, a name is unknown or set twice.
    """
    results = {}
    position = 0
    while position < len(values):
        match = PARAM_RE.match(values, position)
        if not match:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name, index = match["name"], match["index"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind = type_map[name]
        if match["vals"] is not None:
            if index is not None:
                raise ValueError(f"Assignment of a list to a list index: {name}[{index}] in {values}")
            elements = [text for text in re.split("[ ,]", match["vals"]) if text]
            _store(results, name, [_parse_one(name, kind, text, values) for text in elements], values)
        elif index is None:
            _store(results, name, _parse_one(name, kind, match["val"], values), values)
        else:
            value = _parse_one(name, kind, match["val"], values)
            if not isinstance(results.setdefault(name, {}), dict):
                _store(results, name, value, values)
            _store(results[name], int(index), value, values, f"{name}[{index}]")
    return results


def _store(results, key, value, values, name=None):
    if key in results:
        raise ValueError(f"Multiple assignments to variable '{name or key}' in {values}")
    results[key] = value


def _cast_to_type_if_compatible(name, param_type, value):
    """`value` as `param_type`; ints become floats, nothing else is converted.

    Raises:
      ValueError: if it is of another type.
    """
    # type(), as a bool is an int for isinstance.
    if type(value) is param_type or issubclass(param_type, type(None)):
        return value
    fits = (
        (not issubclass(param_type, (str, bytes)) or isinstance(value, (str, bytes)))
        and issubclass(param_type, bool) == isinstance(value, bool)
        and (not issubclass(param_type, numbers.Integral) or isinstance(value, numbers.Integral))
        and (not issubclass(param_type, numbers.Number) or isinstance(value, numbers.Number))
    )
    if not fits:
        raise ValueError(f"Could not cast hparam '{name}' of type '{param_type}' from value {value!r}")
    return param_type(value)


class HParams:
    """A set of hyperparameters; each is an attribute.

    The first value of a hyperparameter gives its type: int, float, bool, string, or a list of one of these.

        hparams = tf.contrib.training.HParams(learning_rate=0.1, units=[8, 4])
        hparams.parse("learning_rate=0.3,units=[16]")
        hparams.learning_rate  # 0.3

    Args:
      hparam_def: a `HParamDef` proto to start from.
      model_structure: any object; kept for `get_model_structure`.
      **kwargs: names and values; not together with `hparam_def`.

    Raises:
      ValueError: if both `hparam_def` and values are given, or a name is reserved, or a list empty.
    """

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        # Name -> (type of the value or the elements, whether it is a list).
        self._hparam_types = {}
        self._model_structure = model_structure
        if hparam_def:
            if kwargs:
                raise ValueError("hparam_def and initialization values are mutually exclusive")
            self._init_from_proto(hparam_def)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def _init_from_proto(self, hparam_def):
        if not isinstance(hparam_def, hparam_pb2.HParamDef):
            raise TypeError(f"hparam_def must be a HParamDef, got {type(hparam_def)}")
        for name, value in hparam_def.hparam.items():
            kind = value.WhichOneof("kind")
            content = getattr(value, kind)
            convert = {"int64": int, "bytes": compat.as_str}.get(kind.partition("_")[0], lambda v: v)
            is_list = kind.endswith("_list")
            self.add_hparam(name, [convert(v) for v in content.value] if is_list else convert(content))

    def add_hparam(self, name, value):
        """Adds a hyperparameter.

        Raises:
          ValueError: if the name is taken, or `value` an empty list.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0] if is_list else value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Sets a hyperparameter that exists.

        Raises:
          KeyError: if it does not exist.
          ValueError: if `value` is of another type.
        """
        param_type, is_list = self._hparam_types[name]
        if isinstance(value, list) != is_list:
            expected = "a list for multi-valued" if is_list else "no list for single-valued"
            raise ValueError(f"Must pass {expected} parameter: {name}, got {value!r}")
        if is_list:
            setattr(self, name, [_cast_to_type_if_compatible(name, param_type, v) for v in value])
        else:
            setattr(self, name, _cast_to_type_if_compatible(name, param_type, value))

    def del_hparam(self, name):
        """Removes a hyperparameter; nothing happens if it does not exist."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        """Sets hyperparameters from text, see `parse_values`; returns this object.

        Raises:
          ValueError: if the text is malformed, or a hyperparameter does not exist.
        """
        type_map = {name: param_type for name, (param_type, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, type_map))

    def override_from_dict(self, values_dict):
        """Sets hyperparameters from a dict; returns this object.

        Raises:
          KeyError: if one does not exist.
          ValueError: if a value is of another type.
        """
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map):
        """`override_from_dict` under its older name."""
        return self.override_from_dict(values_dict=values_map)

    def set_model_structure(self, model_structure):
        """Keeps an object for `get_model_structure`."""
        self._model_structure = model_structure

    def get_model_structure(self):
        """The object that the constructor or `set_model_structure` got."""
        return self._model_structure

    def to_json(self, indent=None, separators=None, sort_keys=False):
        """The values as JSON; arguments as for `json.dumps`."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json):
        """Sets hyperparameters from a JSON object; returns this object.

        Raises:
          KeyError: if one does not exist.
          ValueError: if the text is no JSON, or a value is of another type.
        """
        return self.override_from_dict(json.loads(values_json))

    def values(self):
        """dict: name -> value."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        """The value of `key`, or `default` if there is none.

        Raises:
          ValueError: if `key` exists and `default` is of another type.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            param_type, is_list = self._hparam_types[key]
            kind = f"list<{param_type}>" if is_list else str(param_type)
            message = f"Hparam '{key}' of type '{kind}' is incompatible with default={default}"
            if is_list != isinstance(default, list):
                raise ValueError(message)
            try:
                for value in default if is_list else [default]:
                    _cast_to_type_if_compatible(key, param_type, value)
            except ValueError as error:
                raise ValueError(f"{message}. {error}")
        return getattr(self, key)

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self):
        return f"{type(self).__name__}({sorted(self.values().items())})"

    @staticmethod
    def _get_kind_name(param_type, is_list):
        """Field of the proto for a type.

        Raises:
          ValueError: if there is none.
        """
        # bool first: it is an int, too.
        for python_types, name in ((bool, "bool"), (int, "int64"), ((str, bytes), "bytes"), (float, "float")):
            if issubclass(param_type, python_types):
                return f"{name}_{'list' if is_list else 'value'}"
        raise ValueError(f"Unsupported parameter type: {param_type}")

    def to_proto(self, export_scope=None):
        """The hyperparameters as a `HParamDef`; `export_scope` has no effect, as no name is in a graph."""
        del export_scope
        proto = hparam_pb2.HParamDef()
        for name, (param_type, is_list) in self._hparam_types.items():
            kind = self._get_kind_name(param_type, is_list)
            convert = compat.as_bytes if kind.startswith("bytes") else lambda v: v
            value = getattr(self, name)
            if is_list:
                getattr(proto.hparam[name], kind).value.extend([convert(v) for v in value])
            else:
                setattr(proto.hparam[name], kind, convert(value))
        return proto

    @staticmethod
    def from_proto(hparam_def, import_scope=None):
        """Hyperparameters from a `HParamDef`; `import_scope` has no effect."""
        del import_scope
        return HParams(hparam_def=hparam_def)


ops.register_proto_function(
    "hparams", proto_type=hparam_pb2.HParamDef, to_proto=HParams.to_proto, from_proto=HParams.from_proto
)
