"""The one place for the version of this project."""

load("@local_tf//:defs.bzl", "TF_VERSION")

# The TensorFlow API that the wheel offers; `tensorflow<2` and `tensorflow==1.15.5` accept it.
API_VERSION = "1.15.5"

PROJECT_VERSION = "0.1.0"

WHEEL_VERSION = "%s+deeprec%s.tf%s" % (API_VERSION, PROJECT_VERSION, TF_VERSION)
