"""Names of 1.15's distribution_strategy_context that distribute_lib renamed."""

from tensorflow.python.distribute.distribute_lib import (
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)

# The names of 1.11 and before.
get_distribution_strategy = get_strategy
has_distribution_strategy = has_strategy
get_tower_context = get_replica_context
get_cross_tower_context = get_strategy
in_cross_tower_context = in_cross_replica_context
