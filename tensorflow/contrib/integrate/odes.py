"""Integration of ordinary differential equations dy/dt = func(y, t)."""

import collections

import tensorflow as tf

# The pair of orders 5 and 4 of Dormand and Prince (1980); rows of stages, then the solution's and the error's weights.
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_ERROR = (
    35 / 384 - 1951 / 21600,
    0.0,
    500 / 1113 - 22642 / 50085,
    125 / 192 - 451 / 720,
    -2187 / 6784 + 12231 / 42400,
    11 / 84 - 649 / 6300,
    -1 / 60,
)
# The solution at the middle of a step (Shampine 1986), for the interpolating quartic.
_MIDDLE = (
    6025192743 / 30085553152 / 2,
    0.0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
)

_State = collections.namedtuple("_State", "y f t0 t1 dt coefficients")


def _weighted(scale, weights, values):
    return scale * tf.add_n([tf.cast(w, v.dtype) * v for w, v in zip(weights, values) if w])


def _step(func, y, f, t, dt):
    """(new y, its derivative, error estimate, all stages)."""
    step = tf.cast(dt, y.dtype)
    stages = [f]
    for time, weights in zip(_TIMES, _STAGES):
        y_new = y + _weighted(step, weights, stages)
        stages.append(func(y_new, t + tf.cast(time, t.dtype) * dt))
    return y_new, stages[-1], _weighted(step, _ERROR, stages), stages


def _quartic(y0, y1, middle, f0, f1, dt):
    """Coefficients, highest power first, of the polynomial over 0..1 with these values and slopes."""
    dt = tf.cast(dt, y0.dtype)
    a = 2 * dt * (f1 - f0) - 8 * (y1 + y0) + 16 * middle
    b = dt * (5 * f0 - 3 * f1) + 18 * y0 + 14 * y1 - 32 * middle
    c = dt * (f1 - 4 * f0) - 11 * y0 - 5 * y1 + 16 * middle
    return [a, b, c, dt * f0, y0]


