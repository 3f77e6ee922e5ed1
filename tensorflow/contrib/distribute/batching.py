"""What tells contrib's strategies from those of `tf.distribute`: `make_dataset_iterator` takes batches for one replica."""

from tensorflow.python.distribute.v1 import input_lib


class PerReplicaBatches:
    """Goes before the strategy's StrategyExtended class."""

    def _make_dataset_iterator(self, dataset):
        return input_lib.DatasetIterator(dataset, self._input_workers, self._container_strategy())

    @property
    def _global_batch_size(self):
        return False


def warn_unused(argument: str, reason: str) -> None:
    from tensorflow.api_v1 import moved_names

    moved_names.warn_once(f"{argument} has no effect: {reason}", stacklevel=4)
