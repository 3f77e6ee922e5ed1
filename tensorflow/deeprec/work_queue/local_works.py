"""Works that a worker keeps on its disk while it has not finished them, for jobs without checkpoints."""

import os

from tensorflow.deeprec import library
from tensorflow.deeprec.work_queue import slices
from tensorflow.python.framework import ops
from tensorflow.python.lib.io import file_io
from tensorflow.python.ops import array_ops, cond, control_flow_ops, io_ops, math_ops, string_ops
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import session_run_hook

_JOBS = ("worker", "chief")


class LocalWorkMgr:
    """Writes each work that a worker takes into a file, and gives the works of files that are there first.

    The files are `restore_works_dir/<job_name>_<task_index>/start_<a>_end_<b>_<hash>`, each with one work. Whoever has
    finished a work removes its file; what a killed worker leaves is what it takes first when it comes back.

    Args:
      job_name: "worker" or "chief".
      task_index: of the worker.
      restore_works_dir: a folder, for all workers.
      name: of its ops.

    Raises:
      ValueError: an argument is none of these.
    """

    def __init__(self, job_name, task_index, restore_works_dir, name=None):
        if job_name not in _JOBS:
            raise ValueError(f"job_name must be one of {', '.join(_JOBS)}, got {job_name!r}")
        if isinstance(task_index, bool) or not isinstance(task_index, int) or task_index < 0:
            raise ValueError(f"task_index must be a whole number of at least 0, got {task_index!r}")
        if not file_io.is_directory_v2(restore_works_dir):
            raise ValueError(f"restore_works_dir must be a folder that exists, got {restore_works_dir!r}")
        self.job_name = job_name
        self.task_index = task_index
        self.restore_works_dir = restore_works_dir
        self._name = name or "local_workqueue_mgr"
        self._folder = os.path.join(restore_works_dir, f"{job_name}_{task_index}")
        self._works = self._read()
        self._create = self._is_initialized = None

    def _read(self) -> list:
        works = []
        if file_io.is_directory_v2(self._folder):
            for name in file_io.list_directory_v2(self._folder):
                path = os.path.join(self._folder, name)
                for line in file_io.read_file_to_string(path).splitlines():
                    if slices.has_range(line.strip()):
                        works.append(line.strip())
                    elif line.strip():
                        logging.error("%s: %r is no work of the form path?start=a&end=b; left out", path, line)
        works.sort(key=lambda work: slices.parse_slice(work)[::-1][1:] + (work,))
        if works:
            logging.info("%d works of an earlier run are in %s", len(works), self._folder)
        return works

    def build(self, device: str) -> None:
        """Makes the local queue; called by the WorkQueue."""
        generated = library.ops()
        with ops.name_scope(self._name), ops.device(device):
            self._handle = generated.work_queue_handle_op(shared_name=ops.get_default_graph().get_name_scope())
            create = generated.work_queue_create(self._handle)
            with ops.control_dependencies([create]):
                restore = generated.work_queue_restore(
                    self._handle, array_ops.constant(self._works, "string", [len(self._works)])
                )
            self._create = control_flow_ops.group(restore)
            self._is_initialized = generated.work_queue_is_initialized(self._handle)
        ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, self._create)

    def first(self, remote_take, device: str):
        """A work: one of the files, or of `remote_take`, and then it is written into a file."""

        def new():
            work = remote_take()
            with ops.device(device):
                name = string_ops.regex_replace(work, r"^.*\?start=(\d+)&end=(\d+)$", r"start_\1_end_\2")
                digest = string_ops.as_string(string_ops.string_to_hash_bucket_fast(work, 1 << 40))
                path = string_ops.string_join([self._folder + "/", name, "_", digest])
                written = io_ops.write_file(path, string_ops.string_join([work, "\n"]))
            with ops.control_dependencies([written]):
                return array_ops.identity(work)

        with ops.name_scope(self._name), ops.device(device):
            size = library.ops().work_queue_size(self._handle)
            return cond.cond(
                math_ops.equal(size, 0), new, lambda: array_ops.identity(library.ops().work_queue_take(self._handle))
            )

    def hook(self):
        """A hook for the session; sessions that run `tf.tables_initializer()`, as monitored ones do, work without."""
        return _FillHook(self)


class _FillHook(session_run_hook.SessionRunHook):
    def __init__(self, manager: LocalWorkMgr):
        self._manager = manager

    def begin(self):
        if self._manager._create is None:
            raise RuntimeError(
                "LocalWorkMgr.hook() without a WorkQueue: give the LocalWorkMgr to one as local_work_mgr"
            )

    def after_create_session(self, session, coord):
        del coord
        if not session.run(self._manager._is_initialized):
            session.run(self._manager._create)
