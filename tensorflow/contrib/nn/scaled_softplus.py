"""Softplus of adjustable smoothness."""

from tensorflow.api_v1.restored import op_counts
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, custom_gradient, gen_array_ops, math_ops, nn_ops


def _sum_to_shape(gradient, tensor):
    """Sums what broadcasting has repeated."""
    shape = array_ops.shape(tensor)
    axes, _ = gen_array_ops.broadcast_gradient_args(shape, array_ops.shape(gradient))
    return array_ops.reshape(math_ops.reduce_sum(gradient, axes), shape)


def scaled_softplus(x, alpha, clip=None, name=None):
    """`y = alpha * ln(1 + exp(x / alpha))`, or `min(y, clip)`; near 0, alpha makes it relu, or relu6 with clip=6.

    The gradient is computed from the output, which saves the memory of what lies between.

    Args:
      x: float tensor.
      alpha: tensor above 0 that broadcasts with `x`.
      clip: tensor, upper bound (optional).
      name: name of the ops.

    Returns:
      A tensor of the common shape.
    """
    with ops.name_scope(name, "scaled_softplus", [x, alpha, clip]):
        x = ops.convert_to_tensor(x, name="x")
        alpha = ops.convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        inputs = [x, alpha] + ([] if clip is None else [ops.convert_to_tensor(clip, dtype=x.dtype, name="clip")])

        @custom_gradient.custom_gradient
        def forward(x, alpha, *clip):
            y = alpha * nn_ops.softplus(x / alpha)
            if clip:
                y = math_ops.minimum(y, clip[0])

            def backward(g):
                gradients = []
                if not context.executing_eagerly():
                    # Zeros for the inputs that the identities pass on; the function's gradient had an identity.
                    op_counts.add_missing(ops.get_default_graph(), -1 - len(clip))
                if clip:
                    unclipped = math_ops.cast(y < clip[0], g.dtype)
                    gradients.append(_sum_to_shape(g * (1.0 - unclipped), clip[0]))
                    g = g * unclipped
                scaled = y / alpha
                falling = math_ops.exp(-scaled)
                dy_dx = 1.0 - falling
                # t * log(t) is 0 at 0.
                dy_dalpha = scaled * falling - dy_dx * math_ops.log(dy_dx + 1e-8)
                return [_sum_to_shape(g * dy_dx, x), _sum_to_shape(g * dy_dalpha, alpha), *gradients]

            return y, backward

        if not context.executing_eagerly():
            # One op that calls a function, in 1.15, in place of two identities.
            op_counts.add_missing(ops.get_default_graph(), -1)
        return forward(*inputs)
