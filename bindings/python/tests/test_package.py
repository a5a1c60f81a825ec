"""The package as a whole: names, types, what is said of it."""

import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import hemstitch


def test_names():
    for name in hemstitch.__all__:
        value = getattr(hemstitch, name)
        assert name == "MATCH" or inspect.getdoc(value), f"{name} says nothing of itself"
    header = (pathlib.Path(__file__).parents[3] / "include" / "hemstitch" / "version.h").read_text()
    assert f'"{hemstitch.__version__}"' in header


def test_names_that_it_does_not_have():
    for name, says in (("decompress", "; hemstitch.restore stands for it here"), ("nothing", "")):
        with pytest.raises(AttributeError, match=f"^module 'hemstitch' has no attribute '{name}'{says}$"):
            getattr(hemstitch, name)
    assert all(hasattr(hemstitch, name) for name in hemstitch._OTHER_NAMES.values())
    code = "import hemstitch\nfor name in hemstitch._MODULES:\n try: getattr(hemstitch, name)\n except AttributeError as error: print(error)"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.splitlines()
    assert said == [f"module 'hemstitch' has no attribute '{name}' until it is imported: import hemstitch.{name}" for name in hemstitch._MODULES]


def test_statuses_are_those_of_the_header():
    header = (pathlib.Path(__file__).parents[3] / "include" / "hemstitch" / "hemstitch.h").read_text()
    [numbers] = re.findall(r"^typedef enum hemstitch_status \{(.*?)^\}", header, re.MULTILINE | re.DOTALL)
    assert re.findall(r"HEMSTITCH_(\w+) = (\d+)", numbers) == [(status.name, str(int(status))) for status in hemstitch.Status]


def test_types_are_those_of_the_module(tmp_path):
    pytest.importorskip("nanobind")
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "hemstitch._core", "-O", tmp_path], check=True)
    stub = pathlib.Path(__file__).parents[1] / "hemstitch" / "_core.pyi"
    assert (tmp_path / "_core.pyi").read_text() == stub.read_text(), "make it anew: python -m nanobind.stubgen -m hemstitch._core -O bindings/python/hemstitch"
    assert (pathlib.Path(hemstitch.__file__).parent / "py.typed").exists()


def test_it_imports_without_what_it_can_do_without():
    without = "import sys\nfor name in ('numpy', 'zarr', 'numcodecs', 'h5py', 'dask'): sys.modules[name] = None\n"
    code = """import hemstitch
assert hemstitch.restore(hemstitch.compress(b'abc')) == b'abc'
text = b'a stitch in time saves nine, ' * 20
found = [[part.tolist() for part in hemstitch.Searcher('stitch').find(text)]]
matcher = hemstitch.Matcher(finder="hash_chain")
found += [[tuple(match) for match in matcher.find(text)], list(matcher.candidates(text)), hemstitch.evaluate(text)]
print(found)
"""
    with_it, without_it = (subprocess.run([sys.executable, "-c", way + code], check=True, capture_output=True, text=True).stdout for way in ("", without))
    plain = lambda shown: re.sub(r"np\.\w+\((\d+)\)", r"\1", shown)
    assert plain(without_it) == plain(with_it) and "(29, 29, " in plain(with_it)
