"""What type checkers and inspect say of the package."""

import doctest
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import hemstitch

ROOT = pathlib.Path(__file__).parents[3]
# Libraries of others; their types are not what is tested, and take long to read.
CONFIG = """[mypy]
strict = True
[mypy-hemstitch.*]
ignore_errors = True
[mypy-dask.*,distributed.*,fsspec.*,h5py.*,numcodecs.*,zarr.*]
follow_imports = skip
ignore_missing_imports = True
"""
# Names that the pages' examples have from elsewhere.
GIVEN = """from typing import Any
import hemstitch
cupy: Any = ...
stream: Any = ...
packed: bytes = b""
paths: list[str] = []
"""


def mypy(folder, name, code):
    pytest.importorskip("mypy")
    (folder / "mypy.ini").write_text(CONFIG)
    (folder / name).write_text(code)
    package = str(pathlib.Path(hemstitch.__file__).parents[1])
    environment = {**os.environ, **({} if "site-packages" in package else {"MYPYPATH": package})}
    cache = pathlib.Path(folder.parent, "mypy-cache")
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", str(cache), name], cwd=folder, env=environment,
                          capture_output=True, text=True)
    return done.stdout + done.stderr


def pyright(folder, name):
    """What basedpyright finds wrong, by file and line. It has its own Node.js and needs no network, but 280 MB: tools/setup does not install it."""
    pytest.importorskip("basedpyright")
    package = str(pathlib.Path(hemstitch.__file__).parents[1])
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard", "extraPaths": [package], "include": [name],
                                                           "reportMissingModuleSource": False}))
    done = subprocess.run([sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson"], cwd=folder, capture_output=True, text=True)
    said = json.loads(done.stdout)["generalDiagnostics"]
    return [(pathlib.Path(one["file"]).name, one["range"]["start"]["line"] + 1, one["message"]) for one in said if one["severity"] == "error"]


@pytest.fixture
def examples(tmp_path):
    """The pages' examples, each a file; how many."""
    code = []
    for page in ("README.md", "docs/python.md", "docs/coming-from/python.md"):
        text = (ROOT / page).read_text()
        for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            if ">>>" not in block:
                given = "\n".join(line for line in GIVEN.split("\n") if not re.search(rf"import .*\b{line.split(':')[0]}\b", block))
                code.append(given + "\n" + block)
        examples = doctest.DocTestParser().get_examples("\n".join("" if line.startswith("```") else line for line in text.split("\n")))
        code.append("".join(example.source for example in examples))
    for number, block in enumerate(code):
        (tmp_path / f"example_{number}.py").write_text(block)
    return len(code)


def test_examples_of_the_pages(tmp_path, examples):
    said = mypy(tmp_path, "all.py", "".join(f"import example_{number}\n" for number in range(examples)))
    assert "Success: no issues found" in said, said


def test_what_pyright_says_of_the_examples(tmp_path, examples):
    assert pyright(tmp_path, "example_*.py") == []


USES = """
import io, hemstitch
from typing import Union
one: bytes = hemstitch.compress(b"x", format="zstd", level=3)
two: int = hemstitch.compress(bytearray(1), out=bytearray(100))
three: bytes = hemstitch.restore(one, max_bytes=10)
four: tuple[bytes, int] = hemstitch.restore(one, return_used_bytes=True)
five: int = hemstitch.restore(one, out=bytearray(3))
six: hemstitch.DeviceArray = hemstitch.restore(one, device="cuda")
seven: list[Union[bytes, hemstitch.Error]] = hemstitch.restore_many([one], errors="return")
eight: bytes = hemstitch.open("a.gz").read()
nine: io.TextIOWrapper = hemstitch.open("a.gz", "wt", encoding="utf-8", level=3)
ten: int = hemstitch.open("a.gz", "ab", stored_name="a").write(b"x")
eleven: bytes = hemstitch.Decompressor().decompress(hemstitch.Compressor(format="gzip").compress(b"x"), 3)
twelve: bytes = hemstitch.open("a.gz").peek() + hemstitch.open("a.gz").raw.read_range(1, 2)
thirteen: int = hemstitch.search("x", "path", decompress=True)[0].lines[0].number
hemstitch.compress(b"x", format="zip")  # from here on each line is an error
hemstitch.compress(b"x", levle=3)
hemstitch.compress("text")
hemstitch.restore_many([b"x"], errors="ignore")
fourteen: str = hemstitch.compress(b"x")
"""
WRONG_LINES = [17, 18, 19, 20, 21]


def test_what_types_say(tmp_path):
    said = mypy(tmp_path, "uses.py", USES)
    assert [int(line) for line in re.findall(r"^uses\.py:(\d+): error", said, re.MULTILINE)] == WRONG_LINES, said


def test_what_pyright_says(tmp_path):
    (tmp_path / "uses.py").write_text(USES)
    said = pyright(tmp_path, "uses.py")
    assert sorted({line for _, line, _ in said}) == WRONG_LINES, said


def test_signatures():
    shown = str(inspect.signature(hemstitch.compress))
    assert shown.startswith("(data: 'Any', *, format='lz4', level=None, backend='auto', threads=0") and "progress=None" in shown and "options" not in shown
    assert list(inspect.signature(hemstitch.open).parameters)[:4] == ["file", "mode", "format", "level"]
    for name in hemstitch.__all__:
        value = getattr(hemstitch, name)
        if callable(value) and name not in ("SearchMatch", "SearchedLine", "SearchedText", "Status"):
            inspect.signature(value)


def test_defaults_that_are_shown_are_those_of_the_library(text):
    from hemstitch import _options

    assert set(_options.COMPRESS_DEFAULTS) == set(_options.CompressOptions.__annotations__)
    assert set(_options.RESTORE_DEFAULTS) == set(_options.RestoreOptions.__annotations__)
    assert hemstitch.compress(text, **_options.COMPRESS_DEFAULTS) == hemstitch.compress(text)
    assert hemstitch.restore(hemstitch.compress(text), **_options.RESTORE_DEFAULTS) == text


def test_formats_that_types_name_are_those_of_the_library():
    from typing import get_args

    from hemstitch import _options

    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.compress(b"", format="none of them")
    known = re.search("it may be ([a-z0-9, ]+)", str(caught.value))[1].strip().split(", ")
    assert sorted(get_args(_options.CompressFormat)) == sorted(known)
    assert get_args(_options.RestoreFormat) == ("auto",) + get_args(_options.CompressFormat)