def odeint(func, y0, t, rtol=1e-6, atol=1e-12, method=None, options=None, full_output=False, name=None):
    """Solves the initial value problem y(t[0]) = y0 with steps of adapted length.

    Args:
      func: (y, t) -> dy/dt, like y.
      y0: floats or complex numbers of any shape.
      t: [n] increasing times; the first is that of `y0`.
      rtol: bound of the error of a step, relative to y.
      atol: absolute bound.
      method: "dopri5", the default and only one.
      options: dict with "first_step", "safety", "ifactor", "dfactor" (greatest and least growth of a step) or
        "max_num_steps" between two times.
      full_output: whether a dict of facts about the steps is returned too.
      name: name scope.

    Returns:
      [n, ...] values; with `full_output` also {"num_func_evals", "integrate_points", "error_ratio"}.

    Raises:
      ValueError: another method or option, or `t` is no vector.
      TypeError: `y0` or `t` is of another type.
      tf.errors.InvalidArgumentError: times do not increase, or there are too many steps.
    """
    if method not in (None, "dopri5"):
        raise ValueError(f"unrecognized method: {method!r} (expected 'dopri5')")
    options = dict(options or {})
    first_step = options.pop("first_step", None)
    safety, grow, shrink = options.pop("safety", 0.9), options.pop("ifactor", 10.0), options.pop("dfactor", 0.2)
    max_steps = options.pop("max_num_steps", 1000)
    if options:
        raise ValueError(f"unrecognized options: {sorted(options)}")
    with tf.name_scope(name, "odeint", [y0, t, rtol, atol]):
        y0 = tf.convert_to_tensor(y0, name="y0")
        if not (y0.dtype.is_floating or y0.dtype.is_complex):
            raise TypeError(f"`y0` must have a floating point or complex floating point dtype, got {y0.dtype}")
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        if not t.dtype.is_floating:
            raise TypeError(f"`t` must have a floating point dtype, got {t.dtype}")
        if t.shape.ndims != 1:
            raise ValueError(f"`t` must be a vector, got shape {t.shape}")
        rtol, atol = (tf.cast(bound, t.dtype) for bound in (rtol, atol))
        increasing = tf.Assert(tf.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing, got", t])
        with tf.control_dependencies([increasing]):
            t = tf.identity(t)

        count = tf.shape(t)[0]
        f0 = func(y0, t[0])
        dt = tf.cast(first_step, t.dtype) if first_step is not None else _first_step(func, y0, f0, t[0], rtol, atol)
        state = _State(y0, f0, t[0], t[0], dt, [y0] * 5)
        log = lambda: tf.TensorArray(t.dtype, size=0, dynamic_size=True)  # noqa: E731

        def error_ratio(error, before, after):
            bound = atol + rtol * tf.cast(tf.maximum(tf.abs(before), tf.abs(after)), t.dtype)
            return tf.sqrt(tf.reduce_mean(tf.square(tf.cast(tf.abs(error), t.dtype) / bound)))

        def advance(state, points, ratios, steps, tries):
            with tf.control_dependencies(
                [
                    tf.Assert(tries < max_steps, ["odeint: max_num_steps exceeded", tries]),
                    tf.Assert(state.t1 + state.dt > state.t1, ["odeint: underflow in dt", state.dt]),
                ]
            ):
                y, f, at, dt = (tf.identity(v) for v in (state.y, state.f, state.t1, state.dt))
            y1, f1, error, stages = _step(func, y, f, at, dt)
            ratio = error_ratio(error, y, y1)
            accepted = ratio <= 1
            middle = y + _weighted(tf.cast(dt, y.dtype), _MIDDLE, stages)
            quartic = _quartic(y, y1, middle, f, f1, dt)
            factor = tf.where(
                tf.equal(ratio, 0),
                tf.cast(grow, t.dtype),
                tf.clip_by_value(
                    safety * tf.pow(tf.maximum(ratio, 1e-30), -0.2), tf.where(accepted, tf.cast(1.0, t.dtype), tf.cast(shrink, t.dtype)), grow
                ),
            )  # fmt: skip
            choose = lambda new, old: tf.cond(accepted, lambda: new, lambda: old)  # noqa: E731
            state = _State(
                choose(y1, y),
                choose(f1, f),
                choose(at, state.t0),
                choose(at + dt, at),
                dt * factor,
                [choose(new, old) for new, old in zip(quartic, state.coefficients)],
            )
            return state, points.write(steps, at + dt), ratios.write(steps, ratio), steps + 1, tries + 1

        def to_next(index, solution, state, points, ratios, steps):
            state, points, ratios, steps, _ = tf.while_loop(
                lambda s, *_: t[index] > s.t1,
                advance,
                (state, points, ratios, steps, 0),
            )
            x = tf.cast((t[index] - state.t0) / (state.t1 - state.t0), y0.dtype)
            y = state.coefficients[0]
            for coefficient in state.coefficients[1:]:
                y = y * x + coefficient
            return index + 1, solution.write(index, y), state, points, ratios, steps

        solution = tf.TensorArray(y0.dtype, size=count).write(0, y0)
        _, solution, _, points, ratios, steps = tf.while_loop(
            lambda index, *_: index < count, to_next, (1, solution, state, log(), log(), 0)
        )
        y = solution.stack()
        y.set_shape(t.shape.concatenate(y0.shape))
        if not full_output:
            return y
        return y, {
            # Six a step, and those that chose the first one.
            "num_func_evals": 6 * steps + (2 if first_step is None else 1),
            "integrate_points": points.stack(),
            "error_ratio": ratios.stack(),
        }


def _first_step(func, y0, f0, t0, rtol, atol):
    """Hairer, Norsett and Wanner, Solving ODEs I, section II.4."""
    dtype = t0.dtype
    norm = lambda v, s: tf.sqrt(tf.reduce_mean(tf.square(tf.cast(tf.abs(v), dtype) / s)))  # noqa: E731
    scale = atol + tf.cast(tf.abs(y0), dtype) * rtol
    d0, d1 = norm(y0, scale), norm(f0, scale)
    tiny = tf.cast(1e-6, dtype)
    h0 = tf.where(tf.logical_or(d0 < 1e-5, d1 < 1e-5), tiny, 0.01 * d0 / tf.maximum(d1, 1e-30))
    f1 = func(y0 + tf.cast(h0, y0.dtype) * f0, t0 + h0)
    d2 = norm(f1 - f0, scale) / h0
    h1 = tf.where(
        tf.logical_and(d1 <= 1e-15, d2 <= 1e-15),
        tf.maximum(tiny, h0 * 1e-3),
        tf.pow(0.01 / tf.maximum(tf.maximum(d1, d2), 1e-30), tf.cast(1 / 5, dtype)),
    )
    return tf.minimum(100 * h0, h1)


def odeint_fixed(func, y0, t, dt=None, method="rk4", name=None):
    """Solves the initial value problem with fixed steps; values between steps are interpolated linearly.

    Args:
      func: (y, t) -> dy/dt.
      y0: floats or complex numbers of any shape.
      t: [n] increasing times; without `dt` they are the steps.
      dt: length of a step.
      method: "rk4" or "midpoint".
      name: name scope.

    Returns:
      [n, ...] values.

    Raises:
      ValueError: another method.
    """

    def midpoint(y, at, dt):
        step = tf.cast(dt, y.dtype)
        return step * func(y + func(y, at) * step / 2, at + dt / 2)

    def rk4(y, at, dt):
        step = tf.cast(dt, y.dtype)
        k1 = func(y, at)
        k2 = func(y + step * k1 / 2, at + dt / 2)
        k3 = func(y + step * k2 / 2, at + dt / 2)
        k4 = func(y + step * k3, at + dt)
        return step * (k1 + 2 * k2 + 2 * k3 + k4) / 6

    methods = {"midpoint": midpoint, "rk4": rk4}
    if method not in methods:
        raise ValueError(f"method not supported: {method}, expected one of {sorted(methods)}")
    change = methods[method]
    with tf.name_scope(name, "odeint_fixed", [y0, t, dt]):
        y0 = tf.convert_to_tensor(y0, name="y0")
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        if dt is None:
            grid = t
        else:
            dt = tf.cast(dt, t.dtype)
            steps = tf.cast(tf.ceil((t[-1] - t[0]) / dt), tf.int32) + 1
            grid = tf.cast(tf.range(steps), t.dtype) * dt + t[0]
        scan = tf.scan(lambda y, pair: y + change(y, pair[0], pair[1] - pair[0]), (grid[:-1], grid[1:]), initializer=y0)
        values = tf.concat([y0[tf.newaxis], scan], 0)
        if dt is None:
            return values
        # The step that a time lies in.
        index = tf.clip_by_value(tf.cast(tf.floor((t - t[0]) / dt), tf.int32), 0, tf.shape(grid)[0] - 2)
        left, right = tf.gather(grid, index), tf.gather(grid, index + 1)
        share = tf.cast((t - left) / (right - left), y0.dtype)
        share = tf.reshape(share, tf.concat([[-1], tf.ones([tf.rank(y0)], tf.int32)], 0))
        return (1 - share) * tf.gather(values, index) + share * tf.gather(values, index + 1)
