"""The example of docs/stage.md."""

import re


def test_the_example_of_the_page_runs(repository, check_python):
    page = (repository / "docs" / "stage.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    out = check_python(code)
    assert out.startswith("loss ") and float(out.split()[1]) < 0.1
