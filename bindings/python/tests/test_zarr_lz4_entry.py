"""docs/extensions/zarr-lz4, an entry for Zarr's list of codecs: the example is what the page says, and numcodecs and we read it."""

import importlib.util
import json
import shutil
import struct
from pathlib import Path

import numpy
import pytest

numcodecs = pytest.importorskip("numcodecs")
zarr = pytest.importorskip("zarr")

import hemstitch.zarr

ENTRY = Path(__file__).resolve().parents[3] / "docs" / "extensions" / "zarr-lz4"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("make_example", ENTRY / "make_example.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_example_is_read_by_its_rules(script):
    metadata = json.loads((ENTRY / "example.zarr" / "zarr.json").read_text())
    schema = json.loads((ENTRY / "schema.json").read_text())
    codec = metadata["codecs"][1]
    assert codec["name"] == schema["oneOf"][0]["properties"]["name"]["const"] == schema["oneOf"][1]["const"]
    assert codec["configuration"].keys() == schema["oneOf"][0]["properties"]["configuration"]["properties"].keys()
    padded = numpy.full((32, 32), script.FILL_VALUE, "<u2")
    padded[:20, :30] = script.values()
    files = {file.relative_to(ENTRY / "example.zarr").as_posix(): file.read_bytes() for file in (ENTRY / "example.zarr").rglob("*") if file.is_file()}
    assert files.keys() == {"zarr.json", "c/0/0", "c/0/1", "c/1/0"}
    for row, column in ((0, 0), (0, 1), (1, 0)):
        chunk = files[f"c/{row}/{column}"]
        content = padded[16 * row:16 * row + 16, 16 * column:16 * column + 16].tobytes()
        assert struct.unpack_from("<I", chunk)[0] == len(content)
        assert bytes(numcodecs.lz4.LZ4().decode(chunk)) == content
        assert hemstitch.restore_lz4_blocks([chunk[4:]], [len(content)]) == [content]


def test_we_read_and_write_the_same(script, tmp_path):
    """Under the name by which zarr knows this encoding."""
    folder = tmp_path / "renamed.zarr"
    shutil.copytree(ENTRY / "example.zarr", folder)
    metadata = folder / "zarr.json"
    metadata.write_text(metadata.read_text().replace('"lz4"', '"numcodecs.lz4"'))
    with hemstitch.zarr.enable():
        assert (hemstitch.zarr.read(zarr.open_array(folder)) == script.values()).all()


def test_the_script_makes_the_example(script, tmp_path):
    script.main(str(tmp_path / "example.zarr"))
    made, kept = (json.loads((root / "example.zarr" / "zarr.json").read_text()) for root in (tmp_path, ENTRY))
    assert made == kept
    with pytest.raises(SystemExit, match="is there"):
        script.main(str(tmp_path / "example.zarr"))
