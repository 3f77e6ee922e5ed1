"""The input of the Taobao models: (args, stop) -> common.graph.Input."""

import functools

from common import file_input, taobao, taobao_synthetic

TaobaoInput = functools.partial(file_input.make, taobao.FORMAT, taobao_synthetic.GENERATOR)
