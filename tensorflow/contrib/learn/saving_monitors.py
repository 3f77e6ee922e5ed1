"""Monitors that write: checkpoints, summaries, speed, values of variables and of whole graphs."""

import os
import time

import numpy as np

from tensorflow.contrib.learn import base_monitor
from tensorflow.core.framework import summary_pb2
from tensorflow.core.util import event_pb2
from tensorflow.python.framework import ops
from tensorflow.python.ops import variables
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import checkpoint_management, summary_io


def _writer(summary_writer, output_dir):
    if summary_writer is None and output_dir is not None:
        return summary_io.SummaryWriterCache.get(output_dir)
    return summary_writer


class LoggingTrainable(base_monitor.EveryN):
    """Logs the values of trainable variables.

    Args:
      scope: regular expression at the start of the variables' names; None: all of them.
      every_n: steps between two logs.
      first_n: number of steps at the start that are all logged.
    """

    def __init__(self, scope=None, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        self._names = [v.name for v in ops.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)]
        return self._names

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        values = [f"{name} = {base_monitor.extract_output(outputs, name)}" for name in self._names]
        logging.info("Logging Trainable: Step %d: %s", step, ", ".join(values))


class SummarySaver(base_monitor.EveryN):
    """Writes summaries.

    Args:
      summary_op: string tensor of a serialized `Summary`; None: the scaffold's.
      save_steps: steps between two summaries.
      output_dir: folder of the summaries, if there is no `summary_writer`.
      summary_writer: `tf.summary.FileWriter`.
      scaffold: `tf.train.Scaffold`.
    """

    def __init__(self, summary_op, save_steps=100, output_dir=None, summary_writer=None, scaffold=None):
        super().__init__(every_n_steps=save_steps)
        self._summary_op = summary_op
        self._scaffold = scaffold
        self._summary_writer = _writer(summary_writer, output_dir)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        self._summary_writer = _writer(self._summary_writer, estimator.model_dir)

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        if self._summary_op is not None and self._summary_writer is not None:
            proto = summary_pb2.Summary()
            proto.ParseFromString(base_monitor.extract_output(outputs, self._summary_op.name))
            self._summary_writer.add_summary(proto, step)
        return False

    def end(self, session=None):
        super().end(session=session)
        if self._summary_writer is not None:
            self._summary_writer.flush()


class StepCounter(base_monitor.EveryN):
    """Writes the speed, in steps of the global step per second, as the summary "global_step/sec".

    Args:
      every_n_steps: steps between two summaries.
      output_dir: folder of the summaries, if there is no `summary_writer`.
      summary_writer: `tf.summary.FileWriter`.
    """

    def __init__(self, every_n_steps=100, output_dir=None, summary_writer=None):
        super().__init__(every_n_steps=every_n_steps)
        self._summary_tag = "global_step/sec"
        self._last_reported_step = None
        self._last_reported_time = None
        self._summary_writer = _writer(summary_writer, output_dir)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        self._summary_writer = _writer(self._summary_writer, estimator.model_dir)

    def every_n_step_end(self, current_step, outputs):
        now = time.time()
        if self._last_reported_time is not None and self._summary_writer is not None and now > self._last_reported_time:
            speed = (current_step - self._last_reported_step) / (now - self._last_reported_time)
            proto = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=self._summary_tag, simple_value=speed)])
            self._summary_writer.add_summary(proto, current_step)
        self._last_reported_step, self._last_reported_time = current_step, now


class ExportMonitor(base_monitor.EveryN):
    """Exports the newest checkpoint as a session bundle, every so many steps and at the end.

    Args:
      every_n_steps: steps between two exports.
      export_dir: folder of the exports.
      input_fn: function without arguments that returns (features, labels); by default examples are parsed as the features of
        the training.
      input_feature_key: the feature with the serialized examples that `input_fn` returns.
      exports_to_keep: number of exports that stay.
      signature_fn: see `Estimator.export`.
      default_batch_size: size of a batch; None: any.

    Raises:
      ValueError: `input_fn` and `input_feature_key` are not given together.
    """

    def __init__(
        self,
        every_n_steps,
        export_dir,
        input_fn=None,
        input_feature_key=None,
        exports_to_keep=5,
        signature_fn=None,
        default_batch_size=1,
    ):
        super().__init__(every_n_steps=every_n_steps)
        if (input_fn is None) != (input_feature_key is None):
            raise ValueError("input_fn and input_feature_key must both be defined or both be not defined.")
        self._export_dir = export_dir
        self._exports_to_keep = exports_to_keep
        self._signature_fn = signature_fn
        self._last_export_dir = None
        self._arguments = {"default_batch_size": default_batch_size}
        if input_fn is not None:
            self._arguments.update(
                input_fn=input_fn, input_feature_key=input_feature_key, use_deprecated_input_fn=False
            )

    @property
    def export_dir(self):
        """Folder of the exports."""
        return self._export_dir

    @property
    def exports_to_keep(self):
        """Number of exports that stay."""
        return self._exports_to_keep

    @property
    def signature_fn(self):
        """As given."""
        return self._signature_fn

    @property
    def last_export_dir(self):
        """Folder of the last export, bytes; None before the first."""
        return self._last_export_dir

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        self._export()

    def end(self, session=None):
        super().end(session=session)
        self._export()

    def _export(self):
        if checkpoint_management.latest_checkpoint(self._estimator.model_dir) is None:
            logging.info("Nothing is exported: the model has not been saved yet.")
            return
        try:
            self._last_export_dir = self._estimator.export(
                self._export_dir,
                exports_to_keep=self._exports_to_keep,
                signature_fn=self._signature_fn,
                **self._arguments,
            )
        except RuntimeError as error:
            # Checkpoints are rarer than exports may be: the step has been exported then.
            logging.info("Nothing is exported, the newest checkpoint was: %s", error)


