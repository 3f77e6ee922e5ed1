"""Options that a session has unless its configuration says otherwise."""

import functools

from tensorflow.api_v1 import import_hooks
from tensorflow.deeprec import settings


def install() -> None:
    import_hooks.after_import("tensorflow.python.client.session", _set_defaults)


def _set_defaults(module) -> None:
    """Turns graph optimizers off and chooses the executor, each unless the configuration says something about it.

    The layout optimizer changes nothing on a CPU, but logs an error for correct programs whose shapes it cannot infer,
    such as a queue that is filled by several components and read by one.

    Remapping, which fuses ops, with TF_DEEPREC_KEEP_NAN=1 only: oneDNN's relu after a bias makes 0 of NaN.

    The executor of sessions in this process lets the thread that called `run` work too, see core/runtime.
    """
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
    from tensorflow.python.eager import context

    init = module.BaseSession.__init__
    default, off = rewriter_config_pb2.RewriterConfig.DEFAULT, rewriter_config_pb2.RewriterConfig.OFF

    def silent(rewrites):
        """Names of the optimizers to turn off that `rewrites` says nothing about."""
        if rewrites.layout_optimizer == default and not rewrites.cpu_layout_conversion:
            yield "layout_optimizer"
        if settings.KEEP_NAN and rewrites.remapping == default:
            yield "remapping"

    @functools.wraps(init)
    def __init__(self, target="", graph=None, config=None):
        options = context.context().config if config is None else config
        if isinstance(options, config_pb2.ConfigProto):
            names = list(silent(options.graph_options.rewrite_options))
            in_caller = settings.CALLER_THREAD and not target and not options.experimental.executor_type
            if names or in_caller:
                config = config_pb2.ConfigProto()
                config.CopyFrom(options)
                for name in names:
                    setattr(config.graph_options.rewrite_options, name, off)
                if in_caller:
                    config.experimental.executor_type = "DEEPREC_CALLER"
        init(self, target, graph, config)

    module.BaseSession.__init__ = __init__
