"""Networks: layers made of layers, whose variables are named after the nesting. `tf.keras.Model` is their successor."""

import collections
import types
import weakref

import tensorflow as tf
from tensorflow.python.ops import variable_scope
from tensorflow.python.util import deprecation, function_utils
from tf_keras.src import backend

_Layer = tf.layers.Layer
_INSTEAD = "Inherit from tf.keras.Model instead; layers that are set as attributes need no track_layer there."


class Network(_Layer):
    """A layer made of the layers that are given to `track_layer`.

    A network called NAME has the variables NAME/LAYER/VARIABLE; one in another network has the name of that one before its own.
    Without a name of its own it gets that of its class, "my_network", "my_network_1" and so on, when it is tracked by
    another network or, if none tracks it, when it is first called.

    Args:
      name: must be unique in the network, or the variable scope, around.

    Raises:
      ValueError: the name has a slash, or is a `VariableScope`; when called: the name is taken.
    """

    @deprecation.deprecated(None, _INSTEAD)
    def __init__(self, name=None):
        if isinstance(name, tf.VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError(f"Forward slashes ('/') are not allowed in Network names, got {name!r}.")
        super().__init__(name=name)
        self._sublayers = []
        # Layers that get their scope when this network gets its own.
        self._plain_sublayers = []
        self._sublayer_names = {}
        self._sublayer_name_counts = collections.defaultdict(int)
        # A weak reference: layers are named by the first network that tracks them and is still there.
        self._first_parent = None
        self._is_outermost = False
        self._scope_around = tf.get_variable_scope()
        # The counts of scopes are gone when the scope around was left before the first call.
        self._scopes_before = frozenset(variable_scope.get_variable_scope_store().variable_scopes_count)

    # Names.

    def _init_set_name(self, name):
        self._name = name
        self._base_name = None

    @property
    def name(self):
        if self._name is None:
            raise ValueError(
                "The network does not yet have a final name: it gets one when another network tracks it, or when it is "
                "first called."
            )
        return self._name

    def _name_scope(self):
        return _variables_name_scope(self)

    def _settle_name(self, parent):
        """Makes the name final, in `parent` or, if that is None, outside of all networks."""
        if not self._name:
            if parent is not None:
                counts, taken = parent._sublayer_name_counts, parent._sublayer_names
            else:
                counts = backend.get_default_graph_uid_map()
                prefix = f"{self._scope_around.name}/" if self._scope_around.name else ""
                taken = {name[len(prefix) :] for name in self._scopes_before if name and name.startswith(prefix)}
            self._name, self._base_name = self._make_unique_name(
                name_uid_map=counts, avoid_names=taken, namespace=self._scope_around.name, zero_based=True
            )
        if not self._is_outermost and _parent(self) is None:
            self._is_outermost = parent is None
            self._first_parent = None if parent is None else weakref.ref(parent)

    # Variable scopes.

    def _set_scope(self, scope=None):
        if self._scope is not None:
            return
        if scope is not None:
            raise ValueError("Networks may not be created with explicit scopes.")
        parent = _parent(self)
        if parent is None:
            self._settle_name(None)
            around = self._scope_around
        else:
            parent._set_scope()
            around = parent._scope
        wanted = f"{around.name}/{self._name}" if around.name else self._name
        with tf.variable_scope(around, auxiliary_name_scope=False):
            with tf.variable_scope(
                None, default_name=self._name, use_resource=True, auxiliary_name_scope=False
            ) as captured:
                if captured.name != wanted or (around.name and wanted in self._scopes_before):
                    raise ValueError(
                        f"A Network named '{self._name}' already exists (or a variable_scope was created with this "
                        "name). Names must be unique."
                    )
                self._scope = captured
        if parent is None:
            self._name = wanted
        for layer in self._plain_sublayers:
            self._set_sublayer_scope(layer)

    def _set_sublayer_scope(self, layer):
        if layer._scope is not None:
            return
        parent = _parent(layer)
        if parent is None:
            raise ValueError(
                f"The parent of layer {layer.name}, which was added to network {self._name}, was garbage collected "
                "before the layer was built."
            )
        parent._set_scope()
        with tf.variable_scope(parent._scope, auxiliary_name_scope=False):
            with tf.variable_scope(
                None, default_name=layer.name, use_resource=True, auxiliary_name_scope=False
            ) as captured:
                layer._scope = captured
        layer._name_scope = types.MethodType(_variables_name_scope, layer)

    # Layers.

    def track_layer(self, layer):
        """Adds a layer: its variables are the network's. Every layer that `call` uses must be tracked.

        Args:
          layer: a `tf.layers.Layer`; networks are layers.

        Returns:
          The layer.

        Raises:
          RuntimeError: `__init__` of the network was not called before.
          TypeError: `layer` is none.
          ValueError: the network has another layer of that name.
        """
        if not hasattr(self, "_sublayers"):
            raise RuntimeError("Need to call Network.__init__ before adding layers")
        if not isinstance(layer, _Layer):
            raise TypeError(f"Network.track_layer() takes a tf.layers.Layer, got {type(layer)}")
        layer._use_resource_variables = True
        if isinstance(layer, Network):
            layer._settle_name(self)
        elif not layer.built:
            if _parent(layer) is None:
                if layer._name != layer._base_name:
                    # It was named among all layers of the program.
                    layer._name, layer._base_name = layer._make_unique_name(
                        name_uid_map=self._sublayer_name_counts, avoid_names=self._sublayer_names, zero_based=True
                    )
                layer._first_parent = weakref.ref(self)
            self._plain_sublayers.append(layer)
        if not layer.built and _parent(layer) is self:
            if self._sublayer_names.setdefault(layer.name, layer) is not layer:
                raise ValueError(f"Attempt to add two Layers with the name '{layer.name}' to the same Network.")
            if any(known is layer for known in self._sublayers):
                return layer
        self._sublayers.append(layer)
        return layer

    @property
    def layers(self):
        return self._sublayers

    def get_layer(self, name=None, index=None):
        """A tracked layer: the first of a name, or that of an index.

        Raises:
          ValueError: not exactly one of both is given, or there is no such layer.
        """
        if (name is None) == (index is None):
            raise ValueError(f"Network.get_layer: give exactly one of name and index, got {name!r} and {index!r}")
        if index is not None:
            if index >= len(self._sublayers):
                raise ValueError(f"Network.get_layer: index {index}, but there are {len(self._sublayers)} layers")
            return self._sublayers[index]
        for layer in self._sublayers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    def _of_layers(self, what):
        return [value for layer in self._sublayers for value in getattr(layer, what)]

    @property
    def weights(self):
        return self._of_layers("weights")

    @property
    def trainable_weights(self):
        return self._of_layers("trainable_weights")

    @property
    def non_trainable_weights(self):
        return self._of_layers("non_trainable_weights")

    @property
    def losses(self):
        return self._of_layers("losses")

    @property
    def trainable(self):
        return True

    @trainable.setter
    def trainable(self, value):
        if not value:
            raise AttributeError("cannot mark Network as not trainable")

    def add_variable(
        self, name, shape, dtype=None, initializer=None, regularizer=None, trainable=True, constraint=None
    ):
        """Raises RuntimeError: the variables of a network are those of its layers."""
        raise RuntimeError("add_variable is not supported in Network: its variables are those of its layers")

    def add_loss(self, losses, inputs=None):
        """Raises RuntimeError: the losses of a network are those of its layers."""
        raise RuntimeError("add_loss is not supported in Network: its losses are those of its layers")

    def _gather_saveables_for_checkpoint(self):
        raise NotImplementedError(f"tfe.Network does not support object-based checkpointing. {_INSTEAD}")


def _parent(layer):
    """The network that tracked a layer first, while it exists."""
    reference = getattr(layer, "_first_parent", None)
    return None if reference is None else reference()


def _variables_name_scope(layer):
    """Ops have the names of the variables."""
    return f"{layer._current_scope.name}/"


class Sequential(Network):
    """Layers and functions, each called with what the one before returns.

    Args:
      layers_funcs: sequence of layers and functions, for `add`.
      name: see `Network`.
    """

    def __init__(self, layers_funcs=None, name=None):
        super().__init__(name=name)
        self._steps = []
        for layer_func in layers_funcs or ():
            self.add(layer_func)

    def add(self, layer_func):
        """Appends a `tf.layers.Layer` or a function.

        Raises:
          TypeError: it is neither.
        """
        if isinstance(layer_func, _Layer):
            arguments = function_utils.fn_args(layer_func.call)
            self.track_layer(layer_func)
        elif callable(layer_func):
            arguments = function_utils.fn_args(layer_func)
        else:
            raise TypeError(f"Sequential.add() takes a tf.layers.Layer or a function, got {layer_func!r}")
        self._steps.append((layer_func, "training" in arguments))

    def call(self, inputs, training=None):
        """Calls all in order; `training`, unless None, goes to those that take it."""
        for step, takes_training in self._steps:
            inputs = step(inputs, training) if takes_training and training is not None else step(inputs)
        return inputs
