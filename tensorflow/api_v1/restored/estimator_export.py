"""The export decorator of tensorflow_estimator: marks a symbol with its public names."""

ESTIMATOR_API_NAME = "estimator"


class SymbolAlreadyExposedError(Exception):
    """A symbol that already has public names."""


class estimator_export:
    """Decorator: `@estimator_export("estimator.Estimator")`; the names are kept in `_estimator_api_names(_v1)`.

    Args:
      *names: public names.
      v1: other names for the 1.x API.
    """

    def __init__(self, *names, v1=None, allow_multiple_exports=False, **unused):
        self._names = names
        self._names_v1 = names if v1 is None else tuple(v1)

    def __call__(self, symbol):
        symbol._estimator_api_names = self._names
        symbol._estimator_api_names_v1 = self._names_v1
        return symbol

    def export_constant(self, module_name, name):
        """Constants have no attributes to mark: nothing to do."""
