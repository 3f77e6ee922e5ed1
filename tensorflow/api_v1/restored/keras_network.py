"""`tensorflow.python.keras.engine.network`: graphs of layers, which are part of the functional model now."""

from tf_keras.src.engine.functional import *  # noqa: F403
from tf_keras.src.engine.functional import _make_node_key, _map_graph_network, _should_skip_first_node  # noqa: F401
from tf_keras.src.engine.training import Model
from tf_keras.src.saving.legacy.saving_utils import is_hdf5_filepath as _is_hdf5_filepath  # noqa: F401
from tf_keras.src.utils.layer_utils import get_source_inputs  # noqa: F401

# 1.15's Model was a Network with a training loop. Nothing is one and not the other any more.
Network = Model
