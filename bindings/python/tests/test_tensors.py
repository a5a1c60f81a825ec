"""Dicts of arrays in Zarr groups: stock zarr reads them, nothing half-written stays, and what is missing is an error."""

import os
import tracemalloc

import numpy
import pytest

zarr = pytest.importorskip("zarr")

import hemstitch
import hemstitch.tensors as ours
from device_stand_in import Array as OnDevice
from device_stand_in import Core, held
from hemstitch import _device, _device_batch


def weights(shape, seed=1):
    """Of a trained distribution: normal, of a small deviation."""
    return (numpy.random.default_rng(seed).normal(size=shape) * 0.02).astype("<f4")


def as_bfloat16(values):
    return (values.view("<u4") >> 16).astype("<u2")


def stored_bytes(path):
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


TENSORS = {"embed.weight": weights((300, 64)), "layers/0/w": weights((64, 65), 2).astype("<f2"), "layers/1/w": weights((70,), 3).astype("<f8"),
           "step": numpy.int64(7), "mask": numpy.arange(1000).reshape(10, 100) % 3 == 0, "empty": numpy.zeros((0, 5), "<f4"),
           "phases": (weights((30, 3)) + 1j).astype("<c8"), "columns": numpy.asfortranarray(weights((40, 50))), "part": weights((40, 50))[::2, 3:9]}


def test_what_was_saved_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(ours, "CHUNK_BYTES", 5000)
    ours.save(TENSORS, tmp_path / "a")
    loaded = ours.load(tmp_path / "a")
    assert set(loaded) == set(TENSORS)
    for name, tensor in TENSORS.items():
        tensor = numpy.asarray(tensor)
        assert loaded[name].dtype == tensor.dtype and loaded[name].shape == tensor.shape and (loaded[name] == tensor).all(), name
    assert list(ours.load(tmp_path / "a", names=["step"])) == ["step"]
    with pytest.raises(KeyError, match="layers"):
        ours.load(tmp_path / "a", names=["layers"])
    # Others' readers, without us.
    group = zarr.open_group(tmp_path / "a", mode="r")
    assert (group["layers/0/w"][:] == TENSORS["layers/0/w"]).all() and type(group["step"].metadata.codecs[-1]).__module__ == "zarr.codecs.blosc"


def test_a_type_that_numpy_lacks(tmp_path):
    values = as_bfloat16(weights((1000, 500)))
    ours.save({"w": values, "b": values[0]}, tmp_path / "a", types={"w": "bfloat16"})
    assert ours.types(tmp_path / "a") == {"w": "bfloat16"} and (ours.load(tmp_path / "a")["w"] == values).all()
    assert values.nbytes / stored_bytes(tmp_path / "a" / "w") > 1.4
    ml_dtypes = pytest.importorskip("ml_dtypes")
    ours.save({"w": values.view(ml_dtypes.bfloat16), "q": values.view("u1").view(ml_dtypes.float8_e4m3fn)}, tmp_path / "b")
    assert ours.types(tmp_path / "b") == {"w": "bfloat16", "q": "float8_e4m3fn"}
    assert (ours.load(tmp_path / "b")["w"] == values).all()


def test_what_others_wrote(tmp_path):
    values = weights((40, 50))
    array = zarr.open_group(tmp_path / "a", mode="w").create_array("w", shape=values.shape, dtype=values.dtype, chunks=(10, 10), shards=(30, 30))
    array[...] = values
    assert (ours.load(tmp_path / "a")["w"] == values).all()


@pytest.mark.parametrize("tensors, types, word", [
    ({"": 1}, {}, "name"), ({"../a": 1}, {}, "name"), ({"/a": 1}, {}, "name"), ({"a//b": 1}, {}, "name"), ({"__a": 1}, {}, "name"),
    ({"a": 1, "a/b": 2}, {}, "inside"), ({"a": 1}, {"b": "bfloat16"}, "no tensor"), ({"a": 1}, {"a": "float4"}, "may be"),
    ({"a": numpy.zeros(3)}, {"a": "bfloat16"}, "8 bytes")])
def test_what_cannot_be_saved_leaves_nothing(tensors, types, word, tmp_path):
    with pytest.raises(hemstitch.Error, match=word):
        ours.save(tensors, tmp_path / "a", types=types)
    assert os.listdir(tmp_path) == []


