"""The example of docs/work_queue.md."""

import re


def test_the_example_of_the_page_runs(repository, check_python):
    page = (repository / "docs" / "work_queue.md").read_text()
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    rows = re.findall(r"b'(\d)'", check_python(code))
    assert sorted(rows) == sorted("12345" * 2)
