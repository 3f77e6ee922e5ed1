"""Base classes of monitors."""


class BaseMonitor:
    """Called around a training and each of its steps."""

    def __init__(self):
        self._max_steps = None
        self._estimator = None

    @property
    def run_on_all_workers(self):
        """Whether it runs on workers that are not the chief."""
        return False

    def set_estimator(self, estimator):
        """Called once with the estimator that is trained."""
        self._estimator = estimator

    def begin(self, max_steps=None):
        """Called before training."""
        self._max_steps = max_steps

    def end(self, session=None):
        """Called after training."""

    def epoch_begin(self, epoch):
        """Called before an epoch."""

    def epoch_end(self, epoch):
        """Called after an epoch."""

    def step_begin(self, step):
        """Called before a step; returns a list of tensors (or their names) to fetch."""
        return []

    def step_end(self, step, output):
        """Called after a step with the fetched values, a dict by name; True ends training."""
        return False

    def post_step(self, step, session):
        """Called after `step_end`."""


def extract_output(outputs, request):
    """The value of a request, a tensor's name with or without ":0"."""
    return outputs[request if request in outputs or not request.endswith(":0") else request[:-2]]


class EveryN(BaseMonitor):
    """Base of monitors that act every `every_n_steps` steps: they write `every_n_step_begin`, `every_n_step_end` and so on.

    Args:
      every_n_steps: steps between two actions.
      first_n_steps: number of steps at the start in which it acts in each.
    """

    def __init__(self, every_n_steps=100, first_n_steps=1):
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_active_step = 0
        self._last_successful_step = None
        self._began = False

    def every_n_step_begin(self, step):
        """Tensors (or their names) to fetch."""
        return []

    def every_n_step_end(self, step, outputs):
        """Called with the fetched values; True ends training."""
        return False

    def every_n_post_step(self, step, session):
        """Called after `every_n_step_end`."""

    def _acts(self, step):
        return (
            step <= self._first_n_steps
            or step >= self._every_n_steps + self._last_active_step
            or step == self._max_steps
        )

    def step_begin(self, step):
        super().step_begin(step)
        self._began = self._acts(step)
        return list(self.every_n_step_begin(step)) if self._began else []

    def step_end(self, step, output):
        super().step_end(step, output)
        self._last_successful_step = step
        return bool(self.every_n_step_end(step, output)) if self._began else False

    def post_step(self, step, session):
        super().post_step(step, session)
        if self._began:
            self.every_n_post_step(step, session)
            self._last_active_step = step

    def end(self, session=None):
        super().end(session=session)
        if self._last_successful_step is not None and self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)
