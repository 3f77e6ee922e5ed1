"""Auto-clustering by XLA on CPU: one switch, in the environment or in the ConfigProto.

A session compiles clusters of its graph when `graph_options.optimizer_options.global_jit_level` of its ConfigProto is `ON_1` or
`ON_2`, or when `tf.config.optimizer.set_jit(True)` was called and the session was given no ConfigProto. `TF_DEEPREC_XLA=1` in
the environment is the same as a `set_jit(True)` at import, and also covers sessions whose ConfigProto leaves the
level at its default. A ConfigProto that says `OFF` always wins.
"""

from tensorflow.deeprec import settings


def with_default_jit_level(config):
  """Returns `config` with XLA on if its level was left at the default; the argument is not changed.

  Args:
    config: a `tf.ConfigProto`.
  """
  options = config.graph_options.optimizer_options
  if options.global_jit_level != options.DEFAULT:
    return config
  copy = type(config)()
  copy.CopyFrom(config)
  copy.graph_options.optimizer_options.global_jit_level = options.ON_1
  return copy


def install() -> None:
  """Applies TF_DEEPREC_XLA; does nothing where it is not set."""
  if not settings.XLA_BY_DEFAULT:
    return
  from tensorflow.core.protobuf import config_pb2
  from tensorflow.python.client import session
  from tensorflow.python.eager import context
  # What tf.config.optimizer.get_jit() reports, and the config of sessions that are given none.
  context.context().optimizer_jit = True
  construct = session.BaseSession.__init__

  def __init__(self, target="", graph=None, config=None):
    if isinstance(config, config_pb2.ConfigProto):
      config = with_default_jit_level(config)
    construct(self, target, graph, config)

  session.BaseSession.__init__ = __init__
