"""Checkpoints of networks: saved at once, restored now or when variables are made."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.python.util import deprecation

from tensorflow.contrib.eager.network_base import Network, Sequential  # noqa: F401


def _session():
    """The default session; None in eager mode, where there is none."""
    if tf.executing_eagerly():
        return None
    session = tf.get_default_session()
    if session is None:
        raise ValueError("Checkpoints of networks need a default session, or eager execution; there is neither.")
    return session


def _path(network, save_path):
    """A folder stands for the file in it that is called like the network."""
    return os.path.join(save_path, network.name.replace("/", "_")) if os.path.isdir(save_path) else save_path


def _without_scope(scope_name):
    """The map_func by default."""
    # A closure over the name alone: what waits for variables must not keep the network.
    return lambda name: name.removeprefix(f"{scope_name}/")


class _Names:
    """Variables by the names they have in the checkpoint.

    Args:
      network: the network.
      map_func: full name -> name in the checkpoint; None to take the network's scope away.
    """

    def __init__(self, network, map_func):
        if map_func is not None and not callable(map_func):
            raise ValueError(f"map_func must be a function of a name, got {map_func!r}")
        self.map = map_func or _without_scope(network.scope_name)
        self.variables = {}
        self._network = network.name
        self._advice = (
            "map_func gives both that name."
            if map_func
            else "The scope of the network was taken from their names; map_func=lambda name: name keeps them in full."
        )

    def add(self, name, variable):
        if self.variables.setdefault(name, variable) is not variable:
            raise ValueError(
                f"Checkpoint of the Network '{self._network}': two variables named '{name}', "
                f"'{self.variables[name]._shared_name}' and '{variable._shared_name}'. {self._advice}"
            )

    def add_all(self, network):
        for variable in network.variables:
            self.add(self.map(variable._shared_name), variable)


@deprecation.deprecated(None, "Inherit from tf.keras.Model instead of tfe.Network, and use its save_weights.")
def save_network_checkpoint(network, save_path, global_step=None, map_func=None):
    """Saves the variables of a network that was called.

    Args:
      network: a `Network`.
      save_path: prefix of the files, or a folder that will have files named like the network.
      global_step: appended to the prefix; the default global step if there is one.
      map_func: full name of a variable, like "my_network/dense/kernel", -> its name in the checkpoint. By default the name
        without the network's own scope.

    Returns:
      The prefix of the files.

    Raises:
      ValueError: the network was never called, or two variables get one name, or there is no session.
    """
    if not network.built:
        raise ValueError("Attempt to save the Network before it was first called: it has no variables yet.")
    network._set_scope()
    if global_step is None:
        global_step = tf.train.get_global_step()
    names = _Names(network, map_func)
    names.add_all(network)
    saver = tf.train.Saver(names.variables)
    return saver.save(_session(), _path(network, save_path), write_meta_graph=False, global_step=global_step)


@deprecation.deprecated(None, "Inherit from tf.keras.Model instead of tfe.Network, and use its load_weights.")
def restore_network_checkpoint(network, save_path, map_func=None):
    """Restores the variables of a network: those there are at once, others when they are made.

    Of several restorations that a variable waits for, it gets the last one's value. A layer that other networks share is
    restored for them too.

    Args:
      network: a `Network`.
      save_path: what `save_network_checkpoint` returned, or a folder with files named like the network.
      map_func: the same as when it was saved: full name -> name in the checkpoint.

    Raises:
      ValueError: two variables get one name, or there is no session.
      tf.errors.NotFoundError: a variable that exists is not in the checkpoint, or there is no checkpoint.
    """
    network._settle_name(None)
    network._set_scope()
    session, path = _session(), _path(network, save_path)
    names = _Names(network, map_func)
    names.add_all(network)
    if names.variables:
        tf.train.Saver(names.variables).restore(session, path)
    reader = tf.train.load_checkpoint(path)
    waiting = {
        name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map() if name not in names.variables
    }
    if waiting:
        _add_restoration(network, _Restoration(names, waiting, session))


class _Restoration:
    """Values for variables that are not made yet."""

    def __init__(self, names, values, session):
        self._names = names
        self._values = values
        self._session = session
        self._used = set()

    def value(self, name):
        """(whether the checkpoint has a value for a variable, the value or None if it was taken before)."""
        name = self._names.map(name)
        return name in self._values, None if name in self._used else self._values.get(name)

    def done(self, full_name, variable, restored):
        """Notes who has the value, and sets it in a graph; a second variable of the name is an error."""
        name = self._names.map(full_name)
        self._names.add(name, variable)
        if restored:
            self._used.add(name)
            if self._session is not None:
                self._session.run(variable.initializer)


def _add_restoration(layer, restoration):
    """Lets the layer and all below it ask for values when they make variables."""
    if not hasattr(layer, "_restorations"):
        layer._restorations = []
    layer._restorations.append(restoration)
    layer._scope.set_custom_getter(_getter(layer._restorations))
    if isinstance(layer, Network):
        for sublayer in layer.layers:
            if isinstance(sublayer, Network):
                sublayer._set_scope()
            else:
                layer._set_sublayer_scope(sublayer)
            _add_restoration(sublayer, restoration)


def _getter(restorations):
    """A custom getter of `tf.get_variable` that takes the newest value there is."""

    def get(getter, name, shape=None, initializer=None, **kwargs):
        for restoration in reversed(restorations):
            found, value = restoration.value(name)
            if not found:
                continue
            if value is not None:
                if shape is not None and not tf.TensorShape(shape).is_compatible_with(np.shape(value)):
                    raise ValueError(f"Variable {name}: shape {shape}, but {np.shape(value)} in the checkpoint")
                shape, initializer = None, value
            variable = getter(name, shape=shape, initializer=initializer, **kwargs)
            restoration.done(name, variable, restored=value is not None)
            return variable
        return getter(name, shape=shape, initializer=initializer, **kwargs)

    return get
