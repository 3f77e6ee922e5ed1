"""Options that a session has unless its configuration says otherwise."""

import functools

from tensorflow.api_v1 import import_hooks


def install() -> None:
    import_hooks.after_import("tensorflow.python.client.session", _without_layout_optimizer)


def _without_layout_optimizer(module) -> None:
    """The layout optimizer changes nothing on a CPU, but logs an error for correct programs whose shapes it cannot infer.

    Such is a queue that is filled by several components and read by one. A configuration that sets `layout_optimizer` or
    `cpu_layout_conversion` is left as it is.
    """
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
    from tensorflow.python.eager import context

    init = module.BaseSession.__init__
    default, off = rewriter_config_pb2.RewriterConfig.DEFAULT, rewriter_config_pb2.RewriterConfig.OFF

    @functools.wraps(init)
    def __init__(self, target="", graph=None, config=None):
        options = context.context().config if config is None else config
        if isinstance(options, config_pb2.ConfigProto):
            rewrites = options.graph_options.rewrite_options
            if rewrites.layout_optimizer == default and not rewrites.cpu_layout_conversion:
                changed = config_pb2.ConfigProto()
                changed.CopyFrom(options)
                changed.graph_options.rewrite_options.layout_optimizer = off
                config = changed
        init(self, target, graph, config)

    module.BaseSession.__init__ = __init__
