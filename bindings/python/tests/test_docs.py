"""docs/python.md and README.md say what is so."""

import doctest
import pathlib
import re


def test_snippets():
    page = pathlib.Path(__file__).parents[3] / "docs" / "python.md"
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    # The fences of Markdown are no output.
    text = "\n".join("" if line.startswith("```") else line for line in page.read_text().split("\n"))
    test = parser.get_doctest(text, {}, page.name, str(page), 0)
    assert len(test.examples) > 25
    results = runner.run(test)
    assert results.failed == 0


def test_readme(tmp_path, monkeypatch):
    page = pathlib.Path(__file__).parents[3] / "README.md"
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(page), "exec"), {})
