"""Forward-mode gradients."""

from tensorflow.python.ops import array_ops, gradients_impl


def fwd_gradients(ys, xs, grad_xs=None):
    """The derivatives of `ys` along `grad_xs`, by two reverse passes ("double vjp").

    Args:
      ys: list of tensors.
      xs: list of tensors that `ys` depend on.
      grad_xs: direction for each of `xs`, ones by default.

    Returns:
      List of tensors like `ys`, None for those that do not depend on `xs`.
    """
    helpers = [array_ops.zeros_like(y) for y in ys]
    backward = gradients_impl.gradients(ys, xs, grad_ys=helpers)
    pairs = [(b, None if grad_xs is None else grad_xs[i]) for i, b in enumerate(backward) if b is not None]
    if not pairs:
        return [None] * len(ys)
    directions = None if grad_xs is None else [d for _, d in pairs]
    result = gradients_impl.gradients([b for b, _ in pairs], helpers, grad_ys=directions)
    return result
