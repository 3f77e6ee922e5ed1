"""The example of docs/micro_batch.md."""

import re


def test_the_example_of_the_page_runs(repository, check_python):
    page = (repository / "docs" / "micro_batch.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    text, loss = check_python(code).split(", loss ")
    assert text == "79 steps of 256 rows, the last of 32" and float(loss) < 0.1
