"""tf-deeprec-scan finds what lacks and what changed, and nothing where all is there."""

import html.parser
import json
import os
import pathlib
import subprocess
import sys

import pytest


from deeprec_scan import command
from deeprec_scan.check import CHANGES, LACKS, UNREADABLE, Checker
from deeprec_scan.usage import NotPython3, notebook_source, uses_in


@pytest.fixture(scope="module")
def checker():
    return Checker()


def _found(checker, text, file="a.py"):
    return [(f.line, f.kind, f.symbol) for f in checker.findings(file, text)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import tensorflow as tf\ntf.nn.relu(1)", "tensorflow.nn.relu"),
        ("import tensorflow\ntensorflow.nn.relu(1)", "tensorflow.nn.relu"),
        ("import tensorflow.contrib.slim as s\ns.conv2d", "tensorflow.contrib.slim.conv2d"),
        ("from tensorflow.contrib import rnn as r\nr.LSTMCell(3)", "tensorflow.contrib.rnn.LSTMCell"),
        ("from tensorflow.python.ops.math_ops import add\nadd(1, 2)", "tensorflow.python.ops.math_ops.add"),
        ("import tensorflow as tf\nL = tf.layers\nL.dense", "tensorflow.layers.dense"),
        ("def f():\n  import tensorflow as t\n  return t.zeros", "tensorflow.zeros"),
    ],
)
def test_names_are_followed_through_imports_and_assignments(text, name):
    assert name in [use.name for use in uses_in(text)]


def test_calls_tell_their_keywords_and_guards():
    text = "import tensorflow as tf\ntry:\n  tf.add(x=1, **k)\nexcept AttributeError:\n  tf.sub(1)\n"
    uses = {use.name: use for use in uses_in(text)}
    assert uses["tensorflow.add"].keywords == ("x",) and uses["tensorflow.add"].guarded
    assert uses["tensorflow.sub"].keywords == () and not uses["tensorflow.sub"].guarded


def test_other_packages_are_not_followed():
    assert uses_in("import numpy as np\nfrom . import tensorflow\nnp.add(1, 2)\ntensorflow.x") == []


def test_python_2_is_reported_with_its_line(checker):
    assert _found(checker, "import tensorflow\nprint 'a'") == [(2, UNREADABLE, "")]


def test_code_of_1_15_has_no_findings(checker):
    text = """
import tensorflow as tf
from tensorflow.contrib import layers, rnn, seq2seq
from tensorflow.contrib.layers.python.layers import initializers
from tensorflow.examples.tutorials.mnist import input_data
from tensorflow.python.framework import ops
tf.app.flags.DEFINE_string("name", "", "")
x = tf.placeholder(tf.float32, shape=[None, 3], name="x")
h = layers.fully_connected(x, 4, activation_fn=tf.nn.relu, scope="h")
y = tf.layers.dense(h, units=2, kernel_initializer=tf.glorot_uniform_initializer())
tf.train.AdamOptimizer(learning_rate=0.1).minimize(tf.reduce_mean(y, keep_dims=True))
tf.app.flags.FLAGS.name
tf.estimator.DNNClassifier(hidden_units=[3], feature_columns=[])
"""
    assert _found(checker, text) == []


@pytest.mark.parametrize(
    ("text", "kind", "symbol"),
    [
        ("tf.no_such_name", LACKS, "tensorflow.no_such_name"),
        ("tf.contrib.tensorrt.create_inference_graph()", LACKS, "tensorflow.contrib.tensorrt.create_inference_graph"),
        ("tf.nn.relu(feature=1)", LACKS, "tensorflow.nn.relu"),
        ("tf.keras.utils.multi_gpu_model(m, 2)", CHANGES, "tensorflow.keras.utils.multi_gpu_model"),
        ("tf.load_op_library('a.so')", CHANGES, "tensorflow.load_op_library"),
    ],
)
def test_what_lacks_or_changed_is_found(checker, text, kind, symbol):
    assert _found(checker, "import tensorflow as tf\n" + text) == [(2, kind, symbol)]


def test_modules_without_successor_are_found_with_the_reason(checker):
    [finding] = checker.findings("a.py", "from tensorflow.tools.docs import parser")
    assert finding.kind == LACKS and finding.what and finding.todo


def test_standalone_keras_is_found(checker):
    [finding] = checker.findings("a.py", "from keras.layers import Dense")
    assert finding.kind == CHANGES and "TF_DEEPREC_KERAS" in finding.todo


def test_members_of_values_are_not_guessed(checker):
    assert _found(checker, "import tensorflow as tf\ntf.flags.FLAGS.anything\ntf.float32.no_such") == []


