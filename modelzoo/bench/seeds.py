"""Random numbers that do not depend on how many ops a graph has, so that all ways start from the same values."""

import zlib
from typing import Optional, Tuple


def by_name() -> None:
    """Makes the seed of an op that was given none a function of its name scope: of a variable's name, for an initial value.

    TensorFlow takes the number of ops in the graph, in which the ways differ. Ops without a graph seed, and those of functions and
    eager ones, keep TensorFlow's.
    """
    from tensorflow.python.framework import ops, random_seed

    released = random_seed.get_seed

    def get_seed(op_seed: Optional[int]) -> Tuple[Optional[int], Optional[int]]:
        graph = ops.get_default_graph()
        if op_seed is not None or graph.seed is None or graph.building_function:
            return released(op_seed)
        return graph.seed, zlib.crc32(graph.get_name_scope().encode()) & 0x7FFFFFFF

    random_seed.get_seed = get_seed
