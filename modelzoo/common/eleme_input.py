"""The input of the contest's models: (args, stop) -> common.graph.Input."""

import functools

from common import eleme, eleme_synthetic, file_input

ElemeInput = functools.partial(file_input.make, eleme.FORMAT, eleme_synthetic.GENERATOR)
