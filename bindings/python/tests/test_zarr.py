"""Zarr: stock zarr reads what we write, we read what it wrote, and chunks travel together."""

import warnings

import numpy
import pytest

numcodecs = pytest.importorskip("numcodecs")
zarr = pytest.importorskip("zarr")

import hemstitch
import hemstitch.zarr as ours
from zarr.codecs import numcodecs as stock
from zarr.codecs.blosc import BloscCodec
from zarr.codecs.gzip import GzipCodec
from zarr.codecs.zstd import ZstdCodec

warnings.filterwarnings("ignore", message="Numcodecs codecs are not")

CODECS = {
    "gzip": (lambda: GzipCodec(level=3), lambda: ours.Gzip(level=3)),
    "gzip stored": (lambda: GzipCodec(level=0), lambda: ours.Gzip(level=0)),
    "zstd": (lambda: ZstdCodec(), lambda: ours.Zstd()),
    "zstd, checked": (lambda: ZstdCodec(level=-3, checksum=True), lambda: ours.Zstd(level=-3, checksum=True)),
    "zstd, a level of libzstd alone": (lambda: ZstdCodec(level=-50), lambda: ours.Zstd(level=-50)),
    "numcodecs.zstd": (lambda: stock.Zstd(level=9), lambda: ours.NumcodecsZstd(level=9)),
    "numcodecs.lz4": (lambda: stock.LZ4(acceleration=1), lambda: ours.Lz4(acceleration=1)),
    "numcodecs.lz4 fast": (lambda: stock.LZ4(acceleration=9), lambda: ours.Lz4(acceleration=9)),
    "numcodecs.zlib": (lambda: stock.Zlib(level=6), lambda: ours.Zlib(level=6)),
    "numcodecs.gzip": (lambda: stock.GZip(level=1), lambda: ours.NumcodecsGzip(level=1)),
    "numcodecs.blosc": (lambda: stock.Blosc(cname="lz4", shuffle=-1), lambda: ours.NumcodecsBlosc(cname="lz4", shuffle=-1)),
    **{name: (lambda options=options: BloscCodec(**options), lambda options=options: ours.Blosc(**options)) for name, options in {
        "blosc": {},
        "blosc lz4, shuffle": dict(cname="lz4", shuffle="shuffle", clevel=9),
        "blosc lz4hc, bits": dict(cname="lz4hc", shuffle="bitshuffle", blocksize=1024),
        "blosc zlib, 8 bytes": dict(cname="zlib", shuffle="shuffle", typesize=8),
        "blosc zstd, not shuffled": dict(cname="zstd", shuffle="noshuffle", clevel=1),
        "blosclz": dict(cname="blosclz"),
    }.items()},
}


def values(shape, dtype="<i4"):
    source = numpy.random.default_rng(5)
    return (source.integers(0, 9, shape) * 100 + numpy.arange(shape[-1])).astype(dtype)


@pytest.fixture(autouse=True)
def put_back():
    with ours.enable():
        pass
    yield
    assert zarr.config.get("codec_pipeline.path") == "zarr.core.codec_pipeline.BatchedCodecPipeline"


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("sharded", [False, True])
def test_both_ways(name, sharded, tmp_path):
    data = values((130, 250))
    layout = dict(chunks=(20, 30), shards=(60, 60)) if sharded else dict(chunks=(20, 30))
    by_stock, by_us = CODECS[name]
    array = zarr.create_array(tmp_path / "stock", shape=data.shape, dtype=data.dtype, compressors=[by_stock()], **layout)
    array[:] = data
    with ours.enable():
        array = zarr.create_array(tmp_path / "ours", shape=data.shape, dtype=data.dtype, compressors=[by_us()], **layout)
        array[:] = data
        array[3:7, 100:200] = 5
        opened = zarr.open_array(tmp_path / "stock", mode="r+")
        assert (opened[:] == data).all() and (opened[7:100:3, 31] == data[7:100:3, 31]).all()
        opened[3:7, 100:200] = 5
    data[3:7, 100:200] = 5
    for store in ("stock", "ours"):
        array = zarr.open_array(tmp_path / store, mode="r")
        assert (array[:] == data).all()
    metadata = [(tmp_path / store / "zarr.json").read_text() for store in ("stock", "ours")]
    assert metadata[0] == metadata[1]


def test_chunks_travel_together(tmp_path, monkeypatch):
    calls = []
    for module, name in ((ours._core, "restore_lz4_blocks_into"), (ours, "compress_lz4_blocks")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda objs, *rest, real=real, **more: (calls.append(len(objs)), real(objs, *rest, **more))[1])
    data = values((64, 1000))
    with ours.enable():
        array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(1, 1000), compressors=[ours.Lz4()])
        array[:] = data
        assert calls == [64]
        assert (zarr.open_array(tmp_path / "a", mode="r")[:] == data).all()
        assert calls == [64, 64]
        monkeypatch.setattr(ours, "BATCH_BYTES", 40_000)
        assert (array[:] == data).all()
        assert calls[2:] == [10, 10, 10, 10, 10, 10, 4]


def test_missing_chunks_and_fill(tmp_path):
    with ours.enable():
        array = zarr.create_array(tmp_path / "a", shape=(100,), dtype="<f8", chunks=(10,), fill_value=7, compressors=[ours.Gzip(level=1)])
        array[25:35] = 1
    assert zarr.open_array(tmp_path / "a", mode="r")[:].tolist() == [7] * 25 + [1] * 10 + [7] * 65
    with ours.enable():
        assert zarr.open_array(tmp_path / "a", mode="r")[:].tolist() == [7] * 25 + [1] * 10 + [7] * 65


