"""Chunks of HDF5 and Zarr to a device's memory. Without a GPU the host's memory plays it; with one, what CuPy and PyTorch see is checked."""

import random

import numpy
import pytest

h5py = pytest.importorskip("h5py")
hdf5plugin = pytest.importorskip("hdf5plugin")
numcodecs = pytest.importorskip("numcodecs")
zarr = pytest.importorskip("zarr")

import hemstitch
import hemstitch.hdf5
import hemstitch.zarr
import numcodecs.lz4
from device_stand_in import Array as OnDevice
from device_stand_in import Core, held
from hemstitch import _device, _device_batch, _device_chunks
from test_hdf5 import FILTERS, damaged_chunks, values
from test_zarr import CODECS
from test_zarr import FILTERS as FILTERS_OF_ZARR
from test_zarr import stock
from zarr.core.buffer import cpu
from zarr.registry import register_buffer, register_ndbuffer

NO_GPU = hemstitch.unavailable_reason("cuda")


@pytest.fixture
def fake(monkeypatch):
    core = Core(hemstitch._core)
    for module in (_device, _device_batch):
        monkeypatch.setattr(module, "_core", core)
    return core


def array_of(device_array):
    return numpy.frombuffer(held(device_array), device_array.typestr).reshape(device_array.shape)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("dtype", ["u1", "<i2", ">f4", "<f8"])
def test_hdf5(fake, name, dtype, tmp_path, monkeypatch):
    data = values((53, 70), dtype)
    monkeypatch.setattr(_device_chunks, "BATCH_BYTES", 2000)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", data=data, chunks=(10, 30), **FILTERS[name])
        array = hemstitch.hdf5.read(dataset, device="cuda", stream=5)
        assert array.shape == data.shape and array.typestr == data.dtype.str and (array_of(array) == data).all()
        assert fake.streams == {(0, 5)}
        words = name.replace(",", "").split()
        restored = next((format for word, format in (("deflate", "zlib"), ("zlib", "zlib"), ("zstd", "zstd"), ("lz4", "lz4"), ("lz4hc", "lz4")) if word in words), None)
        if words[0] != "blosc":  # which stores some of these chunks
            assert (restored in fake.restored) if restored else not any("restore" in call for call in fake.calls)
        assert array.host_chunks == 0
        undone = {call for call in fake.calls if "shuffle" in call}
        if words[0] == "bitshuffle":
            assert undone == {"device_bitunshuffle"}
        elif words[0] != "blosc":
            assert undone == ({"device_unshuffle"} if "shuffle" in words and data.itemsize > 1 else set())


def random_selection(source, shape):
    selection = []
    for extent in shape[:source.randint(0, len(shape))]:
        if source.random() < 0.3:
            selection.append(source.randrange(extent))
        else:
            begin = source.randint(0, extent)
            selection.append(slice(begin, source.randint(begin, extent + 5), source.choice([1, 1, 2, 3, 10])))
    return tuple(selection)


@pytest.mark.parametrize("chunks", [(5, 7, 17), (5, 31, 17), (1, 16, 4), (23, 31, 17), (40, 3, 17)])
def test_any_selection(fake, chunks, tmp_path):
    data = values((23, 31, 17), "<i4")
    source = random.Random(8)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", data=data, maxshape=(None, 31, 17), chunks=chunks, **FILTERS["lz4, shuffle"])
        stored = zarr.create_array(tmp_path / "a.zarr", shape=data.shape, dtype=data.dtype, chunks=chunks, compressors=[CODECS["numcodecs.lz4"][0]()])
        stored[:] = data
        for selection in [(), (slice(0, 0),), 3, (2, ..., 3), (1, 2, 3), (slice(5, 20, 6),)] + [random_selection(source, data.shape) for _ in range(25)]:
            for array in (hemstitch.hdf5.read(dataset, selection, device="cuda"), hemstitch.zarr.read(stored, selection, device="cuda")):
                assert array.shape == data[selection].shape and (array_of(array) == data[selection]).all(), selection
        # What only h5py selects is uploaded.
        assert (array_of(hemstitch.hdf5.read(dataset, [1, 5], device="cuda")) == data[[1, 5]]).all()


