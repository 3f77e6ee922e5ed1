"""Local queues that pass on the works of a shared one, and the threads that fill them."""

import time
import weakref

from tensorflow.deeprec import library
from tensorflow.python.data.ops import dataset_ops, options
from tensorflow.python.framework import dtypes, errors, ops
from tensorflow.python.ops import array_ops, control_flow_ops, data_flow_ops, logging_ops
from tensorflow.python.training import queue_runner

_POLL_SECONDS = 0.02


class _LendingRunner(queue_runner.QueueRunner):
    """When the works are all taken, waits until the last of them has left the local queue, and tells the shared one."""

    def __init__(self, queue, enqueue, cancel, size, settle):
        super().__init__(queue, [enqueue], cancel_op=cancel)
        self._size, self._settle = size, settle
        # Session -> what stands for it; the threads hold that.
        self._sessions = weakref.WeakKeyDictionary()

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        draining = self._sessions.get(sess, lambda: None)()
        if draining is None:
            draining = _DrainingSession(sess, coord, self._size, self._settle)
            self._sessions[sess] = weakref.ref(draining)
        return super().create_threads(draining, coord, daemon, start)


class _DrainingSession:
    """A session for the thread of a _LendingRunner: runs that find no work first see the local queue empty."""

    def __init__(self, session, coordinator, size, settle):
        self._session, self._coordinator = session, coordinator
        self._size, self._settle = size, settle
        self.graph = session.graph

    def run(self, *args, **kwargs):
        return self._draining(lambda: self._session.run(*args, **kwargs))

    def make_callable(self, *args, **kwargs):
        run = self._session.make_callable(*args, **kwargs)
        return lambda: self._draining(run)

    def _draining(self, run):
        try:
            return run()
        except errors.OutOfRangeError:
            while not self._stopping() and self._session.run(self._size) > 0:
                time.sleep(_POLL_SECONDS)
            if not self._stopping():
                self._session.run(self._settle)
            raise

    def _stopping(self) -> bool:
        return self._coordinator is not None and self._coordinator.should_stop()


class Lender:
    """The works that one reader of a shared queue holds, in the ops of a graph.

    Args:
      handle: of the shared queue.
      remote: its device.
      local: that of the reader.
      name: of the reader.
    """

    def __init__(self, handle, remote: str, local: str, name: str):
        self._handle, self._remote = handle, remote
        with ops.device(local):
            self._client = library.ops().work_queue_client(reader=name)
        with ops.device(remote):
            reclaim = library.ops().work_queue_reclaim(handle, self._client)
        # A worker that comes back finds its own works first.
        ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, reclaim)

    def lend(self):
        with ops.device(self._remote):
            return library.ops().work_queue_lend(self._handle, self._client)

    def settle(self, keep: int):
        with ops.device(self._remote):
            return library.ops().work_queue_settle(self._handle, self._client, keep=keep)


def input_producer(take, local: str, name: str, lender):
    """A local queue of capacity 1, filled by a QueueRunner.

    A work is finished, for the shared queue, when it has left the local one. `lender`: None if the works are not lent.
    """
    work = take()
    with ops.device(local):
        proxy = data_flow_ops.FIFOQueue(1, [dtypes.string], [[1]], name="proxy", shared_name=name)
        enqueue = proxy.enqueue(array_ops.reshape(_logged(work), [1]))
        cancel = proxy.close(cancel_pending_enqueues=True)
        size = proxy.size()
    if lender is None:
        ops.add_to_collection(ops.GraphKeys.QUEUE_RUNNERS, queue_runner.QueueRunner(proxy, [enqueue], cancel_op=cancel))
        return proxy
    with ops.control_dependencies([enqueue]):
        # What was put before has left, as there is room for one.
        enqueue = control_flow_ops.group(lender.settle(keep=1))
    ops.add_to_collection(
        ops.GraphKeys.QUEUE_RUNNERS, _LendingRunner(proxy, enqueue, cancel, size, lender.settle(keep=0))
    )
    return proxy


def input_dataset(take, local: str, name: str, lender, open_works: int):
    """A dataset of works, one at a time: a work is taken when the dataset is asked for it.

    The reader that asks has finished the works before, but for the newest `open_works` - 1.
    """
    with ops.device(local):
        # Of no fixed size: who asks after the end must not wait.
        asked = data_flow_ops.FIFOQueue(-1, [dtypes.bool], [[]], name="asked", shared_name=f"{name}/asked")
        proxy = data_flow_ops.FIFOQueue(1, [dtypes.string], [[]], name="proxy", shared_name=name)
        dequeue = asked.dequeue()
        cancel = control_flow_ops.group(
            proxy.close(cancel_pending_enqueues=True), asked.close(cancel_pending_enqueues=True)
        )
    with ops.control_dependencies([dequeue.op]):
        before = control_flow_ops.no_op() if lender is None else lender.settle(keep=open_works - 1)
    with ops.control_dependencies([before]):
        work = take()
    with ops.device(local):
        enqueue = proxy.enqueue(_logged(work))
    ops.add_to_collection(ops.GraphKeys.QUEUE_RUNNERS, queue_runner.QueueRunner(proxy, [enqueue], cancel_op=cancel))

    def next_work(_):
        with ops.control_dependencies([asked.enqueue(True)]):
            return proxy.dequeue()

    with ops.device(local):
        # Version 1 of map: the end of the queue is the end of the dataset.
        works = dataset_ops.DatasetV1.range(dtypes.int64.max).map(next_work)
    # Works are not to be taken ahead.
    settings = options.Options()
    settings.experimental_optimization.inject_prefetch = False
    return works.with_options(settings)


def _logged(work):
    with ops.control_dependencies([logging_ops.print_v2("Take work:", work)]):
        return array_ops.identity(work)
