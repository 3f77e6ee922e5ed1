"""The TensorBoard callback of `tf.contrib.keras`."""

from tf_keras.src import callbacks_v1


class TensorBoard(callbacks_v1.TensorBoard):
    """`tf.keras.callbacks.TensorBoard` with other positions: contrib had the callback of TensorFlow 2, and `tf.keras` that of 1.

    Args:
      log_dir, histogram_freq, write_graph, write_images, update_freq, profile_batch, embeddings_freq, embeddings_metadata: as
        there.
      **kwargs: its other arguments.
    """

    def __init__(
        self,
        log_dir="logs",
        histogram_freq=0,
        write_graph=True,
        write_images=False,
        update_freq="epoch",
        profile_batch=2,
        embeddings_freq=0,
        embeddings_metadata=None,
        **kwargs,
    ):
        super().__init__(
            log_dir=log_dir,
            histogram_freq=histogram_freq,
            write_graph=write_graph,
            write_images=write_images,
            update_freq=update_freq,
            profile_batch=profile_batch,
            embeddings_freq=embeddings_freq,
            embeddings_metadata=embeddings_metadata,
            **kwargs,
        )
