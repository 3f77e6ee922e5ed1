"""The threads that fill one stage in one session."""

import threading
import weakref

from tensorflow.deeprec.stage import exception_types
from tensorflow.python.framework import errors
from tensorflow.python.platform import tf_logging as logging

# How often a thread looks whether a coordinator wants it to stop, or whether a full buffer has room again, in seconds.
_LOOK = 0.05


class Filling:
    """What the threads of a runner in a session share. Ends at the end of the input, at an error, when the coordinator stops
    or when the session is closed (`sessions` sees to that); never later than any of these."""

    def __init__(self, runner, session, coord, options):
        """`options`: RunOptions of the runs that fill, or None."""
        self.runner, self._coord, self._options = runner, coord, options
        # The threads hold the session while they run; a program that drops it without closing it gets rid of it afterwards.
        self._session_ref = weakref.ref(session)
        self._stop = threading.Event()
        # That the thread which watches the coordinator has nothing to watch for any more.
        self._unwatched = threading.Event()
        self._lock = threading.Lock()
        self._resumed = self._failed = False
        self._left = len(runner.put_ops)
        self.threads = []

    def make_threads(self, daemon: bool) -> list:
        """Makes the threads, without starting them; the last one waits for the coordinator, where there is one."""
        session = self._session
        targets = [(self._fill, (session, put)) for put in self.runner.put_ops]
        if self._coord is not None:
            targets.append((self._watch, (session,)))
        for number, (target, args) in enumerate(targets):
            name = f"{self.runner.name}-{number}"
            self.threads.append(threading.Thread(target=target, args=args, name=name, daemon=daemon))
        return list(self.threads)

    @property
    def _session(self):
        return self._session_ref()

    def stop(self) -> None:
        """Asks the threads to end; a run that has begun ends when its session is closed."""
        self._stop.set()
        self._unwatched.set()

    def join(self, timeout: float) -> bool:
        """Waits for the threads; returns whether all have ended."""
        for thread in self.threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(timeout)
        return not any(thread.is_alive() for thread in self.threads if thread is not threading.current_thread())

    def alive(self) -> bool:
        """Whether threads are still to begin or running."""
        return not self._over() and self._left > 0

    def _stopped_by_coordinator(self) -> bool:
        return self._coord is not None and self._coord.should_stop()

    def _over(self) -> bool:
        if self._stopped_by_coordinator():
            return True
        return self._stop.is_set() or self._session._closed

    def _watch(self, session) -> None:
        """Stops the buffer when the coordinator stops: puts that wait in it would not look. A thread; `session` is held by it."""
        while not self._unwatched.wait(_LOOK):
            if self._stopped_by_coordinator():
                self._stop.set()
                self._try_run(self.runner.ops["cancel"])
                return

    def _try_run(self, fetch, feed_dict=None) -> None:
        try:
            self._session.run(fetch, feed_dict)
        except (errors.OpError, RuntimeError):
            # The session is closed, or its server is gone: then the consumer's run ends by that.
            pass

    def begin(self) -> None:
        """Opens the buffer, once: from now on steps wait for a record without a time limit."""
        with self._lock:
            if not self._resumed:
                self._resumed = True
                self._session.run(self.runner.ops["resume"])

    def _putter(self, session, put):
        """A function that runs `put` once."""
        next_feed = self.runner.feeds.per_run(session)
        if next_feed is None and self._options is None:
            return session.make_callable(put)
        return lambda: session.run(put, next_feed() if next_feed else None, self._options)

    def _fill(self, session, put) -> None:
        """A thread; `session` is that of the filling."""
        try:
            try:
                self.begin()
                run = self._putter(session, put)
                while not self._over():
                    if not self._fill_once(put, run):
                        break
            except BaseException as error:
                # Whatever it is, SystemExit of a generator too: the consumer must not wait for ever.
                if not self._over():
                    self._fail(error)
        finally:
            with self._lock:
                self._left -= 1
                last = self._left == 0
            # Not earlier: records of other threads are still on their way.
            if last and not self._over():
                self._try_run(self.runner.ops["close"])
            elif last and self._stopped_by_coordinator() and not self._failed:
                # The thread that watches may not have seen it yet; nobody would wake the steps that wait.
                self._try_run(self.runner.ops["cancel"])
            if last:
                self._unwatched.set()

    def _fill_once(self, put, run) -> bool:
        """Puts a record; returns whether there may be another."""
        runner = self.runner
        try:
            run()
            return True
        except Exception as error:
            if self._over():
                return False
            # The executor adds the node to the message.
            if isinstance(error, errors.OpError) and f"{{{{node {put.name}}}}}" in error.message:
                if isinstance(error, errors.DeadlineExceededError):
                    logging.warning("Prefetching waits: %s", error.message)
                    self._wait_for_room()
                    return True
                if isinstance(error, errors.CancelledError):
                    return False
            elif isinstance(error, runner.closed_types):
                return False
            elif isinstance(error, runner.ignored_types):
                logging.warning("Prefetching of stage %r passes over %s: %s", runner.name, type(error).__name__, error)
                return True
            raise

    def _wait_for_room(self) -> None:
        while not self._over() and self._session.run(self.runner.ops["size"]) >= self.runner.capacity:
            self._stop.wait(_LOOK)

    def _fail(self, error: BaseException) -> None:
        self._failed = True
        self._stop.set()
        self.runner.exceptions_raised.append(error)
        text = error.message if isinstance(error, errors.OpError) else str(error)
        self._try_run(
            self.runner.ops["fail"],
            {
                self.runner.ops["fail_code"]: exception_types.code_of(error),
                self.runner.ops["fail_message"]: f"Stage {self.runner.name!r}: {type(error).__name__}: {text}",
            },
        )
