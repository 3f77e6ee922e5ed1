"""Session bundles: how models were exported before SavedModel. They can be written; `tf.saved_model` is their successor."""
