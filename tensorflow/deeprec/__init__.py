"""The features that this wheel adds to TensorFlow, one module each.

Users reach most of them where DeepRec had them (`tf.train.AdamOptimizer(lazy=True)`). The environment variables that steer
them are listed in `tensorflow.deeprec.settings`; `tf-deeprec-doctor` prints what an installation does.
"""
