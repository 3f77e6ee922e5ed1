"""The environment variables that this wheel reads, each read once, when `import tensorflow` runs.

==============================  =======================================================================
TF_DEEPREC_ROOT                 `1` (default): the 1.x root API; `2`: the released 2.x root
TF_DEEPREC_XLA                  `1`: auto-clustering by XLA for every session whose ConfigProto is silent
TF_DEEPREC_LAZY_ADAM            `1`: `tf.train.AdamOptimizer` updates touched rows only
TF_DEEPREC_PY_COMPAT            `1` (default): names that Python and NumPy dropped are back; 1.x root only
TF_DEEPREC_KERAS                `1`: `import keras` is the Keras of this package; 1.x root only
TF_DEEPREC_KEEP_NAN             `1`: sessions fuse no ops, so that relu of NaN is NaN everywhere; 1.x root only
TF_DEEPREC_CALLER_THREAD        `1` (default): the thread that calls `session.run` works too; 1.x root only
TF_DEEPREC_DISABLE_KERNELS      names of ops, comma separated, or `all`: use the stock kernels for these
TF_DEEPREC_DISABLE_FUSIONS      names of fusions, comma separated, or `all`: leaves out `batch_norm`, `lookup`, `recurrent`, or these of `do_op_fusion`
TF_DEEPREC_ISA                  `scalar`, `avx2` or `avx512`: force one form of the kernels (for tests)
TF_DEEPREC_REEXEC               `1`: start the process again with the bundled libstdc++ where that is the cure
==============================  =======================================================================

A value that is none of these raises ImportError with the variable, the value and the choices.
"""

import os
import warnings

_CHOICES = {
    "TF_DEEPREC_ROOT": ("1", "2"),
    "TF_DEEPREC_XLA": ("0", "1"),
    "TF_DEEPREC_LAZY_ADAM": ("0", "1"),
    "TF_DEEPREC_PY_COMPAT": ("0", "1"),
    "TF_DEEPREC_KERAS": ("0", "1"),
    "TF_DEEPREC_KEEP_NAN": ("0", "1"),
    "TF_DEEPREC_CALLER_THREAD": ("0", "1"),
    "TF_DEEPREC_ISA": ("", "scalar", "avx2", "avx512"),
    "TF_DEEPREC_REEXEC": ("0", "1"),
}


def _choice(name: str, default: str) -> str:
    value = os.environ.get(name, default)
    if value not in _CHOICES[name]:
        raise ImportError(f"{name} is {value!r}, but must be one of {', '.join(c for c in _CHOICES[name] if c)}.")
    return value


ROOT_API = _choice("TF_DEEPREC_ROOT", "1")
XLA_BY_DEFAULT = _choice("TF_DEEPREC_XLA", "0") == "1"
LAZY_ADAM = _choice("TF_DEEPREC_LAZY_ADAM", "0") == "1"
PY_COMPAT = _choice("TF_DEEPREC_PY_COMPAT", "1") == "1"
STANDALONE_KERAS = _choice("TF_DEEPREC_KERAS", "0") == "1"
KEEP_NAN = _choice("TF_DEEPREC_KEEP_NAN", "0") == "1"
CALLER_THREAD = _choice("TF_DEEPREC_CALLER_THREAD", "1") == "1"
ISA = _choice("TF_DEEPREC_ISA", "")
_choice("TF_DEEPREC_REEXEC", "0")


def _names(variable: str) -> frozenset:
    return frozenset(name.strip() for name in os.environ.get(variable, "").split(",") if name.strip())


DISABLED_KERNELS = _names("TF_DEEPREC_DISABLE_KERNELS")
DISABLED_FUSIONS = _names("TF_DEEPREC_DISABLE_FUSIONS")

# The ops that can be named there: each has a kernel of ours that goes before a stock one, or an optimizer uses it in
# place of stock ops.
SWITCHABLE_KERNELS = frozenset(
    prefix + "SparseApply" + name
    for prefix in ("", "Resource")
    for name in (
        "Adagrad",
        "AdagradV2",
        "Adam",
        "CenteredRMSProp",
        "Ftrl",
        "FtrlV2",
        "GradientDescent",
        "Momentum",
        "RMSProp",
    )
) | {
    "ApplyAdagrad",
    "ApplyAdagradV2",
    "ApplyAdam",
    "MergeV2Checkpoints",
    "ResourceApplyAdagrad",
    "ResourceApplyAdagradV2",
    "ResourceApplyAdam",
    "ResourceSparseApplyKerasMomentum",
    "ShuffleAndRepeatDataset",
    "SparseSegmentMean",
    "SparseSegmentMeanGradV2",
    "SparseSegmentMeanWithNumSegments",
    "SparseSegmentSqrtN",
    "SparseSegmentSqrtNGradV2",
    "SparseSegmentSqrtNWithNumSegments",
    "SparseSegmentSum",
    "SparseSegmentSumGradV2",
    "SparseSegmentSumWithNumSegments",
    "StridedSliceGrad",
    "Unique",
    "UniqueWithCounts",
}

# The templates of core/fusion, which itself reads the variable; and what is fused without being asked for.
FUSIONS = frozenset(
    {"bias_activation", "concat_cast", "l2_normalize", "one_hot_sum", "select", "sparse_flatten", "sparse_reshape"}
)
FUSIONS_BY_DEFAULT = frozenset({"batch_norm", "lookup", "recurrent"})

for _variable, _disabled, _known, _what in (
    ("TF_DEEPREC_DISABLE_KERNELS", DISABLED_KERNELS, SWITCHABLE_KERNELS, "op with a kernel of this wheel"),
    ("TF_DEEPREC_DISABLE_FUSIONS", DISABLED_FUSIONS, FUSIONS | FUSIONS_BY_DEFAULT, "fusion"),
):
    for _name in sorted(_disabled - _known - {"all"}):
        warnings.warn(
            f"{_variable} names {_name!r}, which is no {_what}; there are: all, {', '.join(sorted(_known))}.",
            RuntimeWarning,
            stacklevel=2,
        )


def kernels_enabled(*ops: str) -> bool:
    """Whether all of the named ops run on the kernels of this wheel."""
    return "all" not in DISABLED_KERNELS and not DISABLED_KERNELS.intersection(ops)


def apply_before_runtime_loads() -> None:
    """Sets the variables that the TensorFlow runtime itself reads while it loads."""
    # Keras 2 is the Keras of both roots: the 1.x API needs it, and the wheel does not depend on Keras 3.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    # Without this flag a session's global_jit_level is ignored on CPU; it turns nothing on by itself.
    flags = os.environ.get("TF_XLA_FLAGS", "")
    if "tf_xla_cpu_global_jit" not in flags:
        os.environ["TF_XLA_FLAGS"] = f"{flags} --tf_xla_cpu_global_jit".strip()
