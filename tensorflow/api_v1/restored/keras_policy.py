"""`tf.keras.mixed_precision.experimental`: 1.15's names and arguments on tf_keras' mixed precision."""

from tf_keras.src.engine import base_layer_utils
from tf_keras.src.mixed_precision import loss_scale_optimizer, policy as policy_lib
from tf_keras.src.mixed_precision.policy import global_policy, policy_scope, serialize, deserialize  # noqa: F401

_DEFAULT = "USE_DEFAULT"


class Policy(policy_lib.Policy):
    """A dtype policy that can carry a loss scale.

    Args:
      name: "float32", "mixed_float16", ... "infer" means float32, the dtype that 1.15 inferred from the usual input.
      loss_scale: a number, "dynamic", None, or an object of tf.train.experimental. Default: "dynamic" with
        mixed_float16, else None.
    """

    def __init__(self, name, loss_scale=_DEFAULT):
        super().__init__("float32" if name in ("infer", "infer_with_float32_vars") else name)
        if isinstance(loss_scale, str) and loss_scale == _DEFAULT:
            loss_scale = "dynamic" if name == "mixed_float16" else None
        self._loss_scale = loss_scale

    @property
    def loss_scale(self):
        return self._loss_scale

    @property
    def should_cast_variables(self) -> bool:
        """Whether layers compute in another dtype than that of their variables."""
        return self.compute_dtype != self.variable_dtype

    def get_config(self):
        return {**super().get_config(), "loss_scale": self._loss_scale}


def set_policy(policy) -> None:
    """Sets the policy of layers that are made from now on.

    Args:
      policy: a Policy, its name, or None for the default.
    """
    if policy is not None and not isinstance(policy, policy_lib.Policy):
        policy = Policy(policy)
    # tf_keras wants layers to follow their dtype before a policy has a meaning; 1.15 did not ask.
    base_layer_utils.enable_v2_dtype_behavior()
    policy_lib.set_global_policy(policy)


class LossScaleOptimizer(loss_scale_optimizer.LossScaleOptimizer):
    """Scales the loss before, and the gradients after, so that float16 gradients do not vanish.

    Args:
      opt: a tf.keras optimizer (not of tf.train, see tf.train.experimental.MixedPrecisionLossScaleOptimizer for these).
      loss_scale: a number (fixed), "dynamic", or a FixedLossScale or DynamicLossScale of tf.train.experimental.
    """

    def __init__(self, opt, loss_scale):
        config = loss_scale.get_config() if hasattr(loss_scale, "get_config") else {}
        if loss_scale == "dynamic":
            super().__init__(opt)
        elif "initial_loss_scale" in config:
            super().__init__(opt, True, config["initial_loss_scale"], config["increment_period"])
        else:
            super().__init__(opt, False, float(config.get("loss_scale_value", loss_scale)))
