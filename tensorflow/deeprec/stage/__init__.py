"""Stages: a part of the graph that threads run ahead of the training step, with a bounded buffer between.

`public` holds `tf.staged` and `tf.prefetch_join`, `runner` the threads, `hook` what starts them in monitored sessions, `sessions` what
ends them, `unstarted` warns where nothing started them, `cut` finds what can run ahead with a stage, `smart` widens stages by it, `async_embedding` makes stages of lookups. The buffer is C++, `core/stage`.
"""


def install() -> None:
    """Makes sessions end the threads of their stages, and MetaGraphDefs carry stages."""
    from tensorflow.deeprec.stage import runner, sessions

    runner.install()
    sessions.install()
