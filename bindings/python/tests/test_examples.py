"""The programs of examples/python do what they say."""

import gzip
import importlib.util
import json
import pathlib
import sys

import numpy
import pytest

import hemstitch
from device_stand_in import Content, Core, held, put
from hemstitch import _device, _device_batch


def example(name):
    path = pathlib.Path(__file__).parents[3] / "examples" / "python" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def fake(monkeypatch):
    core = Core(hemstitch._core)
    core.load = loaded
    for module in (_device, _device_batch):
        monkeypatch.setattr(module, "_core", core)


def loaded(paths, **_):
    """What the module's load() does, by gzip."""
    contents = []
    for path in paths:
        text = gzip.decompress(pathlib.Path(path).read_bytes())
        contents.append(Content(len(text)))
        put(contents[-1].address, text)
    return contents


def test_state_dict(tmp_path):
    pytest.importorskip("zarr")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    state_dict = example("state_dict")
    values = numpy.random.default_rng(1).normal(size=(40, 50)).astype("f4")
    state = {"w": values.astype(ml_dtypes.bfloat16), "layer.b": values[0], "steps": numpy.array(3)}
    for _ in range(2):
        state_dict.save(state, tmp_path / "a", numpy)
    assert hemstitch.tensors.types(tmp_path / "a") == {"w": "bfloat16"}
    loaded = hemstitch.tensors.load(tmp_path / "a")
    assert (loaded["w"].view(ml_dtypes.bfloat16) == state["w"]).all() and (loaded["layer.b"] == values[0]).all() and loaded["steps"] == 3
    torch = pytest.importorskip("torch")
    state = {"w": torch.arange(9).to(torch.bfloat16), "b": torch.ones(3)}
    state_dict.save(state, tmp_path / "b")
    assert all(torch.equal(tensor, state[name]) for name, tensor in state_dict.load(tmp_path / "b").items())


def test_data_frame(fake, tmp_path):
    pytest.importorskip("pandas")
    data_frame = example("data_frame")
    rows = [{"number": i, "name": f"n{i % 7}"} for i in range(3000)]
    table = "number,name\n" + "".join(f"{row['number']},{row['name']}\n" for row in rows)
    for suffix, text in ("csv", table), ("json", "".join(json.dumps(row) + "\n" for row in rows)):
        path = tmp_path / f"t.{suffix}.gz"
        path.write_bytes(gzip.compress(text.encode()))
        frame = data_frame.read(str(path))
        assert frame["number"].tolist() == list(range(3000)) and frame["name"][8] == "n1"
        array = data_frame.text_on_device(str(path))
        assert held(array) == text.encode() and array.__dlpack_device__() == (2, 0)


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_npz_members(save, tmp_path):
    npz_members = example("npz_members")
    arrays = {"x": numpy.arange(9000) // 7, "y": numpy.ones((3, 4, 5), "f4", order="F"), "empty": numpy.zeros(0)}
    save(tmp_path / "a.npz", **arrays)
    read = npz_members.read(tmp_path / "a.npz")
    assert read.keys() == arrays.keys() and all((read[name] == array).all() and read[name].shape == array.shape for name, array in arrays.items())
    assert list(npz_members.read(tmp_path / "a.npz", ["y"])) == ["y"]
    data = bytearray((tmp_path / "a.npz").read_bytes())
    data[200] ^= 1
    (tmp_path / "b.npz").write_bytes(data)
    with pytest.raises((hemstitch.Error, sys.modules["zipfile"].BadZipFile)):
        npz_members.read(tmp_path / "b.npz", ["x"])
