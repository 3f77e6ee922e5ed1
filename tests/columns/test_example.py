"""The example of docs/columns.md."""

import re


def test_the_example_of_the_page_runs(repository, check_python):
    page = (repository / "docs" / "columns.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    loss, prices = check_python(code).splitlines()
    assert loss.startswith("loss ") and float(loss.split()[1]) < 0.3
    assert prices == "prices [[0.0, 2.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]"
