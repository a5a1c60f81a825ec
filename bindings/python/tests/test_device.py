"""Device arrays. Without a GPU a device's memory is played by the host's; what is really one is tested where there is one."""

import array
import ctypes
import gc
import gzip
import pathlib
import weakref
import zlib

import lz4.frame
import numpy
import pytest

import hemstitch
from device_stand_in import Array as OnDevice
from device_stand_in import Content, Core, held, put
from hemstitch import _device, _device_batch

NO_GPU = hemstitch.unavailable_reason("cuda")


class OnlyDlpack:
    """A tensor of another library, in host memory: DLPack and no buffer protocol."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def content_of(data):
    content = Content(len(data))
    put(content.address, data)
    return content


@pytest.fixture
def fake(monkeypatch):
    """A device on the host's memory; tells how files were loaded and saved."""
    calls = []

    def load(paths, **options):
        calls.append(options)
        return [content_of(hemstitch.restore(pathlib.Path(path).read_bytes())) for path in paths]

    def save(address, size, path, **options):
        calls.append(options)
        pathlib.Path(path).write_bytes(hemstitch.compress(ctypes.string_at(address, size)))
        return pathlib.Path(path).stat().st_size

    core = Core(hemstitch._core)
    core.load, core.save, core.files = load, save, calls
    monkeypatch.setattr(_device, "_core", core)
    monkeypatch.setattr(_device_batch, "_core", core)
    return core


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
    assert fake.files == [{"device": 3, "threads": 2, "verify_checksums": True, "stream": 77}]
    interface = array.__cuda_array_interface__
    assert (interface["shape"], interface["typestr"], interface["version"]) == ((len(text),), "|u1", 3)
    assert ctypes.string_at(interface["data"][0], array.nbytes) == text and len(array) == len(text)
    assert array.__dlpack_device__() == (2, 3) and array.restored_on_device
    assert "dltensor" in repr(array.__dlpack__(stream=1))
    with pytest.raises(BufferError):
        array.__dlpack__(copy=True)
    many = hemstitch.load_many([tmp_path / str(number) for number in range(3)])
    assert [one.nbytes for one in many] == [len(text) - number for number in range(3)] and fake.files[1]["device"] == 0
    assert hemstitch.load(tmp_path / "1", "cpu") == text[1:]
    for wrong in ("gpu", "cuda:", "cuda:x", "cpu:0"):
        with pytest.raises(hemstitch.Error, match="device is"):
            hemstitch.load(tmp_path / "0", wrong)


def test_dlpack_keeps_the_memory(fake, text, tmp_path):
    (tmp_path / "a").write_bytes(hemstitch.compress(text))
    array = hemstitch.load(tmp_path / "a")
    import gc
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
    assert held(array) == text
    assert fake.files == [{"device": 1, "threads": 0, "verify_checksums": True, "stream": 5}]
    assert hemstitch.restore(hemstitch.compress(text), device="cpu") == text
    for format, packed in (("zlib", zlib.compress(text)), ("deflate", zlib.compress(text)[2:-4])):
        assert held(hemstitch.restore(packed, device="cuda", format=format)) == text
        many = hemstitch.restore_many([packed, packed[:-20], packed], device="cuda", format=format, errors="return")
        assert held(many[0]) == held(many[2]) == text and many[1].status == hemstitch.Status.CORRUPT_BLOCK
    with pytest.raises(hemstitch.Error, match="'cpu'"):
        hemstitch.restore(b"", device="cuda", backend="cpu")
    with pytest.raises(hemstitch.Error, match="progress"):
        hemstitch.restore(b"", device="cuda", progress=print)
    for options in ({"max_bytes": 0}, {"return_used_bytes": True}, {"verify_checksums": False}, {"dictionary": b"abc"}):
        with pytest.raises(hemstitch.RequestError, match="works only for data"):
            hemstitch.restore(hemstitch.compress(b"abc"), device="cuda", **options)
    assert hemstitch.restore(hemstitch.compress(b"abc"), device="cuda", max_bytes=None, verify_checksums=True).tobytes() == b"abc"


