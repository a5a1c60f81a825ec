"""Device arrays. Without a GPU a device's memory is played by the host's; what is really one is tested where there is one."""

import ctypes
import pathlib

import lz4.frame
import numpy
import pytest

import hemstitch
from hemstitch import _device

NO_GPU = hemstitch.unavailable_reason("cuda")


class OnlyDlpack:
    """A tensor of another library, in host memory: DLPack and no buffer protocol."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class OnDevice:
    """An array that says it is on a device."""

    def __init__(self, array, stream=None):
        self._array = array
        self.__cuda_array_interface__ = dict(array.__array_interface__, version=3, stream=stream)


class FakeContent:
    def __init__(self, content):
        self._memory = (ctypes.c_ubyte * len(content)).from_buffer_copy(content)
        self.address, self.bytes, self.restored_on_device = ctypes.addressof(self._memory), len(content), True


@pytest.fixture
def fake(monkeypatch):
    """The module's device calls, on host memory; tells how they were called."""
    calls = []

    def load(paths, **options):
        calls.append(options)
        return [FakeContent(hemstitch.restore(pathlib.Path(path).read_bytes())) for path in paths]

    def save(address, size, path, **options):
        calls.append(options)
        pathlib.Path(path).write_bytes(hemstitch.compress(ctypes.string_at(address, size)))
        return pathlib.Path(path).stat().st_size

    class Core:
        def __getattr__(self, name):
            return {"load": load, "save": save}.get(name) or getattr(hemstitch._core, name)

    monkeypatch.setattr(_device, "_core", Core())
    return calls


def test_tensors_in_host_memory():
    values = numpy.arange(100_000, dtype="<f4").reshape(100, 1000)
    packed = hemstitch.compress(OnlyDlpack(values), level=3)
    assert packed == hemstitch.compress(values, level=3)
    assert hemstitch.restore(OnlyDlpack(numpy.frombuffer(bytearray(packed), "u1"))) == values.tobytes()
    assert lz4.frame.decompress(hemstitch.compress(OnlyDlpack(numpy.empty((0, 3))))) == b""
    with pytest.raises(BufferError, match="C order"):
        hemstitch.compress(OnlyDlpack(values[:, ::2]))


def test_where_there_is_no_gpu(text, tmp_path):
    if NO_GPU is None:
        pytest.skip("there is one")
    assert "cuda" in NO_GPU
    values = numpy.arange(1000)
    (tmp_path / "a.lz4").write_bytes(hemstitch.compress(text))
    for call in (lambda: hemstitch.load(tmp_path / "a.lz4"), lambda: hemstitch.save(OnDevice(values), tmp_path / "b"),
                 lambda: hemstitch.restore(hemstitch.compress(text), device="cuda"), lambda: hemstitch.compress(OnDevice(values)),
                 lambda: hemstitch.compress(text, backend="cuda")):
        with pytest.raises(hemstitch.Error) as caught:
            call()
        assert caught.value.status in (hemstitch.Status.DEVICE_UNAVAILABLE, hemstitch.Status.UNKNOWN_BACKEND)
        assert len(str(caught.value)) > 40
    assert not (tmp_path / "b").exists()


def test_load(fake, text, tmp_path):
    for number in range(3):
        (tmp_path / f"{number}").write_bytes(hemstitch.compress(text[number:]))
    array = hemstitch.load(tmp_path / "0", "cuda:3", stream=77, threads=2)
    assert fake == [{"device": 3, "threads": 2, "verify_checksums": True, "stream": 77}]
    interface = array.__cuda_array_interface__
    assert (interface["shape"], interface["typestr"], interface["version"]) == ((len(text),), "|u1", 3)
    assert ctypes.string_at(interface["data"][0], array.nbytes) == text and len(array) == len(text)
    assert array.__dlpack_device__() == (2, 3) and array.restored_on_device
    assert "dltensor" in repr(array.__dlpack__(stream=1))
    with pytest.raises(BufferError):
        array.__dlpack__(copy=True)
    many = hemstitch.load_many([tmp_path / str(number) for number in range(3)])
    assert [one.nbytes for one in many] == [len(text) - number for number in range(3)] and fake[1]["device"] == 0
    assert hemstitch.load(tmp_path / "1", "cpu") == text[1:]
    for wrong in ("gpu", "cuda:", "cuda:x", "cpu:0"):
        with pytest.raises(hemstitch.Error, match="device is"):
            hemstitch.load(tmp_path / "0", wrong)