def test_a_folder_is_there_as_a_whole_or_as_it_was(tmp_path, monkeypatch):
    ours.save({"a": numpy.arange(10)}, tmp_path / "a")
    with pytest.raises(FileExistsError):
        ours.save({"a": numpy.arange(5)}, tmp_path / "a")

    class Broken:
        def __array__(self, *_, **__):
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        ours.save({"b": numpy.arange(5), "c": Broken()}, tmp_path / "a", overwrite=True)
    assert os.listdir(tmp_path) == ["a"] and ours.load(tmp_path / "a")["a"].tolist() == list(range(10))
    real = os.rename

    def rename(source, target):
        if source.name == "new":
            raise OSError("the new one cannot go there")
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(OSError, match="cannot"):
        ours.save({"b": numpy.arange(5)}, tmp_path / "a", overwrite=True)
    assert os.listdir(tmp_path) == ["a"] and list(ours.load(tmp_path / "a")) == ["a"]
    monkeypatch.undo()
    ours.save({"b": numpy.arange(5)}, tmp_path / "a", overwrite=True)
    assert os.listdir(tmp_path) == ["a"] and list(ours.load(tmp_path / "a")) == ["b"]


class Interrupted(Exception):
    pass


def interrupt_at(monkeypatch, number):
    """The n-th piece that is written is not; [how many were]"""
    real, count = zarr.Array.__setitem__, [0]

    def put(array, selection, values):
        count[0] += 1
        if count[0] == number:
            raise Interrupted
        real(array, selection, values)

    monkeypatch.setattr(zarr.Array, "__setitem__", put)
    return count


@pytest.mark.parametrize("on_device", [False, True])
def test_what_was_interrupted_goes_on(on_device, tmp_path, monkeypatch):
    if on_device:
        core = Core(hemstitch._core)
        for module in (_device, _device_batch):
            monkeypatch.setattr(module, "_core", core)
    monkeypatch.setattr(ours, "CHUNK_BYTES", 2000)
    monkeypatch.setattr(ours, "STAGING_BYTES", 4000)
    tensors = {"a": weights((100, 70)), "b/c": weights((3, 5, 400), 2), "d": numpy.zeros(5000, "u1"), "e": numpy.int64(4)}
    given = {name: OnDevice(numpy.array(tensor)) if on_device else tensor for name, tensor in tensors.items()}
    with monkeypatch.context() as patch:
        all_pieces = interrupt_at(patch, 0)
        ours.save(given, tmp_path / "other")
    for at in (1, 5, 11, all_pieces[0]):
        with monkeypatch.context() as patch:
            interrupt_at(patch, at)
            with pytest.raises(Interrupted):
                ours.save(given, tmp_path / "a", resume=True)
        assert sorted(os.listdir(tmp_path)) == [".a.unfinished", "other"]
        with monkeypatch.context() as patch:
            written = interrupt_at(patch, 0)
            ours.save(given, tmp_path / "a", resume=True)
            assert written[0] == all_pieces[0] - at + 1
        assert sorted(os.listdir(tmp_path)) == ["a", "other"]
        loaded = ours.load(tmp_path / "a")
        assert all((loaded[name] == tensor).all() for name, tensor in tensors.items())
        ours.shutil.rmtree(tmp_path / "a")


def test_what_stands_is_checked(tmp_path, monkeypatch):
    """Other values, types and names than before; chunks that are damaged, missing or half written."""
    monkeypatch.setattr(ours, "CHUNK_BYTES", 2000)
    monkeypatch.setattr(ours, "STAGING_BYTES", 2000)
    first = {"a": weights((2000,)), "b": weights((900,)), "gone": weights((10,)), "x": weights((10,)), "last": weights((10,))}
    pieces = interrupt_at(monkeypatch, 4 + 2 + 1 + 1 + 1)
    with pytest.raises(Interrupted):
        ours.save(first, tmp_path / "a", resume=True)
    new = tmp_path / ".a.unfinished" / "new"
    chunk = new / "a" / "c" / "1"
    chunk.write_bytes(chunk.read_bytes()[:-3])
    (new / "a" / "c" / "2").unlink()
    (new / "a" / "c" / "3.0123.partial").write_bytes(b"half")
    second = {"a": first["a"].copy(), "b": first["b"].astype("<f8"), "x/y": weights((10,)), "last": weights((10,))}
    second["a"][0] = 1
    pieces[0] = 100
    ours.save(second, tmp_path / "a", resume=True)
    assert pieces[0] == 100 + 3 + 4 + 1 + 1
    loaded = ours.load(tmp_path / "a")
    assert loaded.keys() == second.keys() and all((loaded[name] == tensor).all() for name, tensor in second.items())
    assert os.listdir(tmp_path) == ["a"] and not list((tmp_path / "a").rglob("*.partial"))
    ours.save({"n": numpy.arange(3)}, tmp_path / "a", resume=True, overwrite=True)
    assert os.listdir(tmp_path) == ["a"] and list(ours.load(tmp_path / "a")) == ["n"]
    with ours._unfinished(tmp_path / "b"), pytest.raises(hemstitch.Error, match="another call"):
        ours.save({"n": numpy.arange(3)}, tmp_path / "b", resume=True)


