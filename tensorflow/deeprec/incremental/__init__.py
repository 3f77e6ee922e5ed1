"""Incremental checkpoints: between full ones, only what has changed since the last of these.

How they are recorded is in core/embedding (EmbeddingVariables) and in sparse_rows (other variables); saver has the Saver, and
sessions what writes and restores them by itself.
"""

from tensorflow.deeprec.incremental import saver, sessions


def install() -> None:
    """Puts DeepRec's arguments into the classes and functions that have them there."""
    saver.install()
    sessions.install()
