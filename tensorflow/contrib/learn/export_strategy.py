"""How and under which name a model is exported."""

import collections
import inspect


class ExportStrategy(collections.namedtuple("ExportStrategy", ["name", "export_fn", "strip_default_attrs"])):
    """An export function with a name.

    Args:
      name: folder of the exports.
      export_fn: function of `(estimator, export_dir_base, checkpoint_path=, eval_result=)` that returns the export's folder.
      strip_default_attrs: passed to `export_fn` if it takes it.
    """

    def __new__(cls, name, export_fn, strip_default_attrs=None):
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(self, estimator, export_path, checkpoint_path=None, eval_result=None):
        """Exports a model.

        Args:
          estimator: the estimator.
          export_path: folder for the exports.
          checkpoint_path: the checkpoint; the latest by default.
          eval_result: result of the evaluation, passed to `export_fn` if it takes it.

        Returns:
          The folder of the export.

        Raises:
          ValueError: if `export_fn` does not take `checkpoint_path` but one is given.
        """
        parameters = inspect.signature(self.export_fn).parameters
        kwargs = {}
        if checkpoint_path is not None and "checkpoint_path" not in parameters:
            raise ValueError(f"export_fn must take checkpoint_path to export {checkpoint_path}")
        for name, value in (
            ("checkpoint_path", checkpoint_path),
            ("eval_result", eval_result),
            ("strip_default_attrs", self.strip_default_attrs),
        ):
            if name in parameters and (value is not None or name != "strip_default_attrs"):
                kwargs[name] = value
        return self.export_fn(estimator, export_path, **kwargs)