def test_notebooks_are_read(checker):
    cells = [
        {"cell_type": "markdown", "source": ["tf.no_such"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import tensorflow as tf\n", "tf.no_such"]},
    ]
    assert _found(checker, json.dumps({"cells": cells}), "a.ipynb") == [(3, LACKS, "tensorflow.no_such")]
    with pytest.raises(NotPython3):
        notebook_source("[]")


@pytest.mark.parametrize(
    "line",
    ["?tf.zeros", "tf.zeros??", "files = !ls", "a, b = %time f()", "%matplotlib inline", "!ls", "if x:\n    !ls"],
)
def test_a_line_for_ipython_does_not_lose_its_notebook(checker, line):
    source = f"{line}\nimport tensorflow as tf\ntf.no_such"
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": source}]})
    assert _found(checker, notebook, "a.ipynb") == [(source.count("\n") + 1, LACKS, "tensorflow.no_such")]


def test_a_cell_of_another_language_is_passed_over(checker):
    cells = [
        {"cell_type": "code", "source": s} for s in ("%%bash\nfor x in *; do", "import tensorflow as tf\ntf.no_such")
    ]
    assert _found(checker, json.dumps({"cells": cells}), "a.ipynb") == [(4, LACKS, "tensorflow.no_such")]


def test_a_line_of_python_that_begins_like_one_for_ipython_is_read(checker):
    cells = [{"cell_type": "code", "source": "import tensorflow as tf\nx = (tf.no_such\n     % tf.nor_such)"}]
    names = [symbol for _, _, symbol in _found(checker, json.dumps({"cells": cells}), "a.ipynb")]
    assert names == ["tensorflow.no_such", "tensorflow.nor_such"]


def test_a_notebook_of_format_3_is_read(checker):
    cells = [{"cell_type": "code", "input": ["import tensorflow as tf\n", "tf.no_such"]}]
    text = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3})
    assert _found(checker, text, "a.ipynb") == [(2, LACKS, "tensorflow.no_such")]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pkg" / ".hidden").mkdir(parents=True)
    (tmp_path / "pkg" / "good.py").write_text("import tensorflow as tf\ntf.zeros([1])\n")
    (tmp_path / "pkg" / "bad.py").write_text("import tensorflow as tf\ntf.no_such_name('<b>')\n")
    (tmp_path / "pkg" / ".hidden" / "x.py").write_text("import tensorflow as tf\ntf.hidden\n")
    (tmp_path / "pkg" / "latin.py").write_bytes(b"# \xe9\nimport tensorflow as tf\ntf.caf\n")
    return tmp_path


class _Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], ""

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.seen += data


def test_command_prints_text_and_writes_a_page(project, capsys):
    page = project / "out.html"
    assert command.main([str(project / "pkg"), "--html", str(page)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in lines[:2]] == [LACKS, LACKS] and "bad.py:2" in lines[0]
    assert lines[-1].startswith("3 files: 2 lacking, 0 changed, 0 not readable")
    parsed = _Page()
    parsed.feed(page.read_text())
    assert parsed.open == [] and "tensorflow.no_such_name" in parsed.seen and "hidden" not in parsed.seen


# Deeper than the parser goes, and deeper than the tree can be followed.
@pytest.mark.parametrize("expression", ["-" * 90000 + "1", "+".join(["x"] * 5000)])
def test_a_file_nested_too_deeply_does_not_lose_the_others(project, capsys, expression):
    (project / "pkg" / "deep.py").write_text(f"x = 1\n{expression}\n")
    page = project / "out.html"
    assert command.main([str(project / "pkg"), "--html", str(page)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "deep.py:1: unreadable: cannot be read: its expressions or blocks are nested too deeply" in "".join(lines)
    assert lines[-1].startswith("4 files: 2 lacking, 0 changed, 1 not readable") and page.read_text()


def test_a_notebook_nested_too_deeply_is_reported(checker):
    [finding] = checker.findings("a.ipynb", "[" * 100000)
    assert finding.kind == UNREADABLE and "nested too deeply" in finding.what


def test_a_fifo_is_passed_over(project, capsys):
    os.mkfifo(project / "pkg" / "pipe.py")
    command.main([str(project / "pkg")])
    assert capsys.readouterr().out.splitlines()[-1].startswith("3 files: ")


def test_a_link_to_nothing_is_reported(project, capsys):
    (project / "pkg" / "gone.py").symlink_to("nowhere.py")
    command.main([str(project / "pkg")])
    assert "gone.py:1: unreadable: cannot be read: No such file" in capsys.readouterr().out


def test_a_file_name_of_any_bytes_is_shown(project, capsys):
    name = os.path.join(os.fsencode(project / "pkg"), b"caf\xe9.py")
    with open(name, "w") as file:
        file.write("import tensorflow as tf\ntf.no_such")
    page = project / "out.html"
    command.main([str(project / "pkg"), "--html", str(page)])
    assert "caf\ufffd.py:2: lacks" in capsys.readouterr().out and "caf\ufffd.py" in page.read_text(encoding="utf-8")


def test_exclude_and_exit_code_of_a_clean_tree(project, capsys):
    assert command.main([str(project / "pkg"), "--exclude", "bad.py", "--exclude", "latin*"]) == 0
    assert capsys.readouterr().out.startswith("1 files: 0 lacking")


@pytest.mark.parametrize("arguments", [["no/such/folder"], ["--html", "no/such/x.html", "."], []])
def test_bad_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        command.main(arguments)
    assert error.value.code == 2 and capsys.readouterr().err


def test_a_folder_without_sources_is_refused(tmp_path):
    with pytest.raises(SystemExit):
        command.main([str(tmp_path)])


def test_the_command_is_installed(project):
    tool = pathlib.Path(sys.executable).parent / "tf-deeprec-scan"
    result = subprocess.run([str(tool), str(project / "pkg" / "good.py")], text=True, capture_output=True, check=False)
    assert (result.returncode, result.stdout) == (0, "1 files: 0 lacking, 0 changed, 0 not readable, in 0 of them\n")
