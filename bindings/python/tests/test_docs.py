"""docs/python.md says what is so."""

import doctest
import pathlib


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
