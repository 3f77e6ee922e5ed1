"""Optimization by external programs, such as SciPy's."""

import numpy as np

from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, gradients, variables
from tensorflow.python.platform import tf_logging as logging

__all__ = ["ExternalOptimizerInterface", "ScipyOptimizerInterface"]


def _shape(variable):
    return tuple(variable.get_shape().as_list())


def _compute_gradients(tensor, var_list):
    grads = gradients.gradients(tensor, var_list)
    return [array_ops.zeros_like(v) if g is None else ops.convert_to_tensor(g) for g, v in zip(grads, var_list)]


class ExternalOptimizerInterface:
    """Base class of interfaces to other programs: subclasses write `_minimize`.

    Args:
      loss: a scalar.
      var_list: variables; trainable ones by default.
      equalities: list of scalars that shall be 0.
      inequalities: list of scalars that shall be 0 or above.
      var_to_bounds: dict: variable -> (low, high), each a number, or an array that broadcasts to the variable; None or infinity: no bound.
      **optimizer_kwargs: arguments of the other program.
    """

    def __init__(self, loss, var_list=None, equalities=None, inequalities=None, var_to_bounds=None, **optimizer_kwargs):
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = variables.trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = None if var_to_bounds is None else self._pack_bounds(var_to_bounds)
        self._update_placeholders = [array_ops.placeholder(v.dtype.base_dtype) for v in self._vars]
        self._var_updates = [
            v.assign(array_ops.reshape(value, _shape(v))) for v, value in zip(self._vars, self._update_placeholders)
        ]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = self._pack(self._vars)
        self._packed_loss_grad = self._pack_gradients(loss)
        self._packed_equality_grads = [self._pack_gradients(t) for t in self._equalities]
        self._packed_inequality_grads = [self._pack_gradients(t) for t in self._inequalities]
        ends = np.cumsum([0] + [int(np.prod(_shape(v))) for v in self._vars])
        self._packing_slices = [slice(start, end) for start, end in zip(ends[:-1], ends[1:])]

    def _pack_bounds(self, var_to_bounds):
        bounds = []
        for v in self._vars:
            low, high = var_to_bounds.get(v, (None, None))
            low = -np.inf if low is None else low
            high = np.inf if high is None else high
            bounds.extend(zip(np.broadcast_to(low, _shape(v)).flat, np.broadcast_to(high, _shape(v)).flat))
        return bounds

    def _pack_gradients(self, tensor):
        return self._pack(_compute_gradients(tensor, self._vars))

    def minimize(
        self, session=None, feed_dict=None, fetches=None, step_callback=None, loss_callback=None, **run_kwargs
    ):
        """Minimizes the loss now, and sets the variables to the result. It returns no op, unlike `tf.train.Optimizer.minimize`.

        Args:
          session: a session; the default one if None.
          feed_dict: fed in each evaluation.
          fetches: list of tensors for `loss_callback`.
          step_callback: called in each step with all variables as one vector.
          loss_callback: called with the values of `fetches` whenever the loss is computed.
          **run_kwargs: further arguments of the `session.run` that sets the variables.
        """
        session = session or ops.get_default_session()
        feed_dict = feed_dict or {}
        fetches = list(fetches or [])

        def function(tensors, callback=None):
            return self._make_eval_func(tensors, session, feed_dict, fetches, callback)

        result = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=function([self._loss, self._packed_loss_grad], loss_callback or (lambda *values: None)),
            equality_funcs=[function(t) for t in self._equalities],
            equality_grad_funcs=[function(t) for t in self._packed_equality_grads],
            inequality_funcs=[function(t) for t in self._inequalities],
            inequality_grad_funcs=[function(t) for t in self._packed_inequality_grads],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda x: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = [result[part] for part in self._packing_slices]
        session.run(self._var_updates, feed_dict=dict(zip(self._update_placeholders, values)), **run_kwargs)

    def _minimize(
        self,
        initial_val,
        loss_grad_func,
        equality_funcs,
        equality_grad_funcs,
        inequality_funcs,
        inequality_grad_funcs,
        packed_bounds,
        step_callback,
        optimizer_kwargs,
    ):
        """Runs the other program. Functions take all variables as one vector.

        Args:
          initial_val: vector to start from.
          loss_grad_func: returns the loss and its gradient.
          equality_funcs, equality_grad_funcs, inequality_funcs, inequality_grad_funcs: each returns a list of one value, or gradient.
          packed_bounds: list of (low, high), or None.
          step_callback: to be called in each step with the vector.
          optimizer_kwargs: arguments of the other program.

        Returns:
          The best vector.
        """
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass it and implement _minimize().")

    @classmethod
    def _pack(cls, tensors):
        """One vector of all elements; None of no tensors."""
        if not tensors:
            return None
        flat = [array_ops.reshape(t, [-1]) for t in tensors]
        return flat[0] if len(flat) == 1 else array_ops.concat(flat, 0)

    def _make_eval_func(self, tensors, session, feed_dict, fetches, callback=None):
        """A function of the vector that evaluates tensors."""
        tensors = tensors if isinstance(tensors, list) else [tensors]

        def evaluate(x):
            feed = {v: x[part].reshape(_shape(v)) for v, part in zip(self._vars, self._packing_slices)}
            feed.update(feed_dict)
            values = session.run(tensors + fetches, feed_dict=feed)
            if callable(callback):
                callback(*values[len(tensors) :])
            return values[: len(tensors)]

        return evaluate


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """`scipy.optimize.minimize` on the variables of a session; by L-BFGS-B unless `method` says otherwise.

        optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, options={"maxiter": 100})
        with tf.Session() as session:
            ...
            optimizer.minimize(session)

    L-BFGS-B takes bounds but no other constraints; SLSQP takes all.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val,
        loss_grad_func,
        equality_funcs,
        equality_grad_funcs,
        inequality_funcs,
        inequality_grad_funcs,
        packed_bounds,
        step_callback,
        optimizer_kwargs,
    ):
        def loss_and_gradient(x):
            loss, gradient = loss_grad_func(x)
            # SciPy's compiled parts want doubles.
            return float(loss), gradient.astype("float64")

        def constraint(kind, func, grad_func):
            return {
                "type": kind,
                "fun": lambda x: float(func(x)[0]),
                "jac": lambda x: grad_func(x)[0].astype("float64"),
            }

        constraints = [constraint("eq", f, g) for f, g in zip(equality_funcs, equality_grad_funcs)]
        constraints += [constraint("ineq", f, g) for f, g in zip(inequality_funcs, inequality_grad_funcs)]
        settings = dict(optimizer_kwargs)
        arguments = dict(
            jac=True,
            callback=step_callback,
            method=settings.pop("method", self._DEFAULT_METHOD),
            constraints=constraints,
            bounds=packed_bounds,
        )
        for name in arguments:
            if name == "bounds" and name in settings:
                raise ValueError("Bounds must be set using the var_to_bounds argument")
            if name in settings:
                raise ValueError(f"Optimizer keyword arg '{name}' is set automatically and cannot be injected manually")
        import scipy.optimize

        result = scipy.optimize.minimize(loss_and_gradient, initial_val.astype("float64"), **arguments, **settings)
        logging.info(
            "Optimization terminated with: %s; loss %f; iterations %s; evaluations %s",
            result.message,
            result.fun,
            result.get("nit"),
            result.get("nfev"),
        )
        return result["x"]
