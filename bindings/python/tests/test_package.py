"""The package as a whole: names, types, what is said of it."""

import inspect
import pathlib
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


def test_statuses_are_those_of_the_header():
    header = (pathlib.Path(__file__).parents[3] / "include" / "hemstitch" / "hemstitch.h").read_text()
    for status in hemstitch.Status:
        assert f"HEMSTITCH_{status.name} = {int(status)}" in header
    assert header.count(" = ") >= len(hemstitch.Status)


def test_types_are_those_of_the_module(tmp_path):
    pytest.importorskip("nanobind")
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "hemstitch._core", "-O", tmp_path], check=True)
    stub = pathlib.Path(__file__).parents[1] / "hemstitch" / "_core.pyi"
    assert (tmp_path / "_core.pyi").read_text() == stub.read_text(), "make it anew: python -m nanobind.stubgen -m hemstitch._core -O bindings/python/hemstitch"
    assert (pathlib.Path(hemstitch.__file__).parent / "py.typed").exists()


def test_it_imports_without_what_it_can_do_without():
    code = "import sys\nfor name in ('numpy', 'zarr', 'numcodecs', 'h5py', 'dask'): sys.modules[name] = None\nimport hemstitch\nassert hemstitch.restore(hemstitch.compress(b'abc')) == b'abc'"
    subprocess.run([sys.executable, "-c", code], check=True)
