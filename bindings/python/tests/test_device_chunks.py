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
from device_stand_in import Array as OnDevice
from device_stand_in import Core, held
from hemstitch import _device_batch, _device_chunks
from test_hdf5 import FILTERS, damaged_chunks, values
from test_zarr import CODECS

NO_GPU = hemstitch.unavailable_reason("cuda")


@pytest.fixture
def fake(monkeypatch):
    core = Core(hemstitch._core)
    monkeypatch.setattr(_device_batch, "_core", core)
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
        restored = {"deflate": "device_deflate_restore", "lz4": "device_lz4_restore"}.get(name.split(",")[0].split()[0])
        assert (restored in fake.calls) if restored else not any("restore" in call for call in fake.calls)
        assert ("device_unshuffle" in fake.calls) == ("shuffle" in name.split(", ") and data.itemsize > 1)


def random_selection(source, shape):
    selection = []
    for extent in shape[:source.randint(0, len(shape))]:
        if source.random() < 0.3:
            selection.append(source.randrange(extent))
        else:
            begin = source.randint(0, extent)
            selection.append(slice(begin, source.randint(begin, extent + 5), source.choice([1, 1, 2, 3, 10])))
    return tuple(selection)


@pytest.mark.parametrize("chunks", [(5, 7, 17), (5, 31, 17), (1, 1, 4), (23, 31, 17), (40, 3, 17)])
def test_any_selection(fake, chunks, tmp_path):
    data = values((23, 31, 17), "<i4")
    source = random.Random(8)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", data=data, maxshape=(None, 31, 17), chunks=chunks, **FILTERS["lz4, shuffle"])
        stored = zarr.create_array(tmp_path / "a.zarr", shape=data.shape, dtype=data.dtype, chunks=chunks, compressors=[CODECS["numcodecs.lz4"][0]()])
        stored[:] = data
        for selection in [(), (slice(0, 0),), 3, (2, ..., 3), (1, 2, 3), (slice(5, 20, 6),)] + [random_selection(source, data.shape) for _ in range(25)]:
            for array in (hemstitch.hdf5.read(dataset, selection, device="cuda"), hemstitch.zarr.read(stored, selection)):
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


@pytest.mark.parametrize("name", ["deflate, shuffle", "lz4"])
def test_damaged_chunks_raise(fake, name, tmp_path):
    for number, dataset, data in damaged_chunks(tmp_path / "a.h5", FILTERS[name], 60):
        assert (array_of(hemstitch.hdf5.read(dataset, slice(0, 2), device="cuda")) == data[:2]).all()
        try:
            read = hemstitch.hdf5.read(dataset, device="cuda")
        except hemstitch.Error as error:
            assert 200 <= error.status < 400
        else:
            assert number >= 6 and (array_of(read) == hemstitch.hdf5.read(dataset)).all()


def test_a_chunk_that_holds_less_than_it_says(fake, tmp_path):
    data = values((4, 1000), "<i4")
    array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(1, 1000), compressors=[CODECS["numcodecs.lz4"][0]()])
    array[:] = data
    path = tmp_path / "a" / "c" / "2" / "0"
    path.write_bytes(path.read_bytes()[:4] + hemstitch.compress_lz4_blocks([data[2, :-1].tobytes()])[0])
    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.zarr.read(array)
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
    assert any("restore" in call for call in fake.calls) == (name != "gzip stored")
    assert (hemstitch.zarr.read(array, device="cpu") == data).all()


def test_zarr_in_other_ways(fake, tmp_path):
    """Shards, no codec, big-endian elements, Zarr 2."""
    data = values((64, 100), "<i4")
    for number, options in enumerate([dict(chunks=(8, 50), shards=(16, 100)), dict(chunks=(8, 50), compressors=None), dict(chunks=(8, 50), zarr_format=2),
                                      dict(chunks=(8, 50), serializer=zarr.codecs.BytesCodec(endian="big"), compressors=[CODECS["gzip"][0]()])]):
        array = zarr.create_array(tmp_path / str(number), shape=data.shape, dtype=data.dtype, **options)
        array[:] = data
        assert (array_of(hemstitch.zarr.read(array)) == data).all()


def test_gzip_of_several_members_is_the_processors(fake, tmp_path):
    data = values((4, 1000), "<i4")
    array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(1, 1000), compressors=[CODECS["gzip"][0]()])
    array[:] = data
    path = tmp_path / "a" / "c" / "2" / "0"
    content = data[2].tobytes()
    path.write_bytes(hemstitch.compress(content[:99], format="gzip") + hemstitch.compress(content[99:], format="gzip"))
    assert (array_of(hemstitch.zarr.read(array)) == data).all()
    for bad in (path.read_bytes()[:-9], b"", b"\xff" * 100):
        path.write_bytes(bad)
        with pytest.raises(hemstitch.Error):
            hemstitch.zarr.read(array)


def test_pipeline_into_a_device(fake, tmp_path):
    """What zarr.config.enable_gpu() makes of the pipeline's `out`, played."""
    data = values((64, 1000), "<i4")

    class Held(OnDevice):
        shape, size = data.shape, data.size

    with hemstitch.zarr.enable():
        array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(10, 300), compressors=[CODECS["numcodecs.lz4"][1]()])
        array[:] = data
        out = numpy.zeros_like(data)

        class Buffer:
            def as_ndarray_like(self):
                return Held(out)

        some = array.async_array
        spec = array.metadata.get_chunk_spec((0, 0), some.config, prototype=zarr.core.buffer.default_buffer_prototype())
        indexer = zarr.core.indexing.BasicIndexer((), array.shape, array.metadata.chunk_grid)
        batch_info = [(array.store_path / array.metadata.encode_chunk_key(coords), spec, of, into, whole) for coords, of, into, whole in indexer]
        zarr.core.sync.sync(some.codec_pipeline.read(batch_info, Buffer()))
        assert (out == data).all() and "device_lz4_restore" in fake.calls


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
            assert (cupy.asnumpy(cupy.from_dlpack(hemstitch.zarr.read(array, selection))) == data[selection]).all()
        with hemstitch.zarr.enable(), zarr.config.enable_gpu():
            opened = zarr.open_array(tmp_path / "a", mode="r")
            for selection in ((), (slice(3, 500, 7), slice(20, 650))):
                assert (cupy.asnumpy(opened[selection]) == data[selection]).all()