class CheckpointSaver(base_monitor.BaseMonitor):
    """Writes checkpoints: at the first step, every so often, and at the end.

    Args:
      checkpoint_dir: folder of the checkpoints.
      save_secs: seconds between two checkpoints.
      save_steps: steps between two checkpoints.
      saver: `tf.train.Saver`.
      checkpoint_basename: name of the files.
      scaffold: `tf.train.Scaffold` with a saver.

    Raises:
      ValueError: unless exactly one of `save_secs` and `save_steps`, and of `saver` and `scaffold`, is given.
    """

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
    ):
        super().__init__()
        if (saver is None) == (scaffold is None):
            raise ValueError("Exactly one of saver or scaffold must be provided.")
        if (save_secs is None) == (save_steps is None):
            raise ValueError("Exactly one of save_secs or save_steps must be provided.")
        self._saver = saver
        self._scaffold = scaffold
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._summary_writer = summary_io.SummaryWriterCache.get(checkpoint_dir)
        self._save_secs = save_secs
        self._save_steps = save_steps
        self._last_saved_time = None
        self._last_saved_step = None
        self._last_begin_step = None

    def begin(self, max_steps=None):
        super().begin(max_steps)
        self._last_saved_time = self._last_saved_step = self._last_begin_step = None

    def step_begin(self, step):
        super().step_begin(step)
        self._last_begin_step = step
        return []

    def _is_due(self, step):
        if self._last_saved_step is None:
            return True
        if self._save_steps is not None:
            return step >= self._last_saved_step + self._save_steps
        return time.time() >= self._last_saved_time + self._save_secs

    def post_step(self, step, session):
        super().post_step(step, session)
        if self._is_due(step):
            self._save(step, session)

    def end(self, session=None):
        super().end(session)
        if self._last_begin_step is not None and self._last_begin_step != self._last_saved_step:
            self._save(self._last_begin_step, session)

    def _save(self, step, session):
        saver = self._saver if self._saver is not None else self._scaffold.saver
        saver.save(session, self._save_path, global_step=step)
        status = event_pb2.SessionLog(status=event_pb2.SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(status, step)
        self._last_saved_time, self._last_saved_step = time.time(), step


class GraphDump(base_monitor.BaseMonitor):
    """Keeps the values of all tensors of the graph in each step. Slow: for comparisons of small graphs.

    Args:
      ignore_ops: list of op types that are left out; `IGNORE_OPS` by default.
    """

    IGNORE_OPS = ["Const", "Assign", "Identity", "Placeholder", "RandomUniform", "Cast", "RestoreSlice"]

    def __init__(self, ignore_ops=None):
        super().__init__()
        self._ignore_ops = ignore_ops or GraphDump.IGNORE_OPS
        self._data = {}

    def begin(self, max_steps=None):
        super().begin(max_steps=max_steps)
        self._names = [
            tensor.name
            for op in ops.get_default_graph().get_operations()
            # A saver's reading ops have no file to read from during training.
            if op.type not in self._ignore_ops and op.type not in ("Restore", "RestoreV2")
            for tensor in op.outputs
            # Values of these types are handles, which do not leave the session.
            if not tensor.dtype._is_ref_dtype and tensor.dtype.name not in ("resource", "variant")
        ]
        # Variables of 1.x are references: their values are what other graphs are compared with.
        self._names += [v.name for v in variables.global_variables() if v.dtype._is_ref_dtype]

    def step_begin(self, step):
        super().step_begin(step)
        return self._names

    def step_end(self, step, output):
        super().step_end(step, output)
        self._data[step] = {name: output[name] for name in self._names if name in output}

    @property
    def data(self):
        """dict: step -> dict: tensor name -> value."""
        return self._data

    def compare(self, other_dump, step, atol=1e-06):
        """Compares one step with that of another dump.

        Args:
          other_dump: `GraphDump`.
          step: the step.
          atol: absolute tolerance.

        Returns:
          `(matched, non_matched)`: names; and dict: name -> (value here, value there), None where the other has no value.

        Raises:
          ValueError: if a dump has no such step.
        """
        for dump, which in ((self, "this"), (other_dump, "the other")):
            if step not in dump.data:
                raise ValueError(f"step {step} is not in {which} dump, which has {sorted(dump.data)}")
        others = other_dump.data[step]
        matched, non_matched = [], {}
        for name, value in self._data[step].items():
            other = others.get(name)
            if other is not None and _is_close(value, other, atol):
                matched.append(name)
            else:
                non_matched[name] = (value, other)
        return matched, non_matched


def _is_close(a, b, atol):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "OSU" or b.dtype.kind in "OSU":
        return bool(np.all(a == b))
    return bool(np.allclose(a, b, atol=atol))


def get_default_monitors(loss_op=None, summary_op=None, save_summary_steps=100, output_dir=None, summary_writer=None):
    """Monitors of a usual training: the loss is logged, summaries are written.

    Args:
      loss_op: the loss, or None.
      summary_op: string tensor of a serialized `Summary`, or None.
      save_summary_steps: steps between two summaries.
      output_dir: folder of the summaries, if there is no `summary_writer`.
      summary_writer: `tf.summary.FileWriter`.

    Returns:
      List of monitors.
    """
    from tensorflow.contrib.learn import monitors

    result = []
    if loss_op is not None:
        result.append(monitors.PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        result.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return result