def test_chunks_that_are_missing_or_have_no_filter(fake, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", shape=(400,), dtype="<i4", chunks=(10,), fillvalue=9, **FILTERS["deflate, shuffle"])
        dataset[13:17] = 1
        dataset.id.write_direct_chunk((30,), numpy.arange(10, dtype="<i4").tobytes(), filter_mask=3)
        for selection in (slice(0, 50), ()):  # asked chunk by chunk, and all at once
            assert (array_of(hemstitch.hdf5.read(dataset, selection, device="cuda")) == dataset[selection]).all()
        words = file.create_dataset("words", data=["a", "bc"] * 20, dtype=h5py.string_dtype(), chunks=(10,), compression="gzip")
        with pytest.raises(TypeError, match="variable length"):
            hemstitch.hdf5.read(words, device="cuda")
        with pytest.raises(hemstitch.Error, match="device is"):
            hemstitch.hdf5.read(dataset, device="gpu")


def test_files_whose_bytes_are_elsewhere(fake, tmp_path):
    data = values((40, 40), "<i4")
    for options in (dict(driver="core"), dict(userblock_size=512), dict(fs_strategy="page", fs_page_size=4096, page_buf_size=1 << 20)):
        with h5py.File(tmp_path / "a.h5", "w", **options) as file:
            dataset = file.create_dataset("a", data=data, chunks=(5, 40), **FILTERS["lz4"])
            assert (array_of(hemstitch.hdf5.read(dataset, device="cuda")) == data).all()


@pytest.mark.parametrize("name", ["deflate, shuffle", "lz4", "blosc, lz4", "bitshuffle, zstd"])
def test_damaged_chunks_raise(fake, name, tmp_path):
    for number, dataset, data in damaged_chunks(tmp_path / "a.h5", FILTERS[name], 60):
        assert (array_of(hemstitch.hdf5.read(dataset, slice(0, 2), device="cuda")) == data[:2]).all()
        try:
            read = hemstitch.hdf5.read(dataset, device="cuda")
        except hemstitch.Error as error:
            assert 200 <= error.status < 400 and str(error).startswith("the chunk at (2, 0) of /a: ")
        else:
            assert number >= 6 and (array_of(read) == hemstitch.hdf5.read(dataset)).all()


def test_a_chunk_that_holds_less_than_it_says(fake, tmp_path):
    data = values((4, 1000), "<i4")
    array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(1, 1000), compressors=[CODECS["numcodecs.lz4"][0]()])
    array[:] = data
    path = tmp_path / "a" / "c" / "2" / "0"
    path.write_bytes(path.read_bytes()[:4] + hemstitch.compress_lz4_blocks([data[2, :-1].tobytes()])[0])
    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.zarr.read(array, device="cuda")
    assert caught.value.status == hemstitch.Status.CONTENT_SIZE_MISMATCH


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("store", ["local", "memory"])
def test_zarr(fake, name, store, tmp_path):
    data = values((130, 250), "<i4")
    place = tmp_path / "a" if store == "local" else zarr.storage.MemoryStore()
    array = zarr.create_array(place, shape=data.shape, dtype=data.dtype, chunks=(20, 30), fill_value=3, compressors=[CODECS[name][0]()])
    array[20:] = data[20:]  # the first chunks stay missing
    data[:20] = 3
    read = hemstitch.zarr.read(array, device="cuda", stream=6)
    assert (array_of(read) == data).all() and fake.streams == {(0, 6)}
    codec_is_stocks = name in ("gzip stored", "zstd, a level of libzstd alone", "blosclz")
    assert any("restore" in call for call in fake.calls) != codec_is_stocks
    assert (read.host_chunks == 0) != codec_is_stocks
    assert (hemstitch.zarr.read(array, device="cpu") == data).all()


