"""`WorkQueue`, as `tensorflow.python.ops.work_queue` has it."""

from tensorflow.deeprec import library
from tensorflow.deeprec.stage.buffer import boolean, positive
from tensorflow.deeprec.work_queue import readers
from tensorflow.deeprec.work_queue.local_works import LocalWorkMgr
from tensorflow.deeprec.work_queue.slices import Slice, Work, has_range, parse_slice, register_record_counter
from tensorflow.python.eager import context
from tensorflow.python.framework import constant_op, dtypes, ops
from tensorflow.python.ops import (
    array_ops,
    cond,
    control_flow_ops,
    gen_resource_variable_ops,
    logging_ops,
    math_ops,
    random_ops,
    string_ops,
)
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.summary import summary
from tensorflow.python.training.saving import saveable_object

__all__ = ["LocalWorkMgr", "Slice", "Work", "WorkQueue", "parse_slice", "register_record_counter"]

_SHOWN = 8


class WorkQueue(saveable_object.SaveableObject):
    """A queue of works, such as paths of files, that all workers of a training share.

    The queue is on one device, where a variable would be: under `tf.train.replica_device_setter` on a parameter server. Graphs that give
    it the same name share it. It is filled when it is initialized (it is in `tf.GraphKeys.RESOURCES`), and saved and restored with
    everything that a `tf.train.Saver` saves: `<name>_digest` is the works, joined by commas, `<name>_works` what is not finished. A checkpoint
    of other works, or without these tensors, leaves the queue as it was filled.

    When a work counts as finished:

    * `take`: as soon as it is taken.
    * `input_producer`: as soon as it has left the returned queue.
    * `input_dataset`: when the dataset is asked for the next one. What was being read when the checkpoint was written is read again.

    Works that a killed worker held, in the latter two, go back to it when it comes back, and to anybody after a restore.

    Args:
      works: list of str or bytes, neither it nor one of them empty; white space around them is stripped.
      num_epochs: how many times each work is in the queue.
      shuffle: whether each epoch is shuffled by itself.
      seed: of the shuffling, for the same order in every run.
      prefix: put in front of each work that is taken.
      num_slices: cut each work whose records can be counted into this many slices, `path?start=a&end=b`; see
        `register_record_counter` and `parse_slice`.
      num_clients: how many works of `input_dataset` one reader has open at a time, as `interleave` with that cycle_length has.
      name: of the queue; "work_queue" by default, made unique in the graph.
      local_work_mgr: a `LocalWorkMgr`; all works must then have the form of slices.

    Raises:
      ValueError, TypeError: an argument is none of these.
      RuntimeError: in eager mode.
    """

    class Resource:
        """The queue in `tf.GraphKeys.RESOURCES`."""

        def __init__(self, name, handle, create, is_initialized):
            self.name = name
            self.handle = handle
            self.create = create
            self.is_initialized = is_initialized

    def __init__(
        self,
        works,
        num_epochs=1,
        shuffle=True,
        seed=None,
        prefix=None,
        num_slices=None,
        num_clients=1,
        name=None,
        local_work_mgr=None,
    ):
        if context.executing_eagerly():
            raise RuntimeError("WorkQueue needs a graph: make it in a tf.Graph, or before eager mode is enabled")
        self._works = _checked_works(works)
        self._num_epochs = positive("num_epochs", num_epochs)
        self._num_clients = positive("num_clients", num_clients)
        self._shuffle, self._seed, self._prefix = boolean("shuffle", shuffle), seed, _text("prefix", prefix)
        if seed is not None and (isinstance(seed, bool) or not hasattr(seed, "__index__")):
            raise TypeError(f"seed must be a whole number, got {seed!r}")
        self._entries = self._works
        if num_slices is not None:
            count = positive("num_slices", num_slices)
            urls = [Work.from_url(self._prefix, work).slices(count) for work in self._works]
            self._entries = [url.encode() for of_work in urls for url in of_work]
            if not self._entries:
                raise ValueError("works: none of them has a record")
        self._local_work_mgr = local_work_mgr
        self._lenders = []
        if local_work_mgr is not None:
            if not isinstance(local_work_mgr, LocalWorkMgr):
                raise TypeError(f"local_work_mgr must be a LocalWorkMgr, got {local_work_mgr!r}")
            for work in self._entries:
                if not has_range(work):
                    raise ValueError(f"works must have the form path?start=a&end=b with a local_work_mgr, got {work!r}")

        generated = library.ops()
        with ops.name_scope(name or "work_queue") as scope, ops.control_dependencies(None):
            self._name = scope.rstrip("/")
            # Never run: it asks the device function where variables go.
            where = gen_resource_variable_ops.var_handle_op(
                dtype=dtypes.int32, shape=[], shared_name=f"{scope}colocator", name="colocator"
            )
            self._remote = where.op.device
            self._local = control_flow_ops.no_op(name="local").device
            with ops.device(self._remote):
                self._handle = generated.work_queue_handle_op(shared_name=self._name, name="handle")
                specs = [
                    saveable_object.SaveSpec(constant_op.constant(self.digest), "", f"{self._name}_digest"),
                    saveable_object.SaveSpec(generated.work_queue_save(self._handle), "", f"{self._name}_works"),
                ]
                self._create = self._fill()
                is_initialized = generated.work_queue_is_initialized(self._handle)
        if local_work_mgr is not None:
            local_work_mgr.build(self._local)
        super().__init__(self, specs, self._name)
        ops.add_to_collection(ops.GraphKeys.SAVEABLE_OBJECTS, self)
        ops.add_to_collection(
            ops.GraphKeys.RESOURCES, self.Resource(self._name, self._handle, self._create, is_initialized)
        )
        logging.info("Work queue %s of %d works is on %s.", self._name, len(self), self._remote or "the default device")

    def _fill(self):
        """The op that makes the queue with all epochs in it."""
        generated = library.ops()
        last = generated.work_queue_create(self._handle)
        entries = constant_op.constant(self._entries, dtypes.string)
        for epoch in range(self._num_epochs):
            with ops.control_dependencies([last]), ops.name_scope(f"epochs/{epoch}"):
                works = entries
                if self._shuffle:
                    # Not the same seed: an op draws the same numbers as any other of its seed.
                    seed = None if self._seed is None else self._seed + epoch
                    works = random_ops.random_shuffle(works, seed=seed)
                shown = logging_ops.print_v2("Add epoch of", len(self), "elements:", works, summarize=_SHOWN)
                with ops.control_dependencies([shown]):
                    last = generated.work_queue_put(self._handle, works)
        with ops.control_dependencies([last]):
            return generated.work_queue_close(self._handle)

    def __len__(self):
        """The number of works of an epoch; of slices, with num_slices."""
        return len(self._entries)

    @property
    def works(self):
        """The works, list of bytes."""
        return self._works

    @property
    def num_clients(self):
        return self._num_clients

    @property
    def digest(self):
        """bytes: the works, joined by commas."""
        return b",".join(self._works)

    # For the Saver: the tensors may be missing, so the restore op reads them by itself.
    def value_in(self, prefix):
        return prefix

    def restore(self, restored_tensors, restored_shapes):
        """The op that restores the queue from the checkpoint whose prefix is the first tensor."""
        del restored_shapes
        with ops.name_scope(f"{self._name}/restore"), ops.device(self._remote):
            restored = library.ops().work_queue_import(self._handle, restored_tensors[0], self._name, self.digest)

            def abandon():
                text = f"The checkpoint has no works of the work queue {self._name}, or of other works: it begins anew."
                with ops.control_dependencies([logging_ops.print_v2(text)]):
                    fresh = self._fill()
                with ops.control_dependencies([fresh]):
                    return constant_op.constant(False)

            return cond.cond(restored, lambda: array_ops.identity(restored), abandon).op

    def take(self):
        """A scalar string tensor: each run of it takes a work.

        It raises OutOfRangeError when all works are taken, FailedPreconditionError when the queue is not initialized.
        """
        return self._taken(lambda: library.ops().work_queue_take(self._handle, num_clients=self._num_clients))

    def _taken(self, remote_op):
        def remote_take():
            with ops.name_scope(f"{self._name}/"), ops.device(self._remote):
                taken = remote_op()
            with ops.device(self._local):
                return array_ops.identity(taken)

        if self._local_work_mgr is None:
            work = remote_take()
        else:
            work = self._local_work_mgr.first(remote_take, self._local)
        with ops.device(self._local):
            return work if self._prefix is None else string_ops.string_join([self._prefix, work])

    def _reader(self):
        """Name, lender and take of a new reader."""
        graph = ops.get_default_graph()
        name = graph.unique_name(f"{self._name}/reader")
        if self._local_work_mgr is not None:
            return name, None, self.take
        lender = readers.Lender(self._handle, self._remote, self._local, name)
        self._lenders.append(lender)
        return name, lender, lambda: self._taken(lender.lend)

    def input_producer(self):
        """A local FIFOQueue of capacity 1 with works, string of shape [1], for readers of files (`tf.TextLineReader`).

        A QueueRunner of it is in `tf.GraphKeys.QUEUE_RUNNERS`; it takes ahead.
        """
        with ops.name_scope(f"{self._name}/"):
            name, lender, take = self._reader()
            return readers.input_producer(take, self._local, name, lender)

    def input_dataset(self):
        """A dataset of works, scalar strings, that ends when all are taken.

        Nothing is taken ahead, but by what the dataset is put into: read a file per element by `flat_map`, or by `interleave` with
        a cycle_length of `num_clients`. A QueueRunner serves it, so the session must start those. Of the iterators of one dataset each
        work goes to one.
        """
        with ops.name_scope(f"{self._name}/"):
            name, lender, take = self._reader()
            return readers.input_dataset(take, self._local, name, lender, self._num_clients)

    def remaining(self):
        """A string tensor [n]: the works that are not finished, whoever holds them; those that are held first."""
        return array_ops.identity(self.specs[1].tensor)

    def replace(self, works):
        """An op that makes `works`, a string tensor [n], those of the queue. Works that readers hold are no longer the queue's.

        For a program that changes, before its readers begin, what a checkpoint left.
        """
        with ops.name_scope(f"{self._name}/replace"), ops.device(self._remote):
            return library.ops().work_queue_restore(self._handle, works)

    def unfinished(self):
        """An int64 scalar tensor: how many works are not finished, whoever holds them."""
        return array_ops.size(self.specs[1].tensor, out_type=dtypes.int64)

    def finished(self):
        """An op that says that the readers made so far have finished all works that they hold.

        For the end of a training with `num_clients` above 1, where the last works are finished, but no other was asked for.
        """
        with ops.name_scope(f"{self._name}/"):
            return control_flow_ops.group(*[lender.settle(keep=0) for lender in self._lenders], name="finished")

    def add_summary(self):
        """Adds the summary `<name>/fraction_of_<n>_full`: works that wait, in epochs."""
        with ops.name_scope(f"{self._name}/"), ops.device(self._remote):
            size = library.ops().work_queue_size(self._handle)
        with ops.device(self._local):
            full = math_ops.cast(size, dtypes.float32) / len(self)
            return summary.scalar(f"{self._name}/fraction_of_{len(self)}_full", full)


def _checked_works(works) -> list:
    if not isinstance(works, (list, tuple)) or not works:
        raise ValueError(f"works must be a list of strings that is not empty, got {works!r}")
    for work in works:
        if not isinstance(work, (str, bytes)):
            raise ValueError(f"works must be a list of strings, got {work!r} among them")
        if not work.strip():
            raise ValueError(f"works must be a list of strings that are not empty, got {work!r} among them")
    return [work.encode().strip() if isinstance(work, str) else work.strip() for work in works]


def _text(argument: str, value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode()
    raise TypeError(f"{argument} must be a string, got {value!r}")
