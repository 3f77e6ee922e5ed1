"""Names that 1.15 had in `framework.ops`."""


class RegisterShape:
    """A decorator from the time when shape functions were Python; ops have theirs in C++, so it returns the function."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError(f"op_type must be a str, got {op_type!r}")
        self._op_type = op_type

    def __call__(self, f):
        return f


def enter_eager_name_scope(ctx, name):
    """Enters a name scope of eager mode; returns its name with a slash, and the old name to restore."""
    old_name = ctx.scope_name
    scope = "" if not name else name if name.endswith("/") else f"{old_name}{name}/"
    ctx.scope_name = scope
    return scope, old_name


def register_dense_tensor_like_type(tensor_type):
    """Checks that a type may stand for a dense tensor, by 1.15's rule; conversion functions are what makes it one.

    Raises:
      TypeError: the type has no property `name` or `dtype`.
    """
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(f"{tensor_type.__name__} does not define a {name} property")