def test_zarr_in_other_ways(fake, tmp_path):
    """Shards, no codec, big-endian elements, Zarr 2."""
    data = values((64, 100), "<i4")
    for number, options in enumerate([dict(chunks=(8, 50), shards=(16, 100)), dict(chunks=(8, 50), compressors=None), dict(chunks=(8, 50), zarr_format=2),
                                      dict(chunks=(8, 50), serializer=zarr.codecs.BytesCodec(endian="big"), compressors=[CODECS["gzip"][0]()])]):
        array = zarr.create_array(tmp_path / str(number), shape=data.shape, dtype=data.dtype, **options)
        array[:] = data
        assert (array_of(hemstitch.zarr.read(array, device="cuda")) == data).all()


def test_zarr_2(fake, tmp_path):
    data = values((64, 100), "<i4")
    codec = numcodecs.Blosc(cname="zstd")
    for number, (on_device, dtype, options) in enumerate([
            (True, "<i4", {}), (True, ">i4", {}), (True, "<f8", dict(fill_value=None)), (False, "<i4", dict(order="F")),
            (False, "<i4", dict(filters=[numcodecs.Delta(dtype="<i4")])), (False, "<i4", dict(compressors=None)),
            (True, "<i4", dict(filters=[numcodecs.Shuffle(4)], compressors=numcodecs.Zlib())),
            (True, "<i4", dict(filters=[numcodecs.Shuffle(4)])),
            (False, "<i4", dict(filters=[numcodecs.Shuffle(4)], compressors=numcodecs.Blosc(cname="zstd", shuffle=2))), (False, "<i4", dict(filters=[numcodecs.Quantize(1, "<f4")], dtype="<f4"))]):
        array = zarr.create_array(tmp_path / str(number), **{"shape": data.shape, "dtype": dtype, "chunks": (20, 50), "zarr_format": 2, "compressors": codec, **options})
        array[20:] = data[20:]
        read = hemstitch.zarr.read(array, device="cuda")
        assert (array_of(read) == array[:]).all() and (read.host_chunks == 0) == on_device


@pytest.mark.parametrize("name", FILTERS_OF_ZARR)
@pytest.mark.parametrize("version", [2, 3])
def test_zarr_with_filters(fake, name, version, tmp_path, monkeypatch):
    """The processor undoes delta, chunk by chunk; a damaged chunk is named."""
    dtype, filters = FILTERS_OF_ZARR[name]
    data = values((75, 90), dtype)
    if version == 2:
        options = dict(zarr_format=2, filters=filters, compressors=[numcodecs.GZip(level=1)])
    else:
        if dtype[0] == ">":
            pytest.skip("Zarr 3 has an order of bytes of its own")
        config = [(filter, {name: value for name, value in filter.get_config().items() if name != "id"}) for filter in filters]
        deltas = [stock.Delta(**said) for filter, said in config if isinstance(filter, numcodecs.Delta)]
        shuffles = [stock.Shuffle(**said) for filter, said in config if isinstance(filter, numcodecs.Shuffle)]
        options = dict(filters=deltas, compressors=[*shuffles, CODECS["gzip"][0]()])
    array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=dtype, chunks=(25, 30), fill_value=3, **options)
    array[25:] = data[25:]
    data[:25] = 3

    def refuse(*_):
        raise AssertionError("zarr read by itself")

    monkeypatch.setattr(hemstitch.zarr, "_on_host", refuse)
    read = hemstitch.zarr.read(array, device="cuda")
    assert (array_of(read) == data).all() and read.host_chunks == (0 if name == "shuffle" else 6)
    key = "1.2" if version == 2 else "c/1/2"
    path = tmp_path / "a" / key
    for bad in (path.read_bytes()[:-9], hemstitch.compress(data[:25, :30].tobytes()[:-1], format="gzip")):
        path.write_bytes(bad)
        with pytest.raises(hemstitch.Error, match=f"the chunk {key}: "):
            hemstitch.zarr.read(array, device="cuda")


