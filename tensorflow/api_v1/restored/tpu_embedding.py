"""Settings of TPU embeddings: the classes are here, for configurations that name them; there is no TPU to use them."""

import collections

_NO_TPU = "TPUEmbedding needs a TPU, and this build has no TPU support"
TRAINING = "training"
INFERENCE = "inference"

AdamSlotVariableNames = collections.namedtuple("AdamSlotVariableNames", ["m", "v"])
AdagradSlotVariableName = collections.namedtuple("AdagradSlotVariableName", ["accumulator"])
AdamSlotVariables = collections.namedtuple("AdamSlotVariables", ["m", "v"])
AdagradSlotVariable = collections.namedtuple("AdagradSlotVariable", ["accumulator"])
AdagradSlotVariableNames = collections.namedtuple("AdagradSlotVariableNames", ["accumulator"])
FtrlSlotVariableNames = collections.namedtuple("FtrlSlotVariableNames", ["accumulator", "linear"])
MomentumSlotVariableNames = collections.namedtuple("MomentumSlotVariableNames", ["momenta"])
ProximalAdagradSlotVariableNames = collections.namedtuple("ProximalAdagradSlotVariableNames", ["accumulator"])
RMSPropSlotVariableNames = collections.namedtuple("RMSPropSlotVariableNames", ["ms", "mom"])
VariablesAndOps = collections.namedtuple(
    "VariablesAndOps",
    ["embedding_variables_by_table", "slot_variables_by_table", "load_ops", "retrieve_ops"],
)


class TableConfig(
    collections.namedtuple(
        "TableConfig",
        [
            "vocabulary_size",
            "dimension",
            "initializer",
            "combiner",
            "hot_id_replication",
            "learning_rate",
            "learning_rate_fn",
        ],
    )
):
    """One embedding table: [vocabulary_size, dimension] floats."""

    def __new__(
        cls,
        vocabulary_size,
        dimension,
        initializer=None,
        combiner="mean",
        hot_id_replication=False,
        learning_rate=None,
        learning_rate_fn=None,
    ):
        if not isinstance(vocabulary_size, int) or vocabulary_size < 1:
            raise ValueError(f"vocabulary_size must be an int >= 1, got {vocabulary_size!r}")
        if not isinstance(dimension, int) or dimension < 1:
            raise ValueError(f"dimension must be an int >= 1, got {dimension!r}")
        if initializer is not None and not callable(initializer):
            raise ValueError(f"initializer must be callable, got {initializer!r}")
        if combiner not in ("mean", "sum", "sqrtn", None):
            raise ValueError(f"combiner must be mean, sum, sqrtn or None, got {combiner!r}")
        if learning_rate is not None and learning_rate_fn is not None:
            raise ValueError("give learning_rate or learning_rate_fn, not both")
        return super().__new__(
            cls, vocabulary_size, dimension, initializer, combiner, hot_id_replication, learning_rate, learning_rate_fn
        )


class FeatureConfig(collections.namedtuple("FeatureConfig", ["table_id", "max_sequence_length", "weight_key"])):
    """Which table a feature looks up in."""

    def __new__(cls, table_id, max_sequence_length=0, weight_key=None):
        return super().__new__(cls, table_id, max_sequence_length, weight_key)


class EnqueueData(
    collections.namedtuple("EnqueueData", ["embedding_indices", "sample_indices", "aggregation_weights"])
):
    """Ids of one feature for one core."""

    def __new__(cls, embedding_indices, sample_indices=None, aggregation_weights=None):
        return super().__new__(cls, embedding_indices, sample_indices, aggregation_weights)

    @staticmethod
    def from_sparse_tensor(sp_tensor, weights=None):
        return EnqueueData(
            sp_tensor.values, sp_tensor.indices, aggregation_weights=None if weights is None else weights.values
        )


class _OptimizationParameters:
    """What all optimizers of TPU embeddings have."""

    def __init__(self, learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max):
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min = clip_weight_min
        self.clip_weight_max = clip_weight_max


