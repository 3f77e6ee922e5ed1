"""`tf.contrib.autograph`: names of the runtime's AutoGraph."""

from tensorflow.python.autograph.core.converter import ConversionOptions, Feature
from tensorflow.python.autograph.impl.api import (
    AutoGraphError,
    StackTraceMapper,
    convert,
    converted_call,
    do_not_convert,
    to_code,
    to_graph,
)
from tensorflow.python.autograph.lang.directives import set_element_type, set_loop_options
from tensorflow.python.autograph.lang.special_functions import stack

__all__ = [
    "AutoGraphError",
    "ConversionOptions",
    "Feature",
    "StackTraceMapper",
    "convert",
    "converted_call",
    "do_not_convert",
    "set_element_type",
    "set_loop_options",
    "stack",
    "to_code",
    "to_graph",
]