def test_dlpack_keeps_the_memory(fake, text, tmp_path):
    (tmp_path / "a").write_bytes(hemstitch.compress(text))
    array = hemstitch.load(tmp_path / "a")
    import gc
    import weakref

    content = weakref.ref(array._content)
    capsule = array.__dlpack__()
    del array
    gc.collect()
    assert content() is not None
    del capsule
    gc.collect()
    assert content() is None


def test_restore_to_a_device(fake, text):
    array = hemstitch.restore(hemstitch.compress(text), device="cuda:1", stream=5)
    assert ctypes.string_at(array.__cuda_array_interface__["data"][0], array.nbytes) == text
    assert fake == [{"device": 1, "threads": 0, "verify_checksums": True, "stream": 5}]
    assert hemstitch.restore(hemstitch.compress(text), device="cpu") == text
    with pytest.raises(hemstitch.Error, match="exclude"):
        hemstitch.restore(hemstitch.compress(text), device="cuda", out=bytearray(5))
    with pytest.raises(hemstitch.Error, match="'zlib'"):
        hemstitch.restore(b"", device="cuda", format="zlib")


def test_save(fake, tmp_path):
    values = numpy.arange(60_000, dtype="<i4").reshape(3, 100, 200)

    class Stream:
        def __cuda_stream__(self):
            return 0, 99

    class Ptr:
        ptr = 98

    for array, stream, number in [(OnDevice(values), None, 0), (OnDevice(values, stream=12), None, 12), (OnDevice(values), 7, 7),
                                  (OnDevice(values), Stream(), 99), (OnDevice(values), Ptr(), 98)]:
        size = hemstitch.save(array, tmp_path / "a.lz4", level=1, stream=stream)
        assert fake[-1] == {"level": 1, "block_bytes": 0, "threads": 0, "stream": number}
        assert size == (tmp_path / "a.lz4").stat().st_size
        assert lz4.frame.decompress((tmp_path / "a.lz4").read_bytes()) == values.tobytes()
    # One piece of memory with its strides said.
    array = OnDevice(values)
    array.__cuda_array_interface__["strides"] = values.strides
    hemstitch.save(array, tmp_path / "a.lz4")
    assert lz4.frame.decompress((tmp_path / "a.lz4").read_bytes()) == values.tobytes()
    for bad in (values[:, ::2], values.T):
        with pytest.raises(BufferError, match="C order"):
            hemstitch.save(OnDevice(bad), tmp_path / "b.lz4")
    assert not (tmp_path / "b.lz4").exists()


def test_save_of_host_arrays(tmp_path):
    values = numpy.arange(60_000, dtype="<i4")
    for array in (values, OnlyDlpack(values), values.tobytes()):
        if isinstance(array, OnlyDlpack):
            array_bytes = hemstitch.compress(array)
            assert lz4.frame.decompress(array_bytes) == values.tobytes()
        else:
            assert hemstitch.save(array, tmp_path / "a.lz4") == (tmp_path / "a.lz4").stat().st_size
            assert hemstitch.load(tmp_path / "a.lz4", "cpu") == values.tobytes()
    with pytest.raises(FileNotFoundError):
        hemstitch.save(values, tmp_path / "missing" / "a.lz4")
    assert {path.name for path in tmp_path.iterdir()} == {"a.lz4"}


@pytest.mark.skipif(NO_GPU is not None, reason=f"no GPU here: {NO_GPU}")
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_on_a_gpu(library, text, tmp_path):
    module = pytest.importorskip(library)
    if library == "cupy":
        given = module.arange(5_000_000, dtype="f4")
        as_host, taken = module.asnumpy, module.from_dlpack
    else:
        given = module.arange(5_000_000, dtype=module.float32, device="cuda")
        as_host, taken = lambda tensor: tensor.cpu().numpy(), module.from_dlpack
    hemstitch.save(given, tmp_path / "a.lz4")
    expected = as_host(given).tobytes()
    assert lz4.frame.decompress((tmp_path / "a.lz4").read_bytes()) == expected
    array = hemstitch.load(tmp_path / "a.lz4")
    assert array.restored_on_device and as_host(taken(array)).tobytes() == expected
    again = hemstitch.restore(hemstitch.compress(text), device="cuda")
    assert as_host(taken(again)).tobytes() == text
    for _ in range(200):  # memory is given back
        taken(hemstitch.load(tmp_path / "a.lz4"))