class AdagradParameters(_OptimizationParameters):
    """Adagrad: initial_accumulator must be > 0."""

    def __init__(
        self,
        learning_rate,
        initial_accumulator=0.1,
        use_gradient_accumulation=True,
        clip_weight_min=None,
        clip_weight_max=None,
    ):
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        if initial_accumulator <= 0:
            raise ValueError(f"initial_accumulator must be > 0, got {initial_accumulator}")
        self.initial_accumulator = initial_accumulator


class AdamParameters(_OptimizationParameters):
    """Adam: 0 <= beta1, beta2 < 1, epsilon > 0; lazy_adam=False needs gradient accumulation."""

    def __init__(
        self,
        learning_rate,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-08,
        lazy_adam=True,
        sum_inside_sqrt=True,
        use_gradient_accumulation=True,
        clip_weight_min=None,
        clip_weight_max=None,
    ):
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        for name, beta in (("beta1", beta1), ("beta2", beta2)):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"{name} must be in [0, 1), got {beta}")
        if epsilon <= 0.0:
            raise ValueError(f"epsilon must be > 0, got {epsilon}")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError("lazy_adam=False needs use_gradient_accumulation=True")
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.lazy_adam, self.sum_inside_sqrt = lazy_adam, sum_inside_sqrt


class StochasticGradientDescentParameters(_OptimizationParameters):
    """Plain gradient descent."""

    def __init__(self, learning_rate, clip_weight_min=None, clip_weight_max=None):
        super().__init__(learning_rate, False, clip_weight_min, clip_weight_max)


class MomentumParameters(_OptimizationParameters):
    """Momentum: `momentum` in [0, 1)."""

    def __init__(
        self,
        learning_rate,
        momentum,
        use_nesterov=False,
        use_gradient_accumulation=True,
        clip_weight_min=None,
        clip_weight_max=None,
    ):
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        self.momentum, self.use_nesterov = momentum, use_nesterov


class RMSPropParameters(_OptimizationParameters):
    """RMSProp: decay rho, momentum and epsilon."""

    def __init__(
        self,
        learning_rate,
        rho,
        momentum,
        epsilon,
        use_gradient_accumulation=True,
        clip_weight_min=None,
        clip_weight_max=None,
    ):
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        self.rho, self.momentum, self.epsilon = rho, momentum, epsilon


class ProximalAdagradParameters(AdagradParameters):
    """Adagrad with l1 and l2 penalties, both >= 0."""

    def __init__(
        self,
        learning_rate,
        initial_accumulator=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_gradient_accumulation=True,
        clip_weight_min=None,
        clip_weight_max=None,
    ):
        super().__init__(
            learning_rate, initial_accumulator, use_gradient_accumulation, clip_weight_min, clip_weight_max
        )
        for name, value in (("l1", l1_regularization_strength), ("l2", l2_regularization_strength)):
            if value < 0.0:
                raise ValueError(f"{name}_regularization_strength must be >= 0, got {value}")
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength


class FtrlParameters(_OptimizationParameters):
    """FTRL: learning_rate_power <= 0, the penalties and the initial accumulator >= 0."""

    def __init__(
        self,
        learning_rate,
        learning_rate_power=-0.5,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_gradient_accumulation=True,
        clip_weight_min=None,
        clip_weight_max=None,
        initial_accumulator_value=0.1,
        initial_linear_value=0.0,
    ):
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power must be <= 0, got {learning_rate_power}")
        for name, value in (
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("initial_accumulator_value", initial_accumulator_value),
        ):
            if value < 0.0:
                raise ValueError(f"{name} must be >= 0, got {value}")
        self.learning_rate_power = learning_rate_power
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.initial_accumulator_value = initial_accumulator_value
        self.initial_linear_value = initial_linear_value


class TPUEmbedding:
    """Raises RuntimeError: there is no TPU."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError(_NO_TPU)
