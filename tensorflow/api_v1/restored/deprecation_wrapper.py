"""`deprecation_wrapper` was the name of `module_wrapper` in 1.14."""

from tensorflow.python.util.module_wrapper import TFModuleWrapper

DeprecationWrapper = TFModuleWrapper
