"""Keeps the runtime from mistaking the sign of a Jacobian.

The core's `Bijector` sums determinants over the event's extra dimensions, also where there are none, and negates before and
after. Grappler of TensorFlow 2.21 takes -sum(-x, axis=[]) for sum(-x): the sum over nothing is left out here.
"""

from tensorflow.python.ops.distributions.bijector import Bijector

_with_sum = Bijector._reduce_jacobian_det_over_event


def _reduce_jacobian_det_over_event(self, y, ildj, min_event_ndims, event_ndims):
    if self._maybe_get_static_event_ndims(event_ndims) == min_event_ndims:
        return ildj
    return _with_sum(self, y, ildj, min_event_ndims, event_ndims)


Bijector._reduce_jacobian_det_over_event = _reduce_jacobian_det_over_event
