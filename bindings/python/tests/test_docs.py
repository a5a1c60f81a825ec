"""README.md, docs/python.md and the page for those who come from other packages say what is so."""

import doctest
import importlib.machinery
import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[3]


@pytest.mark.parametrize("name, examples", [("python.md", 32), ("coming-from/python.md", 8), ("coming-from/numcodecs.md", 12)])
def test_snippets(name, examples):
    page = ROOT / "docs" / name
    if "numcodecs" in name:
        pytest.importorskip("numcodecs")
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    # The fences of Markdown are no output.
    text = "\n".join("" if line.startswith("```") else line for line in page.read_text().split("\n"))
    test = parser.get_doctest(text, {}, page.name, str(page), 0)
    assert len(test.examples) >= examples
    results = runner.run(test)
    assert results.failed == 0


def test_readme(tmp_path, monkeypatch):
    page = ROOT / "README.md"
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(page), "exec"), {})


def test_the_reference_is_up_to_date():
    for other in ("zarr", "h5py", "fsspec", "dask"):
        pytest.importorskip(other)
    loader = importlib.machinery.SourceFileLoader("python_reference", str(ROOT / "tools" / "python-reference"))
    maker = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(maker)
    assert (ROOT / "docs" / "python-reference.md").read_text() == maker.reference(), "make it anew: tools/python-reference"