def test_pieces_are_whole_chunks_in_the_order_of_memory(monkeypatch):
    monkeypatch.setattr(ours, "CHUNK_BYTES", 96)
    for staging in (96, 200, 1000, 10**9):
        monkeypatch.setattr(ours, "STAGING_BYTES", staging)
        for shape in [(), (7,), (100,), (5, 40), (3, 4, 30), (2, 3, 4, 5), (100, 1, 1), (1, 1, 100), (9, 50, 2)]:
            for size in (1, 4, 8, 200):
                chunks, at = ours._chunks_of(shape, size), 0
                numbers = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape)
                for piece in ours._pieces(shape, chunks, size):
                    part = numbers[piece].reshape(-1)
                    assert (part == numpy.arange(at, at + part.size)).all()
                    assert all(one.start % chunk == 0 and (one.stop % chunk == 0 or one.stop == extent) for one, chunk, extent in zip(piece, chunks, shape))
                    assert part.size * size <= max(staging, numpy.prod(chunks) * size)
                    at += part.size
                assert at == numbers.size


def test_damage_and_absence_are_errors(tmp_path, monkeypatch):
    monkeypatch.setattr(ours, "CHUNK_BYTES", 4000)
    ours.save({"a": weights((3000,))}, tmp_path / "a")
    chunk = tmp_path / "a" / "a" / "c" / "1"
    whole = chunk.read_bytes()
    for bad in (whole[:-5], b"", whole[:4] + b"\xff" * 8 + whole[12:]):
        chunk.write_bytes(bad)
        with pytest.raises(hemstitch.Error, match="the chunk a/c/1"):
            ours.load(tmp_path / "a")
    chunk.unlink()
    with pytest.raises(hemstitch.Error, match="2 chunks of 3"):
        ours.load(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        ours.load(tmp_path / "b")


def test_devices(tmp_path, monkeypatch):
    core = Core(hemstitch._core)
    for module in (_device, _device_batch):
        monkeypatch.setattr(module, "_core", core)
    monkeypatch.setattr(ours, "CHUNK_BYTES", 3000)
    tensors = {name: numpy.array(tensor, order="C") for name, tensor in TENSORS.items()}
    ours.save({name: OnDevice(tensor) for name, tensor in tensors.items()}, tmp_path / "a")
    for name, array in ours.load(tmp_path / "a", device="cuda").items():
        assert array.shape == TENSORS[name].shape and array.host_chunks == 0
        assert held(array) == tensors[name].tobytes(), name
    assert "zstd" in core.restored


def test_little_of_a_device_is_on_the_host(tmp_path, monkeypatch):
    """Two pieces of a tensor at once."""
    core, most = Core(hemstitch._core), [0]
    for module in (_device, _device_batch):
        monkeypatch.setattr(module, "_core", core)
    monkeypatch.setattr(ours, "CHUNK_BYTES", 50_000)
    monkeypatch.setattr(ours, "STAGING_BYTES", 200_000)
    real = core.device_download

    def download(address, size, device, stream):
        most[0] = max(most[0], size)
        return real(address, size, device, stream)

    monkeypatch.setattr(core, "device_download", download, raising=False)
    values = weights((1000, 1000))
    given = OnDevice(values)
    tracemalloc.start()
    ours.save({"a": given}, tmp_path / "a")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 150_000 < most[0] <= 200_000 and peak < values.nbytes / 2
    assert (ours.load(tmp_path / "a")["a"] == values).all()
