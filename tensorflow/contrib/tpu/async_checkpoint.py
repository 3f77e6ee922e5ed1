"""Checkpoints that are written while training goes on."""

import threading

import tensorflow.compat.v1 as tf


class AsyncCheckpointSaverHook(tf.train.CheckpointSaverHook):
    """A CheckpointSaverHook whose periodic checkpoints are written by a thread.

    A checkpoint that is due while the one before it is still being written waits for it. The first and the last one are
    written as ever. An error of the thread is raised at the next step or at the end.
    """

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
        listeners=None,
    ):
        super().__init__(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold, listeners)
        self._thread = None
        self._in_background = False
        self._stop = False
        self._error = None

    def after_run(self, run_context, run_values):
        self._raise()
        self._in_background = True
        try:
            super().after_run(run_context, run_values)
        finally:
            self._in_background = False
        if self._stop:
            run_context.request_stop()

    def end(self, session):
        self._join()
        self._raise()
        super().end(session)

    def _save(self, session, step):
        self._join()
        if not self._in_background:
            return super()._save(session, step)

        def save():
            try:
                with session.graph.as_default():
                    self._stop = bool(super(AsyncCheckpointSaverHook, self)._save(session, step)) or self._stop
            except Exception as error:  # noqa: BLE001 (raised in the training thread)
                self._error = error

        self._thread = threading.Thread(target=save, name=f"checkpoint of step {step}", daemon=True)
        self._thread.start()
        return False

    def _join(self):
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _raise(self):
        if self._error is not None:
            error, self._error = self._error, None
            raise error