def test_many_to_a_device(fake, text):
    contents = [text[number:5000 * number] for number in range(1, 7)] * 60
    packed = [hemstitch.compress(content, format=("lz4", "gzip", "bgzf")[number % 3]) for number, content in enumerate(contents)]
    assert list(map(held, hemstitch.restore_many(packed, device="cuda"))) == contents
    assert len(fake.files) == 2  # not all of their files open at once
    packed[7] = packed[7][:-9]
    many = hemstitch.restore_many(packed, device="cuda", errors="return")
    assert [i for i, one in enumerate(many) if isinstance(one, hemstitch.Error)] == [7] and held(many[8]) == contents[8]
    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.restore_many(packed, device="cuda")
    assert "of item 7" in getattr(caught.value, "__notes__", ["of item 7"])
    assert hemstitch.restore_many([], device="cuda") == []


FORMATS = {"lz4": lz4.frame.decompress, "gzip": gzip.decompress, "bgzf": gzip.decompress, "zlib": zlib.decompress,
           "deflate": lambda data: zlib.decompress(data, -15), "zstd": lambda data: hemstitch.restore(data, format="zstd", backend="cpu", threads=1)}


@pytest.mark.parametrize("format", FORMATS)
def test_device_arrays_in_and_out(fake, shapes, format):
    shapes = [shape[:1 << 20] for shape in shapes]
    arrays = [OnDevice(numpy.frombuffer(shape, "u1")) for shape in shapes]
    packed = hemstitch.compress_many(arrays, format=format, stream=7)
    for shape, one in zip(shapes, packed):
        assert FORMATS[format](held(one)) == shape
        assert one.__cuda_array_interface__["stream"] == 7
    assert fake.streams == {(0, 7)}
    waits = fake.waits
    restored = hemstitch.restore_many(packed, stream=7, format=format)
    assert list(map(held, restored)) == shapes
    assert fake.waits == waits + 1  # for all of them
    single = hemstitch.compress(arrays[5], format=format, level=5)
    assert hemstitch.restore(single, format=format).tobytes() == shapes[5]
    # What another library holds: only its bytes tell where its blocks are.
    foreign = OnDevice(numpy.frombuffer(held(single), "u1"))
    assert held(hemstitch.restore(foreign, format=format)) == shapes[5]
    assert hemstitch.restore(foreign, format=format, device="cpu") == shapes[5]


@pytest.mark.parametrize("format", ["gzip", "bgzf", "lz4", "zstd"])
def test_more_than_a_block(fake, text, format, monkeypatch):
    monkeypatch.setattr(_device_batch, "_STRETCH_BYTES", 3 << 20)
    contents = [(text * 12)[:size] for size in (1 << 20, (1 << 20) + 1, 9_000_000, 0, 5)]
    packed = hemstitch.compress_many([OnDevice(numpy.frombuffer(content, "u1")) for content in contents], format=format)
    assert [FORMATS[format](held(one)) for one in packed] == contents
    assert list(map(held, hemstitch.restore_many(packed))) == contents
    if format == "bgzf":
        assert held(packed[0]).endswith(hemstitch.compress(b"", format="bgzf"))
    for narrow in ("zlib", "deflate"):
        with pytest.raises(hemstitch.Error, match="1048576"):
            hemstitch.compress(OnDevice(numpy.frombuffer(contents[1], "u1")), format=narrow)


def test_zstandard_on_the_device(fake, text):
    """Frames of 4 MiB at most. The processor restores those of others, which do not tell where they end."""
    content = (text * 40)[:9_000_000]
    packed = hemstitch.compress(OnDevice(numpy.frombuffer(content, "u1")), format="zstd")
    frames = held(packed)
    assert frames.count(b"\x28\xb5\x2f\xfd") == 3 and hemstitch.restore(frames) == content
    assert held(hemstitch.restore(packed)) == content and fake.restored == ["zstd"]
    theirs = [hemstitch.compress(text, format="zstd"), hemstitch.compress(text, format="lz4"), frames, frames[:-1]]
    restored = hemstitch.restore_many(theirs, device="cuda", stream=4, errors="return")
    assert [held(one) for one in restored[:3]] == [text, text, content] and isinstance(restored[3], hemstitch.Error)
    assert held(hemstitch.restore(theirs[0], device="cuda", format="zstd")) == text
    for option in ({"seekable_bytes": 1 << 20}, {"window_log": 24}):
        with pytest.raises(hemstitch.Error, match="only for data on the host"):
            hemstitch.compress(OnDevice(numpy.arange(10)), format="zstd", **option)


