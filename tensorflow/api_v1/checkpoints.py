"""What `tf.train.Saver` did in 1.15 and does otherwise now."""

from tensorflow.api_v1 import import_hooks


def install() -> None:
    import_hooks.after_import("tensorflow.python.training.saver", _group_by_tensor)


def _group_by_tensor(module) -> None:
    """A sharded Saver makes a shard for each device of the tensors that are saved, not of the variables they are read from.

    The two differ for a resource variable without a device: its value is read on the CPU, by name.
    """
    from tensorflow.python.framework import device as pydev

    def group_by_devices(self, saveables):
        """Returns (device name, saveables on it), sorted by name.

        Raises:
          ValueError: the tensors of one saveable lie on several devices.
        """
        groups = {}
        for saveable in saveables:
            devices = {pydev.canonical_name(spec.tensor.device) for spec in saveable.specs}
            if len(devices) != 1:
                raise ValueError(
                    f"All tensors of a saveable object must be on the same device: {saveable.name} has {sorted(devices)}"
                )
            groups.setdefault(devices.pop(), []).append(saveable)
        return sorted(groups.items(), key=lambda group: group[0])

    module.BaseSaverBuilder._GroupByDevices = group_by_devices