def test_chunks_that_the_device_leaves_are_counted(fake, tmp_path):
    """Stored by another codec of Blosc, and by none; the rest goes by the device."""
    data = values((6, 1000), "<i4")
    array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(1, 1000), compressors=[CODECS["blosc lz4, shuffle"][0]()])
    array[:] = data
    (tmp_path / "a" / "c" / "2" / "0").write_bytes(numcodecs.Blosc(cname="zlib").encode(data[2]))
    (tmp_path / "a" / "c" / "3" / "0").write_bytes(numcodecs.Blosc(clevel=0).encode(data[3]))
    read = hemstitch.zarr.read(array, device="cuda")
    assert (array_of(read) == data).all() and read.host_chunks == 1 and fake.restored == ["lz4"]


def test_gzip_of_several_members_is_the_processors(fake, tmp_path):
    data = values((4, 1000), "<i4")
    array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(1, 1000), compressors=[CODECS["gzip"][0]()])
    array[:] = data
    path = tmp_path / "a" / "c" / "2" / "0"
    content = data[2].tobytes()
    path.write_bytes(hemstitch.compress(content[:99], format="gzip") + hemstitch.compress(content[99:], format="gzip"))
    assert (array_of(hemstitch.zarr.read(array, device="cuda")) == data).all()
    for bad in (path.read_bytes()[:-9], b"", b"\xff" * 100):
        path.write_bytes(bad)
        with pytest.raises(hemstitch.Error):
            hemstitch.zarr.read(array, device="cuda")


class OnPlayedDevice(numpy.ndarray):
    """As CuPy's arrays: no stranger gets their bytes but by this interface."""

    @property
    def __cuda_array_interface__(self):
        said = dict(self.__array_interface__, version=3)
        return dict(said, strides=None) if self.flags.c_contiguous else said


class PlayedBuffer(cpu.Buffer):
    def __init__(self, array):
        super().__init__(numpy.asarray(array).view(OnPlayedDevice))


class PlayedNDBuffer(cpu.NDBuffer):
    def __init__(self, array):
        super().__init__(numpy.asarray(array).view(OnPlayedDevice))

    @classmethod
    def create(cls, **options):
        return cls(cpu.NDBuffer.create(**options).as_numpy_array())

    @classmethod
    def empty(cls, *arguments, **options):
        return cls(cpu.NDBuffer.empty(*arguments, **options).as_numpy_array())


@pytest.fixture
def played_gpu(fake):
    """What zarr.config.enable_gpu() sets, without CuPy."""
    register_buffer(PlayedBuffer, qualname="played.Buffer")
    register_ndbuffer(PlayedNDBuffer, qualname="played.NDBuffer")
    with hemstitch.zarr.enable(), zarr.config.set({"buffer": "played.Buffer", "ndbuffer": "played.NDBuffer"}):
        yield fake


LAYOUTS = {"chunks": {}, "shards": dict(shards=(60, 60)), "Zarr 2": dict(zarr_format=2), "no codec": dict(compressors=None),
           "big-endian": dict(serializer=zarr.codecs.BytesCodec(endian="big")), "columns first": dict(config={"order": "F"})}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("store", ["local", "memory"])