@pytest.mark.parametrize("codec", [numcodecs.LZ4(), numcodecs.Zlib(level=3), numcodecs.GZip(level=3), numcodecs.Zstd(level=3),
                                   numcodecs.Blosc(), numcodecs.Blosc(cname="zstd", shuffle=2), numcodecs.Blosc(cname="blosclz", clevel=3)],
                         ids=lambda codec: f"{codec.codec_id} {getattr(codec, 'cname', '')}".strip())
def test_zarr_2(codec, tmp_path):
    data = values((70, 90))
    zarr.create_array(tmp_path / "stock", shape=data.shape, dtype=data.dtype, chunks=(20, 30), zarr_format=2, compressors=[codec])[:] = data
    with ours.enable():
        assert type(numcodecs.get_codec({"id": codec.codec_id})).__module__ == "hemstitch.zarr"
        assert (zarr.open_array(tmp_path / "stock", mode="r")[:] == data).all()
        of_us = numcodecs.get_codec(codec.get_config())
        zarr.create_array(tmp_path / "ours", shape=data.shape, dtype=data.dtype, chunks=(20, 30), zarr_format=2, compressors=[of_us])[:] = data
    assert type(numcodecs.get_codec({"id": codec.codec_id})) is type(codec)
    assert (zarr.open_array(tmp_path / "ours", mode="r")[:] == data).all()
    room = numpy.empty_like(data)
    with ours.enable():
        of_us = numcodecs.get_codec(codec.get_config())
        of_us.decode(codec.encode(data), out=room)
    assert (room == data).all()


FILTERS = {
    "delta": ("<i4", [numcodecs.Delta("<i4")]),
    "delta, narrower": ("<i8", [numcodecs.Delta("<i8", "<i2")]),
    "delta, wider": ("u1", [numcodecs.Delta("u1", "<u4")]),
    "delta, signed": ("<u2", [numcodecs.Delta("<u2", "<i2")]),
    "delta of floats": ("<f4", [numcodecs.Delta("<f4")]),
    "delta, big-endian": (">i2", [numcodecs.Delta(">i2")]),
    "shuffle": ("<i4", [numcodecs.Shuffle(4)]),
    "shuffle of bytes": ("u1", [numcodecs.Shuffle(1)]),
    "shuffle of large elements": ("<i8", [numcodecs.Shuffle(300)]),
    "delta, shuffle": ("<u8", [numcodecs.Delta("<u8"), numcodecs.Shuffle(8)]),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_of_zarr_2(name, tmp_path):
    dtype, filters = FILTERS[name]
    data = values((75, 90), dtype)
    layout = dict(shape=data.shape, dtype=dtype, chunks=(25, 30), zarr_format=2)
    zarr.create_array(tmp_path / "stock", filters=filters, compressors=[numcodecs.Zstd(level=3)], **layout)[:] = data
    with ours.enable():
        of_us = [numcodecs.get_codec(filter.get_config()) for filter in filters]
        assert all(type(filter).__module__ == "hemstitch.zarr" for filter in of_us)
        assert (zarr.open_array(tmp_path / "stock", mode="r")[:] == data).all()
        zarr.create_array(tmp_path / "ours", filters=of_us, compressors=[numcodecs.get_codec({"id": "zstd", "level": 3})], **layout)[:] = data
        room = numpy.empty(data[:25, :30].shape, dtype)
        of_us[0].decode(filters[0].encode(numpy.ascontiguousarray(data[:25, :30])), out=room)
        assert (room == data[:25, :30]).all()
        encoded = [some[0].encode(numpy.asfortranarray(data[:25, :30])) for some in (filters, of_us)]
        assert encoded[0].dtype == encoded[1].dtype and encoded[0].tobytes() == encoded[1].tobytes()
    assert (zarr.open_array(tmp_path / "ours", mode="r")[:] == data).all()


def test_enabling_nests():
    with ours.enable():
        with ours.enable():
            pass
        assert type(numcodecs.get_codec({"id": "blosc"})) is ours.BloscV2 and zarr.config.get("codec_pipeline.path").startswith("hemstitch")
    assert type(numcodecs.get_codec({"id": "blosc"})) is numcodecs.Blosc and type(numcodecs.get_codec({"id": "shuffle"})) is numcodecs.Shuffle
    first, second = ours.enable(), ours.enable()  # of two threads
    first.__exit__(None, None, None)
    assert type(numcodecs.get_codec({"id": "blosc"})) is ours.BloscV2 and zarr.config.get("codec_pipeline.path").startswith("hemstitch")
    second.__exit__(None, None, None)
    assert type(numcodecs.get_codec({"id": "blosc"})) is numcodecs.Blosc


@pytest.mark.parametrize("name", ["gzip", "zstd", "numcodecs.lz4", "numcodecs.zlib", "blosc", "blosc lz4, shuffle"])
def test_damaged_chunks_raise(name, tmp_path):
    data = values((64, 1000))
    with ours.enable():
        array = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=data.dtype, chunks=(8, 1000), compressors=[CODECS[name][1]()])
        array[:] = data
        path = tmp_path / "a" / "c" / "3" / "0"
        whole = path.read_bytes()
        for bad in (whole[:-9], whole[:3], b"", b"\xff" * 100):
            path.write_bytes(bad)
            with pytest.raises(hemstitch.Error, match="the chunk c/3/0: "):
                array[:]
            assert (array[:24] == data[:24]).all()


def test_entry_points_keep_the_standard_names():
    import importlib.metadata

    try:
        distribution = importlib.metadata.distribution("hemstitch")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed, only on the path")
    for point in distribution.entry_points:
        if point.group.startswith("zarr.codecs"):
            name = point.group.removeprefix("zarr.codecs").removeprefix(".")
            key = name or point.name
            assert point.load() is ours._CODECS[key]
