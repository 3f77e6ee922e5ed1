import pathlib
import sys

_HERE = pathlib.Path(__file__).parent


def test_the_second_root_passes_the_same_tests(check_python):
    # Its TensorFlow has none of the wheel's changes to variables, optimizers and lookups.
    files = [str(_HERE / f"test_{name}.py") for name in ("lookup", "optimizers", "dump", "legacy")]
    chosen = (
        "session-hbm or key_dtype or files or graph or definition or come_back or embedding_lookup or static_tables"
    )
    code = f"import sys, pytest; sys.exit(pytest.main(['-q', '--tb=short', '-k', {chosen!r}, *{files!r}]))"
    printed = check_python(code, python=sys.executable, TF_DEEPREC_ROOT="2")
    assert " passed" in printed
