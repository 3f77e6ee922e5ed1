"""Exports of models as SavedModels."""

import os

from tensorflow.contrib.learn import export_strategy
from tensorflow.python.platform import gfile


def garbage_collect_exports(export_dir_base, exports_to_keep):
    """Removes all but the newest exports, which are folders named by their time stamps.

    Args:
      export_dir_base: folder of the exports.
      exports_to_keep: number of exports that stay; None: all.
    """
    if exports_to_keep is None or not gfile.Exists(export_dir_base):
        return
    stamps = sorted(
        (int(name.strip("/")) for name in gfile.ListDirectory(export_dir_base) if name.strip("/").isdigit())
    )
    for stamp in stamps[: max(0, len(stamps) - exports_to_keep)]:
        gfile.DeleteRecursively(os.path.join(export_dir_base, str(stamp)))


def make_export_strategy(
    serving_input_fn,
    default_output_alternative_key=None,
    assets_extra=None,
    as_text=False,
    exports_to_keep=5,
    strip_default_attrs=None,
):
    """A strategy, named "Servo", that exports a SavedModel.

    Args:
      serving_input_fn: returns `InputFnOps`.
      default_output_alternative_key: the output that is served by default.
      assets_extra: dict: path in the export -> file to copy.
      as_text: whether the SavedModel is written as text.
      exports_to_keep: number of exports that stay.
      strip_default_attrs: whether attributes with default values are left out.
    """

    def export_fn(estimator, export_dir_base, checkpoint_path=None, strip_default_attrs=False):
        result = estimator.export_savedmodel(
            export_dir_base,
            serving_input_fn,
            default_output_alternative_key=default_output_alternative_key,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
        )
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return result

    return export_strategy.ExportStrategy("Servo", export_fn, strip_default_attrs)
