"""`tf-deeprec-doctor`: what this installation is, what it does, and what is wrong with it.

A module of its own beside the `tensorflow` package, because it must work where `import tensorflow` does not. Prints a report,
or with --json the same as JSON; the exit code is 1 if something is wrong.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_DISTRIBUTIONS = (
    "tensorflow",
    "tf_keras",
    "numpy",
    "protobuf",
    "h5py",
    "ml_dtypes",
    "setuptools",
    "tensorboard",
    "tensorflow_estimator",
    "tf_slim",
)
# Any of these writes its files over ours.
_CLASHING = ("tensorflow-cpu", "tensorflow-intel", "tensorflow-gpu", "tf-nightly", "tf-nightly-cpu", "tensorflow-rocm")
_CPU_FLAGS = (
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512_bf16",
    "avx512_fp16",
    "amx_tile",
    "amx_bf16",
)
_VARIABLES = (
    "TF_DEEPREC_",
    "TF_USE_LEGACY_KERAS",
    "TF_XLA_FLAGS",
    "TF_ENABLE_ONEDNN_OPTS",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "OMP_NUM_THREADS",
)


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions():
    """Returns {what: version or None} of Python, the C library and the distributions that matter."""
    report = {"python": platform.python_version(), "glibc": "-".join(platform.libc_ver())}
    report.update({name: _version(name) for name in _DISTRIBUTIONS})
    return report


def cpu():
    """Returns the processor's name, the number of usable cores, and which instruction sets it has."""
    model, flags = platform.processor(), set()
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            for line in f:
                key, _, value = line.partition(":")
                if key.strip() == "model name":
                    model = value.strip()
                elif key.strip() == "flags":
                    flags = set(value.split())
                    break
    except OSError:
        pass
    return {"model": model, "cores": len(os.sched_getaffinity(0)), "has": [f for f in _CPU_FLAGS if f in flags]}


def libstdcxx():
    """Returns what the guard knows of the C++ runtime library, without importing tensorflow."""
    path = os.path.join(_HERE, "tensorflow", "libstdcxx_guard", "__init__.py")
    guard = sys.modules.get("tensorflow.libstdcxx_guard")
    if guard is None:
        spec = importlib.util.spec_from_file_location("_doctor_libstdcxx_guard", path)
        if spec is None or not os.path.exists(path):
            return {"problems": [f"{path} is missing: install the wheel again."]}
        guard = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(guard)
    return guard.describe()


def overridden_ops(kernel_defs):
    """Returns the ops that have two CPU kernels for the same types: the stock one, and one that goes before it."""
    priorities = {}
    for kernel in kernel_defs:
        if kernel.device_type == "CPU":
            constraints = tuple(sorted(c.SerializeToString(deterministic=True) for c in kernel.constraint))
            priorities.setdefault((kernel.op, constraints, kernel.label), set()).add(kernel.priority)
    return sorted({op for (op, _, _), levels in priorities.items() if len(levels) > 1})


def runtime():
    """Imports tensorflow and returns what it reports of itself.

    Raises:
      Exception: whatever the import raises.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf
    from tensorflow.deeprec import library, settings
    from tensorflow.python.framework import kernels

    overridden = overridden_ops(kernels.get_all_registered_kernels().kernel)
    with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session() as session:
        isa = session.run(library.ops().deep_rec_kernel_isa()).decode()
    return {
        "root": tf.__version__,
        "runtime": tf.compat.v2.__version__,
        "kernel_isa": isa,
        "overridden_kernels": overridden,
        "disabled_kernels": sorted(settings.DISABLED_KERNELS),
        "xla_by_default": settings.XLA_BY_DEFAULT,
        "lazy_adam_by_default": settings.LAZY_ADAM,
    }


def problems(report):
    """Returns what is wrong, one sentence with its cure each."""
    found = list(report["libstdcxx"].get("problems", []))
    if report["import_error"]:
        found.append(f"import tensorflow fails: {report['import_error']}")
    if "deeprec" not in (report["versions"]["tensorflow"] or ""):
        found.append(
            f"The installed tensorflow is {report['versions']['tensorflow']}, not this wheel: "
            "another package has replaced it; install the wheel again."
        )
    for name in _CLASHING:
        if _version(name):
            found.append(
                f"{name} {_version(name)} is installed and shares files with this wheel: "
                f"pip uninstall {name}, then install the wheel again with --force-reinstall."
            )
    if importlib.util.find_spec("pkg_resources") is None:
        found.append(
            "pkg_resources is missing, which DeepRec scripts use to find the version: pip install 'setuptools<82'."
        )
    numpy = report["versions"]["numpy"]
    if numpy and int(numpy.split(".")[0]) >= 2 and sys.version_info < (3, 13):
        found.append(f"NumPy is {numpy}; code of the TensorFlow 1.x time often needs NumPy 1: pip install 'numpy<2'.")
    disabled = set((report["runtime"] or {}).get("disabled_kernels", []))
    if "avx" not in report["cpu"]["has"]:
        found.append("This processor has no AVX, which the released TensorFlow is built for: use another machine.")
    if disabled:
        found.append(f"TF_DEEPREC_DISABLE_KERNELS switches off {', '.join(sorted(disabled))}: unset it for full speed.")
    return found


def examine():
    """Returns the whole report as a dict."""
    report = {"versions": versions(), "cpu": cpu(), "runtime": None, "import_error": None}
    # Before the import, which sets some itself.
    report["environment"] = {k: v for k, v in sorted(os.environ.items()) if k.startswith(_VARIABLES)}
    try:
        report["runtime"] = runtime()
    except Exception as e:
        report["import_error"] = f"{type(e).__name__}: {e}"
    # After the import: only then is it settled which library the process uses.
    report["libstdcxx"] = libstdcxx()
    report["problems"] = problems(report)
    return report


def render(report):
    """Returns the report as text."""
    lines = ["Versions"]
    lines += [f"  {name:12} {version or '-'}" for name, version in report["versions"].items()]
    lines += [
        "Processor",
        f"  {report['cpu']['model']}, {report['cpu']['cores']} cores",
        f"  {' '.join(report['cpu']['has']) or 'none of the known vector instructions'}",
    ]
    lines.append("C++ runtime library")
    lines += [f"  {key:16} {value}" for key, value in report["libstdcxx"].items() if key != "problems"]
    if report["runtime"]:
        lines.append("TensorFlow")
        for key, value in report["runtime"].items():
            lines.append(f"  {key:20} {', '.join(value) or '-' if isinstance(value, list) else value}")
    lines.append("Environment")
    lines += [f"  {key}={value}" for key, value in report["environment"].items()] or ["  nothing set"]
    lines.append("Problems")
    lines += [f"  - {problem}" for problem in report["problems"]] or ["  none"]
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="tf-deeprec-doctor", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    args = parser.parse_args(argv)
    report = examine()
    print(json.dumps(report, indent=1) if args.json else render(report))
    return 1 if report["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
