"""ProfileContext: profiles sessions inside its block, at chosen steps."""

import contextlib
import os
import random
import threading

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as session_lib
from tensorflow.python.profiler import model_analyzer


class ProfileContext:
    """While active, `Session.run` of this process is traced at chosen steps and the traces are added to `profiler`.

    Args:
      profile_dir: folder for the profiles (`profile_STEP`, ProfileProto), or None.
      trace_steps: collection of step numbers to trace, counted from 0; default: ten random ones of the first 200.
      dump_steps: steps after which the profile is written to profile_dir; default: those of trace_steps.
      enabled: False makes it do nothing.
      debug: prints what is done.
    """

    def __init__(self, profile_dir, trace_steps=None, dump_steps=None, enabled=True, debug=False):
        self._enabled = enabled
        self._debug = debug
        self._folder = profile_dir
        self._trace_steps = set(random.sample(range(200), 10) if trace_steps is None else trace_steps)
        self._dump_steps = self._trace_steps if dump_steps is None else set(dump_steps)
        self._views = []
        self._step = 0
        self._lock = threading.Lock()
        self.profiler = None

    def add_auto_profiling(self, cmd, options, profile_steps):
        """Runs the view `cmd` ("scope", "graph", "op" or "code") with `options` after each of the given steps."""
        self._views.append((cmd, options, set(profile_steps)))

    def trace_next_step(self):
        self._trace_steps.add(self._step)

    def dump_next_step(self):
        self._dump_steps.add(self._step)

    def get_profiles(self, cmd):
        """What auto profiling made, newest last."""
        return [result for name, result in getattr(self, "_results", []) if name == cmd]

    def __enter__(self):
        if not self._enabled:
            return self
        self._run = session_lib.BaseSession.run
        context = self

        def run(session, fetches, feed_dict=None, options=None, run_metadata=None):
            return context._traced_run(session, fetches, feed_dict, options, run_metadata)

        session_lib.BaseSession.run = run
        return self

    def __exit__(self, *unused):
        if self._enabled:
            session_lib.BaseSession.run = self._run

    def _traced_run(self, session, fetches, feed_dict, options, run_metadata):
        with self._lock:
            step = self._step
            self._step += 1
        trace = step in self._trace_steps
        if not trace:
            return self._run(session, fetches, feed_dict, options, run_metadata)
        options = options or config_pb2.RunOptions()
        options.trace_level = config_pb2.RunOptions.FULL_TRACE
        run_metadata = run_metadata or config_pb2.RunMetadata()
        result = self._run(session, fetches, feed_dict, options, run_metadata)
        with session.graph.as_default(), contextlib.suppress(tf.errors.OpError):
            self.profiler = self.profiler or model_analyzer.Profiler(session.graph)
            self.profiler.add_step(step, run_metadata)
            for cmd, view, steps in self._views:
                if step in steps:
                    made = getattr(
                        self.profiler,
                        f"profile_{'operations' if cmd == 'op' else 'name_scope' if cmd == 'scope' else cmd}",
                    )
                    self._results = getattr(self, "_results", []) + [(cmd, made(view))]
            if self._folder and step in self._dump_steps:
                os.makedirs(self._folder, exist_ok=True)
                path = os.path.join(self._folder, f"profile_{step}")
                with open(path, "wb") as out:
                    out.write(self.profiler.serialize_to_string())
                if self._debug:
                    print(f"profile of step {step}: {path}")
        return result
