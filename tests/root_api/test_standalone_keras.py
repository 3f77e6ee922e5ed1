"""TF_DEEPREC_KERAS=1: `import keras` is the Keras of this package, also before tensorflow; nothing happens without it."""

import importlib.metadata
import os
import subprocess
import sys

import pytest

_ON = {"TF_DEEPREC_KERAS": "1"}


@pytest.fixture
def other_keras(tmp_path):
    """Another package keras, found first on sys.path: check_python works in this folder."""
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "__init__.py").write_text("print('the other keras')\n")


@pytest.mark.parametrize(
    "first", ["import keras", "from keras.layers import Dense", "import keras.backend as K", "from keras import models"]
)
def test_keras_may_be_imported_first(check_python, other_keras, first):
    code = f"{first}\nimport keras, tensorflow as tf\nfrom keras.layers import Dense\n"
    code += "print(Dense is tf.keras.layers.Dense, keras.models.Model is tf.keras.Model, keras.__version__)"
    assert check_python(code, **_ON) == "True True 2.2.4-tf"


def test_a_program_of_keras_2_2_trains(check_python):
    code = """
import numpy as np
from keras.models import Sequential
from keras.layers import Dense
from keras.optimizers import Adam
import keras.backend as K
model = Sequential([Dense(1, input_dim=3)])
model.compile(Adam(lr=0.1), "mse")
x = np.random.RandomState(0).rand(64, 3)
history = model.fit(x, x.sum(1), epochs=30, verbose=0).history["loss"]
print(history[-1] < history[0] / 10, K.get_session().__class__.__name__)
"""
    assert check_python(code, **_ON) == "True Session"


@pytest.mark.parametrize("value", ["", "0"])
def test_without_the_switch_keras_is_what_sys_path_has(check_python, other_keras, value):
    code = "import sys, keras\nprint('tensorflow' in sys.modules, '_deeprec_keras' in sys.modules)"
    settings = {"TF_DEEPREC_KERAS": value} if value else {}
    assert check_python(code, **settings) == "the other keras\nFalse False"


def test_the_2_x_root_leaves_keras_alone(check_python, other_keras):
    assert check_python("import keras", TF_DEEPREC_ROOT="2", **_ON) == "the other keras"


def test_looking_for_keras_does_not_import_tensorflow(check_python):
    code = "import sys, importlib.util\nprint(importlib.util.find_spec('keras').name, 'tensorflow' in sys.modules)"
    assert check_python(code, **_ON) == "keras False"


def test_importing_something_else_is_not_affected(check_python):
    assert check_python("import json, sys; print('tensorflow' in sys.modules)", **_ON) == "False"


def test_a_broken_tensorflow_harms_nothing_but_keras(run_python, other_keras, tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise ImportError('broken on purpose')\n")
    done = run_python("import json; print('started')", **_ON)
    assert (done.stdout, done.stderr) == ("started\n", "")
    for again in ("", "try: import keras\nexcept ImportError: pass\n"):
        done = run_python(again + "import keras", **_ON)
        assert "ImportError: TF_DEEPREC_KERAS=1: keras is the Keras of tensorflow" in done.stderr
        assert "broken on purpose" in done.stderr and "the other keras" not in done.stdout


def test_another_keras_that_is_there_already_is_named(run_python, other_keras):
    code = "import os, keras\nos.environ['TF_DEEPREC_KERAS'] = '1'\nimport tensorflow"
    assert "another keras was imported already: set it before Python starts" in run_python(code).stderr


def test_uninstalling_knows_the_files():
    files = {str(f) for f in importlib.metadata.files("tensorflow")}
    assert {"deeprec_keras.pth", "_deeprec_keras.py"} <= files


def test_an_environment_without_the_dependencies_starts_and_uninstalls(tmp_path):
    wheel = os.environ.get("DEEPREC_TEST_WHEEL")
    if not wheel:
        pytest.skip("DEEPREC_TEST_WHEEL is not set; ci/test.sh sets it")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python]

    def run(code):
        env = {k: v for k, v in os.environ.items() if not k.startswith("TF_") and k != "PYTHONPATH"}
        return subprocess.run(
            [python, "-c", code], env={**env, **_ON}, cwd=tmp_path, text=True, capture_output=True, check=False
        )

    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    done = run("print('started')")
    assert (done.stdout, done.stderr) == ("started\n", "")
    assert "keras is the Keras of tensorflow, which cannot be imported" in run("import keras").stderr
    subprocess.run([*pip, "uninstall", "--quiet", "--yes", "tensorflow"], check=True)
    assert not list((tmp_path / "venv").rglob("*deeprec*"))
    done = run("print('started')")
    assert (done.stdout, done.stderr) == ("started\n", "")
    assert "No module named 'keras'" in run("import keras").stderr
