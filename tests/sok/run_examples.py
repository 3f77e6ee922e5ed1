"""Runs several examples one after the other in one process, as scripts, and keeps what each prints.

    run_examples.py FOLDER EXAMPLE[,FLAG...]...

Rank r writes FOLDER/<r>/<number>.txt, in the order of the examples.
"""

import contextlib
import functools
import io
import json
import os
import pathlib
import runpy
import sys

_EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "sok"


def _rank():
    if "TF_CONFIG" in os.environ:
        return json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    return int(os.environ.get("HOROVOD_RANK", 0))


def _forget_init():
    """Each example is a program of its own, and calls `sok.init` once."""
    if "sparse_operation_kit" in sys.modules:
        from sparse_operation_kit import runtime

        runtime._state["transport"] = None


def _share_strategy():
    """The runtime numbers the collectives of each strategy from the same start: a process can have one with several replicas."""
    import s04_mirrored_strategy

    s04_mirrored_strategy.make_strategy = functools.lru_cache(s04_mirrored_strategy.make_strategy)


def main(folder, examples):
    folder = pathlib.Path(folder) / str(_rank())
    folder.mkdir(parents=True)
    sys.path.insert(0, str(_EXAMPLES))
    if any("--replicas" in example for example in examples):
        _share_strategy()
    for number, example in enumerate(examples):
        name, *flags = example.split(",")
        (path,) = _EXAMPLES.glob(f"{name}_*.py")
        sys.argv = [str(path), *flags]
        _forget_init()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            runpy.run_path(str(path), run_name="__main__")
        (folder / f"{number}.txt").write_text(printed.getvalue())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
