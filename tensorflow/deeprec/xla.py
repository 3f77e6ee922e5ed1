"""Auto-clustering by XLA on CPU: one switch, however it is thrown.

`tf.config.optimizer.set_jit(True)` turns it on for every session created from then on; `TF_DEEPREC_XLA=1` in the environment is
the same call made at import. A session whose ConfigProto names a level in
`graph_options.optimizer_options.global_jit_level` (`ON_1`, `ON_2`, `OFF`) goes by that.
"""

import functools

from tensorflow.deeprec import settings


def _with_jit(config):
    """A copy of a ConfigProto with XLA on."""
    copy = type(config)()
    copy.CopyFrom(config)
    options = copy.graph_options.optimizer_options
    options.global_jit_level = options.ON_1
    return copy


def install() -> None:
    """Makes sessions follow the switch, and applies TF_DEEPREC_XLA."""
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.client import session
    from tensorflow.python.eager import context

    if settings.XLA_BY_DEFAULT:
        context.context().optimizer_jit = True

    construct = session.BaseSession.__init__

    @functools.wraps(construct)
    def __init__(self, target="", graph=None, config=None):
        # Without a config TensorFlow itself takes the switch's state; with one it does not look.
        if isinstance(config, config_pb2.ConfigProto) and context.context().optimizer_jit:
            options = config.graph_options.optimizer_options
            if options.global_jit_level == options.DEFAULT:
                config = _with_jit(config)
        construct(self, target, graph, config)

    session.BaseSession.__init__ = __init__
