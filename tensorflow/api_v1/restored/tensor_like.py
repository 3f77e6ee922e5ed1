"""TensorLike: base class that marked values which go where tensors go."""


class TensorLike:
    """A marker class; subclass it, or better register a conversion function."""
