"""Finds what a code base written for TensorFlow 1.15 uses that this TensorFlow lacks or changes: `tf-deeprec-scan FOLDER`."""