def test_what_is_damaged_on_the_device(fake, text):
    text = text[:1 << 20]
    for format in ("lz4", "zlib", "gzip", "zstd"):
        good, bad = hemstitch.compress_many([OnDevice(numpy.frombuffer(text, "u1"))] * 2, format=format)
        # In its middle: a block's bytes, or its checksum's.
        put(bad._address + bad.nbytes // 2, bytes(100))
        one, other = hemstitch.restore_many([good, bad], errors="return", format=format)
        assert held(one) == text and other.status == hemstitch.Status.CORRUPT_BLOCK
        with pytest.raises(hemstitch.Error, match="did not restore"):
            hemstitch.restore(bad, format=format)


def test_out_on_the_device(fake, text):
    given = numpy.frombuffer(text, "u1")
    room, packed = numpy.zeros(len(text), "u1"), numpy.zeros(len(text), "u1")
    size = hemstitch.compress(OnDevice(given), out=OnDevice(packed), stream=3)
    assert lz4.frame.decompress(packed[:size].tobytes()) == text
    frame = packed[:size].tobytes()
    for data in (OnDevice(packed[:size]), frame, hemstitch.compress(OnDevice(given))):
        room[:] = 0
        assert hemstitch.restore(data, out=OnDevice(room)) == len(text)
        assert room.tobytes() == text
    host = bytearray(len(text))
    assert hemstitch.restore(hemstitch.compress(OnDevice(given)), out=host) == len(text) and host == text
    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.restore(frame, out=OnDevice(room[:-1]))
    assert caught.value.status == hemstitch.Status.OUTPUT_TOO_SMALL
    with pytest.raises(BufferError, match="read-only"):
        hemstitch.restore(frame, out=OnDevice(room, read_only=True))
    # To be read, it may be.
    assert lz4.frame.decompress(held(hemstitch.compress(OnDevice(given, read_only=True)))) == text


def test_order_of_streams(fake):
    values = numpy.arange(1000)

    class Stream:
        cuda_stream = 98

    hemstitch.compress(OnDevice(values, stream=12))
    assert fake.orders == [] and {stream for _, stream in fake.streams} == {12}
    fake.streams.clear()
    packed = hemstitch.compress(OnDevice(values, stream=12), stream=Stream())
    assert fake.orders == [(12, 98)] and {stream for _, stream in fake.streams} == {98}
    hemstitch.restore(packed, stream=99)
    assert fake.orders[1:] == [(98, 99)]
    packed.__dlpack__(stream=55)
    assert fake.orders[2:] == [(98, 55)]
    packed.__dlpack__(stream=-1)
    hemstitch.compress_many([OnDevice(values, stream=12), OnDevice(values, stream=13), OnDevice(values)])
    assert fake.orders[3:] == [(13, 12), (0, 12)]
    with pytest.raises(TypeError, match="stream is a number"):
        hemstitch.compress(OnDevice(values), stream="default")


def test_arrays_that_have_the_buffer_protocol_and_a_device(fake):
    """As CuPy's, which refuse it."""
    values = numpy.arange(60_000, dtype="<i4")

    class LikeCupy(array.array):
        __cuda_array_interface__ = OnDevice(values).__cuda_array_interface__

    for packed in (hemstitch.compress(LikeCupy("B")), *hemstitch.compress_many([LikeCupy("B")])):
        assert isinstance(packed, hemstitch.DeviceArray)
    room = LikeCupy("B")
    assert hemstitch.restore(packed, out=room) == values.nbytes


def test_streams_go_after_the_memory_that_is_freed_on_them(fake, text, tmp_path):
    (tmp_path / "a").write_bytes(hemstitch.compress(text))

    class Stream:
        cuda_stream = 98

    for make in (lambda stream: hemstitch.compress(OnDevice(numpy.arange(1000)), stream=stream),
                 lambda stream: hemstitch.restore(hemstitch.compress(text), device="cuda", stream=stream),
                 lambda stream: hemstitch.load(tmp_path / "a", stream=stream)):
        gone = []
        stream = Stream()
        array = make(stream)
        weakref.finalize(stream, gone.append, "stream")
        weakref.finalize(array._content, gone.append, "memory")
        del stream
        capsule = array.__dlpack__()
        for noted in (fake.streams, fake.orders, fake.files):  # of the calls, by the played device
            noted.clear()
        del array
        gc.collect()
        assert gone == []
        del capsule
        gc.collect()
        assert gone == ["memory", "stream"]


def test_capsules_are_not_copied():
    values = numpy.arange(60_000, dtype="<i4")
    address, size, kind, number, keep = _device._tensor(values.__dlpack__())
    assert (address, size, kind, number) == (values.ctypes.data, values.nbytes, 1, 0) and keep is not None


def test_what_is_refused_of_device_arrays(fake):
    values = numpy.arange(60_000, dtype="<i4").reshape(100, 600)
    for bad in (values[:, ::2], values.T, values[::-1]):
        with pytest.raises(BufferError, match="C order"):
            hemstitch.compress(OnDevice(bad))
    for options, message in (({"format": "zip"}, "zip"), ({"level": 13}, "level"), ({"backend": "cpu"}, "only 'cuda'"),
                             ({"content_checksum": True}, "serial"), ({"progress": print}, "progress"), ({"verify": True}, "verify works only"),
                             ({"dictionary": b"abc"}, "dictionary works only"), ({"linked_blocks": True}, "linked_blocks works only")):
        with pytest.raises(hemstitch.Error, match=message):
            hemstitch.compress(OnDevice(values), **options)
    with pytest.raises(TypeError, match="item 1"):
        hemstitch.compress_many([OnDevice(values), b"host"])
    with pytest.raises(hemstitch.Error, match="device 0"):
        hemstitch.restore(hemstitch.compress(OnDevice(values)), device="cuda:1")
    for nothing in (object(), 5, "text"):
        with pytest.raises(TypeError, match="buffer protocol"):
            hemstitch.compress(nothing)


def test_elements(fake):
    values = numpy.arange(24, dtype="<f8").reshape(2, 3, 4)
    content = content_of(values.tobytes())
    array = _device.DeviceArray(content, 0, shape=values.shape, typestr="<f8")
    assert len(array) == 2 and array.__cuda_array_interface__["shape"] == (2, 3, 4)
    assert "dltensor" in repr(array.__dlpack__())
    with pytest.raises(BufferError, match="<U3"):
        _device.DeviceArray(content, 0, typestr="<U3").__dlpack__()


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
        assert fake.files[-1] == {"format": "lz4", "level": 1, "block_bytes": 0, "threads": 0, "stream": number}
        assert size == (tmp_path / "a.lz4").stat().st_size
        assert lz4.frame.decompress((tmp_path / "a.lz4").read_bytes()) == values.tobytes()
    hemstitch.save(OnDevice(values), tmp_path / "a.zst", format="zstd", block_bytes=1 << 20)
    assert fake.files[-1] == {"format": "zstd", "level": None, "block_bytes": 1 << 20, "threads": 0, "stream": 0}
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
    hemstitch.save(values, tmp_path / "a.zst", format="zstd")
    assert hemstitch.restore((tmp_path / "a.zst").read_bytes(), format="zstd") == values.tobytes()
    (tmp_path / "a.zst").unlink()
    with pytest.raises(FileNotFoundError):
        hemstitch.save(values, tmp_path / "missing" / "a.lz4")
    assert {path.name for path in tmp_path.iterdir()} == {"a.lz4"}


needs_gpu = pytest.mark.skipif(NO_GPU is not None, reason=f"no GPU here: {NO_GPU}")


class Cupy:
    def __init__(self):
        self.module = pytest.importorskip("cupy")

    def array(self, values):
        return self.module.asarray(values)

    def host(self, array):
        return self.module.asnumpy(array)

    def taken(self, array):
        return self.module.from_dlpack(array)

    def stream(self):
        return self.module.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def spoiled(self, array):
        array[array.size // 2:array.size // 2 + 100] = 0


class Torch(Cupy):
    def __init__(self):
        self.module = pytest.importorskip("torch")

    def array(self, values):
        return self.module.from_numpy(values.copy()).cuda()

    def host(self, array):
        return array.cpu().numpy()

    def stream(self):
        return self.module.cuda.Stream()

    def on(self, stream):
        return self.module.cuda.stream(stream)

    def spoiled(self, array):
        array[array.numel() // 2:array.numel() // 2 + 100] = 0


@needs_gpu
@pytest.mark.parametrize("library", [Cupy, Torch])
class TestOnAGpu:
    def test_files(self, library, text, tmp_path):
        library = library()
        values = numpy.arange(5_000_000, dtype="f4")
        hemstitch.save(library.array(values), tmp_path / "a.lz4")
        assert lz4.frame.decompress((tmp_path / "a.lz4").read_bytes()) == values.tobytes()
        array = hemstitch.load(tmp_path / "a.lz4")
        assert array.restored_on_device and library.host(library.taken(array)).tobytes() == values.tobytes()
        again = hemstitch.restore(hemstitch.compress(text), device="cuda")
        assert library.host(library.taken(again)).tobytes() == text
        for _ in range(200):  # memory is given back
            library.taken(hemstitch.load(tmp_path / "a.lz4"))

    @pytest.mark.parametrize("format", FORMATS)
    def test_in_and_out(self, library, shapes, format):
        library = library()
        shapes = [shape[:1 << 20] for shape in shapes]
        arrays = [library.array(numpy.frombuffer(shape, "u1")) for shape in shapes]
        packed = hemstitch.compress_many(arrays, format=format)
        assert [FORMATS[format](one.tobytes()) for one in packed] == shapes
        for some in (packed, [one.tobytes() for one in packed], [library.taken(one) for one in packed if one.nbytes]):
            restored = hemstitch.restore_many(some, device="cuda", format=format)
            assert [one.tobytes() for one in restored] == shapes
        if format == "lz4":  # the twins' bytes
            assert [one.tobytes() for one in packed] == [hemstitch.compress(shape, backend="reference") for shape in shapes]

    @pytest.mark.parametrize("format", ["lz4", "gzip", "bgzf", "zstd"])
    def test_large(self, library, text, format):
        library = library()
        content = (text * 300)[:300_000_001]
        array = library.array(numpy.frombuffer(content, "u1"))
        packed = hemstitch.compress(array, format=format)
        assert packed.nbytes < len(content) and hemstitch.restore(packed.tobytes()) == content
        assert hemstitch.restore(packed).tobytes() == content
        assert hemstitch.restore(library.taken(packed)).tobytes() == content

    def test_stream_of_the_callers(self, library):
        library = library()
        stream = library.stream()
        for number in range(20):
            with library.on(stream):
                values = library.array(numpy.zeros(3_000_000, "u1"))
                values += number  # on the stream: still to come
                packed = hemstitch.compress(values, stream=stream)
                restored = library.taken(hemstitch.restore(packed, stream=stream))
                assert (library.host(restored) == number).all()

    def test_out(self, library, text):
        library = library()
        given, room = library.array(numpy.frombuffer(text, "u1")), library.array(numpy.zeros(len(text), "u1"))
        packed = hemstitch.compress(given)
        for data in (packed, packed.tobytes()):
            assert hemstitch.restore(data, out=room) == len(text)
            assert library.host(room).tobytes() == text

    def test_damage(self, library, text):
        library = library()
        text = text[:1 << 20]
        for format in ("lz4", "zlib", "gzip"):
            packed = hemstitch.compress(library.array(numpy.frombuffer(text, "u1")), format=format)
            library.spoiled(library.taken(packed))
            with pytest.raises(hemstitch.Error) as caught:
                hemstitch.restore(packed, format=format)
            assert caught.value.status in (hemstitch.Status.CORRUPT_BLOCK, hemstitch.Status.BLOCK_CHECKSUM_MISMATCH,
                                           hemstitch.Status.CONTENT_CHECKSUM_MISMATCH, hemstitch.Status.CONTENT_SIZE_MISMATCH)
            with pytest.raises(hemstitch.Error):
                hemstitch.restore(packed.tobytes(), format=format, device="cuda")
