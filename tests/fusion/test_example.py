"""The example of docs/graph_fusion.md."""

import re


def test_the_example_of_the_page_runs(repository, check_python):
    page = (repository / "docs" / "graph_fusion.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    weights, fused = check_python(code).splitlines()
    assert weights == "[0.25 0.25 0.25 0.25 0.  ]"
    assert fused.startswith("select masked ('masked', ")


def test_the_page_has_a_row_for_each_template(repository):
    from tensorflow.deeprec import settings

    page = (repository / "docs" / "graph_fusion.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == settings.FUSIONS
