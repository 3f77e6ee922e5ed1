"""Several objects of a checkpoint that are saved and restored by one function."""

import functools

from tensorflow.python.ops import control_flow_ops
from tensorflow.python.trackable import base
from tensorflow.python.training.saving import saveable_object


class _CallbackSaveable(saveable_object.SaveableObject):
    def __init__(self, name, dtype, device, save_callback, restore_callback):
        self._restore_callback = restore_callback
        spec = saveable_object.SaveSpec(tensor=save_callback, slice_spec="", name=name, dtype=dtype, device=device)
        super().__init__(save_callback, [spec], name)

    def restore(self, restored_tensors, restored_shapes):
        (tensor,) = restored_tensors
        return self._restore_callback(tensor)


class _SplitDependency(base.Trackable):
    """One of the objects; looks like a variable."""

    def __init__(
        self, save_buffer, restore_buffer, name, dtype, device, count, fill_save_buffer, consume_restore_buffer
    ):
        self._save_buffer = save_buffer
        self._restore_buffer = restore_buffer
        self._name = name
        self._dtype = dtype
        self._device = device
        self._count = count
        self._fill_save_buffer = fill_save_buffer
        self._consume_restore_buffer = consume_restore_buffer

    def _save(self):
        if self._name not in self._save_buffer:
            if self._save_buffer:
                raise AssertionError(f"Split dependency {self._name} must be saved together with the others.")
            self._fill_save_buffer(self._save_buffer)
        return self._save_buffer.pop(self._name)

    def _restore(self, tensor):
        if self._name in self._restore_buffer:
            raise AssertionError(f"Split dependency {self._name} must be restored together with the others.")
        self._restore_buffer[self._name] = tensor
        if len(self._restore_buffer) < self._count:
            return control_flow_ops.no_op()
        op = self._consume_restore_buffer(self._restore_buffer)
        self._restore_buffer.clear()
        return op

    def _gather_saveables_for_checkpoint(self):
        return {
            base.VARIABLE_VALUE_KEY: functools.partial(
                _CallbackSaveable,
                dtype=self._dtype,
                device=self._device,
                save_callback=self._save,
                restore_callback=self._restore,
            )
        }


def split_dependency(component_names, component_dtypes, fill_save_buffer_fn, consume_restore_buffer_fn, device):
    """Objects whose tensors come from one op, and go back to one.

    Args:
      component_names: list of names.
      component_dtypes: list of their types.
      fill_save_buffer_fn: function that puts the tensors to save into a dict, by name.
      consume_restore_buffer_fn: function of a dict of restored tensors, by name, that returns a restore op.
      device: where the tensors are.

    Returns:
      dict: name -> object. All must be in a checkpoint, or none.
    """
    save_buffer, restore_buffer = {}, {}
    return {
        name: _SplitDependency(
            save_buffer,
            restore_buffer,
            name,
            dtype,
            device,
            len(component_names),
            fill_save_buffer_fn,
            consume_restore_buffer_fn,
        )
        for name, dtype in zip(component_names, component_dtypes)
    }