def test_zarr_with_its_gpu_setting(played_gpu, layout, store, tmp_path):
    data = values((130, 250), "<i4")
    place = tmp_path / "a" if store == "local" else zarr.storage.MemoryStore()
    codec = numcodecs.lz4.LZ4() if layout == "Zarr 2" else [CODECS["numcodecs.lz4"][1]()]
    array = zarr.create_array(place, shape=data.shape, dtype=data.dtype, chunks=(20, 30), fill_value=3, **{"compressors": codec, **LAYOUTS[layout]})
    array[:120] = data[:120].view(OnPlayedDevice)
    array[3:7, 100:200] = 5
    data[3:7, 100:200] = 5
    data[120:] = 3
    played_gpu.restored.clear()
    for selection in ((), (slice(3, 100, 7), slice(20, 150)), 77, (5, slice(3, 50)), slice(100, 130)):
        given = array[selection]
        assert isinstance(given, OnPlayedDevice) and (numpy.asarray(given) == data[selection]).all(), selection
        # What zarr restored in its own way is on the device by then.
        assert (array_of(hemstitch.zarr.read(array, selection, device="cuda")) == data[selection]).all(), selection
        on_host = hemstitch.zarr.read(array, selection, device="cpu")
        assert type(on_host) is numpy.ndarray and (on_host == data[selection]).all()
    assert (numpy.asarray(array.oindex[[1, 5], [3, 4]]) == data[numpy.ix_([1, 5], [3, 4])]).all()
    assert ("lz4" in played_gpu.restored) == (layout in ("chunks", "shards", "Zarr 2", "columns first"))


def test_an_array_on_a_device_in_any_order_comes_to_the_host(played_gpu):
    data = values((13, 25), "<i4")
    for given in (data, numpy.asfortranarray(data), data[::2, ::3]):
        on_host = hemstitch._device_chunks.on_host(given.view(OnPlayedDevice))
        assert type(on_host) is numpy.ndarray and (on_host == given).all()


def test_a_read_says_which_chunks_are_stored(played_gpu, monkeypatch, tmp_path):
    said, real = [], hemstitch.zarr.Pipeline.read

    async def read(self, *arguments, **options):
        said.append(await real(self, *arguments, **options))
        return said[-1]

    monkeypatch.setattr(hemstitch.zarr.Pipeline, "read", read)
    array = zarr.create_array(tmp_path / "a", shape=(40,), dtype="<i4", chunks=(10,), compressors=[CODECS["numcodecs.lz4"][1]()])
    array[10:30] = 7
    assert numpy.asarray(array[:]).tolist() == [0] * 10 + [7] * 20 + [0] * 10
    assert [one["status"] for one in said[-1]] == ["missing", "present", "present", "missing"]


@pytest.mark.parametrize("on_device", [False, True])
def test_missing_chunks_that_are_an_error(on_device, request, tmp_path):
    if "read_missing_chunks" not in zarr.config.get("array"):
        pytest.skip("this zarr fills in what is missing")
    request.getfixturevalue("played_gpu" if on_device else "fake")
    with hemstitch.zarr.enable():
        array = zarr.create_array(tmp_path / "a", shape=(40,), dtype="<i4", chunks=(10,), compressors=[CODECS["numcodecs.lz4"][1]()],
                                  config={"read_missing_chunks": False})
        array[10:] = numpy.arange(30)
        for read in (array.__getitem__, lambda selection: array_of(hemstitch.zarr.read(array, selection, device="cuda"))):
            assert (numpy.asarray(read(slice(10, 40))) == numpy.arange(30)).all()
            with pytest.raises(zarr.errors.ChunkNotFoundError, match="c/0"):
                read(slice(0, 40))


def test_hdf5_writes_what_is_on_a_device(fake, tmp_path):
    data = values((53, 70), "<f4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", shape=data.shape, dtype=data.dtype, chunks=(10, 30), **FILTERS["lz4, shuffle"])
        hemstitch.hdf5.write(dataset, OnDevice(data, stream=4))
        assert (dataset[()] == data).all() and (0, 4) in fake.streams
        hemstitch.hdf5.write(dataset, hemstitch.hdf5.read(dataset, slice(0, 20), device="cuda"), slice(30, 50))
        data[30:50] = data[:20]
        assert (dataset[()] == data).all()
        with pytest.raises(BufferError, match="C order"):
            hemstitch.hdf5.write(dataset, OnDevice(data[:, ::2]), numpy.s_[:, :35])

        class Dlpack:
            def __dlpack_device__(self):
                return 2, 0

        with pytest.raises(TypeError, match="Dlpack has no __cuda_array_interface__"):
            hemstitch.hdf5.write(dataset, Dlpack())
        assert (dataset[()] == data).all()


