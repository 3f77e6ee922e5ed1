"""The features that this wheel adds to TensorFlow, one module each.

Users reach most of them where DeepRec had them (`tf.train.AdamOptimizer(lazy=True)`); what is imported from here by
name is the doctor and the switches: `tensorflow.deeprec.settings`, `tensorflow.deeprec.doctor`.
"""
