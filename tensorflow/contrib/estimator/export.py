"""SavedModels of an estimator in training, evaluation or prediction mode."""

from tensorflow_estimator.python.estimator.mode_keys import ModeKeys


def export_saved_model_for_mode(
    estimator,
    export_dir_base,
    input_receiver_fn,
    assets_extra=None,
    as_text=False,
    checkpoint_path=None,
    mode=ModeKeys.PREDICT,
):
    """Exports the graph of one mode below `export_dir_base`; returns the folder, as bytes.

    Args:
      input_receiver_fn: function that returns a ServingInputReceiver, or a SupervisedInputReceiver for the other modes.
      assets_extra: path below the assets.extra folder -> file to copy there.
      checkpoint_path: the latest of the estimator by default.
    """
    return estimator.export_saved_model(
        export_dir_base,
        input_receiver_fn,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
        experimental_mode=mode,
    )


def export_all_saved_models(
    estimator, export_dir_base, input_receiver_fn_map, assets_extra=None, as_text=False, checkpoint_path=None
):
    """The same with a graph for each mode in `input_receiver_fn_map`, a dict mode -> input receiver function."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base,
        input_receiver_fn_map,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
    )