needs_gpu = pytest.mark.skipif(NO_GPU is not None, reason=f"no GPU here: {NO_GPU}")


@needs_gpu
class TestOnAGpu:
    @pytest.mark.parametrize("name", FILTERS)
    def test_hdf5(self, name, tmp_path):
        torch = pytest.importorskip("torch")
        data = values((530, 700), "<f4")
        with h5py.File(tmp_path / "a.h5", "w") as file:
            dataset = file.create_dataset("a", data=data, chunks=(100, 300), **FILTERS[name])
            for selection in ((), (slice(3, 500, 7), slice(20, 650)), 77):
                array = hemstitch.hdf5.read(dataset, selection, device="cuda")
                assert (torch.from_dlpack(array).cpu().numpy() == data[selection]).all()

    @pytest.mark.parametrize("name", CODECS)
    def test_zarr(self, name, tmp_path):
        cupy = pytest.importorskip("cupy")
        data = values((1300, 2500), "<i4")
        array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(200, 300), compressors=[CODECS[name][0]()])
        array[:] = data
        for selection in ((), (slice(3, 500, 7), slice(20, 650)), 77):
            assert (cupy.asnumpy(cupy.from_dlpack(hemstitch.zarr.read(array, selection, device="cuda"))) == data[selection]).all()
        with hemstitch.zarr.enable(), zarr.config.enable_gpu():
            opened = zarr.open_array(tmp_path / "a", mode="r")
            for selection in ((), (slice(3, 500, 7), slice(20, 650))):
                assert (cupy.asnumpy(opened[selection]) == data[selection]).all()

    # With this setting zarr itself fails at Zarr 2, since numcodecs takes no CuPy array.
    @pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout != "Zarr 2"])
    def test_zarr_with_its_gpu_setting(self, layout, tmp_path):
        cupy = pytest.importorskip("cupy")
        data = values((130, 250), "<i4")
        with hemstitch.zarr.enable():
            array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(20, 30),
                                      **{"compressors": [CODECS["numcodecs.lz4"][1]()], **LAYOUTS[layout]})
            array[:] = data
        with hemstitch.zarr.enable(), zarr.config.enable_gpu():
            array = zarr.open_array(tmp_path / "a", mode="r+")
            zarr_can = layout != "big-endian"  # CuPy has no such elements
            if zarr_can:
                array[:] = cupy.asarray(data)
            for selection in ((), (slice(3, 100, 7), slice(20, 150)), slice(100, 130)):
                if zarr_can:
                    assert (cupy.asnumpy(array[selection]) == data[selection]).all()
                assert (cupy.asnumpy(cupy.from_dlpack(hemstitch.zarr.read(array, selection, device="cuda"))) == data[selection]).all()
                assert (hemstitch.zarr.read(array, selection, device="cpu") == data[selection]).all()

    def test_zarr_2(self, tmp_path):
        cupy = pytest.importorskip("cupy")
        data = values((130, 250), "<i4")
        array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(20, 30), zarr_format=2, compressors=numcodecs.lz4.LZ4())
        array[:] = data
        for selection in ((), (slice(3, 100, 7), slice(20, 150))):
            assert (cupy.asnumpy(cupy.from_dlpack(hemstitch.zarr.read(array, selection, device="cuda"))) == data[selection]).all()

    def test_hdf5_writes_what_is_on_a_device(self, tmp_path):
        torch = pytest.importorskip("torch")
        data = values((530, 700), "<f4")
        with h5py.File(tmp_path / "a.h5", "w") as file:
            dataset = file.create_dataset("a", shape=data.shape, dtype=data.dtype, chunks=(100, 300), **FILTERS["lz4, shuffle"])
            for number in range(10):
                given = torch.from_numpy(data.copy()).cuda()
                given += number  # on PyTorch's stream: still to come
                hemstitch.hdf5.write(dataset, given)
                assert (dataset[()] == data + numpy.float32(number)).all()
