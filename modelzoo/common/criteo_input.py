"""The input of the Criteo models: (args, stop) -> common.graph.Input."""

import functools

from common import criteo, criteo_synthetic, file_input

CriteoInput = functools.partial(file_input.make, criteo.FORMAT, criteo_synthetic.GENERATOR)
