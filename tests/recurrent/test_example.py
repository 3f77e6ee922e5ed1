"""The example of docs/recurrent.md."""

import re


def test_the_example_of_the_page_runs(repository, check_python):
    (code,) = re.findall(r"```python\n(.*?)```", (repository / "docs" / "recurrent.md").read_text(), re.DOTALL)
    assert check_python(code).split() == ["1", "1", "0"]
