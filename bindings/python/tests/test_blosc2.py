"""Blosc 2: chunks, frames and arrays that its own library wrote, and HDF5's filter 32026."""

import random

import numpy
import pytest

h5py = pytest.importorskip("h5py")
hdf5plugin = pytest.importorskip("hdf5plugin")

import hemstitch
import hemstitch.hdf5
from hemstitch import _core
from test_hdf5 import damaged_chunks, forbid_h5pys_own_way, values


def restored(chunk, size, threads=1):
    room = numpy.empty(size, "u1")
    [outcome] = _core.restore_chunks([chunk], [room], "blosc", threads=threads)
    if outcome is not None:
        raise outcome
    return room.tobytes()


@pytest.fixture
def blosc2():
    return pytest.importorskip("blosc2")


CONTENTS = {
    "numbers": lambda: values((9001,), "<i4").tobytes(),
    "noise": lambda: numpy.random.default_rng(2).integers(0, 256, 30_001, "u1").tobytes(),
    "zeros": lambda: bytes(40_000),
    "a byte": lambda: b"x",
    "runs": lambda: b"".join(bytes([number % 256]) * 3000 for number in range(1, 20)),
    "half a byte a number": lambda: (numpy.arange(12_000) // 900).astype("<i8").tobytes(),
    "far matches": lambda: (first := numpy.random.default_rng(3).integers(0, 256, 20_000, "u1").tobytes()) + bytes(10) + first,
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("codec", ["BLOSCLZ", "LZ4", "LZ4HC", "ZLIB", "ZSTD"])
def test_chunks(blosc2, codec, content):
    content = CONTENTS[content]()
    kinds = blosc2.Filter
    for filters, parameters in [([kinds.NOFILTER], [0]), ([kinds.SHUFFLE], [0]), ([kinds.BITSHUFFLE], [0]), ([kinds.DELTA], [0]),
                                ([kinds.DELTA, kinds.SHUFFLE], [0, 0]), ([kinds.SHUFFLE, kinds.BITSHUFFLE], [0, 0]), ([kinds.DELTA, kinds.SHUFFLE, kinds.BITSHUFFLE], [0, 0, 0]),
                                ([kinds.TRUNC_PREC, kinds.SHUFFLE], [10, 0])]:
        for typesize, block in [(1, 0), (2, 1024), (4, 0), (4, 4096), (8, 512), (3, 999), (16, 0), (255, 0)]:
            if kinds.TRUNC_PREC in filters and typesize not in (4, 8):
                continue
            for split in blosc2.SplitMode.ALWAYS_SPLIT, blosc2.SplitMode.NEVER_SPLIT:
                chunk = blosc2.compress2(content, typesize=typesize, codec=getattr(blosc2.Codec, codec), clevel=5, filters=filters, filters_meta=parameters,
                                         blocksize=block, splitmode=split)
                assert restored(chunk, len(content), threads=2) == blosc2.decompress2(chunk), (filters, typesize, block)
    with pytest.raises(hemstitch.Error) as caught:
        restored(chunk, len(content) + 1)
    assert caught.value.status == hemstitch.Status.CONTENT_SIZE_MISMATCH


def test_frames(blosc2):
    source = random.Random(3)
    for number, options in enumerate([{}, dict(typesize=8), dict(codec=blosc2.Codec.LZ4, typesize=4), dict(filters=[blosc2.Filter.DELTA], typesize=4)]):
        for size, chunk in [(0, 1000), (1, 1000), (999, 1000), (64_000, 8000), (50_000, 4096)]:
            if "filters" in options:
                size -= size % 4  # their delta forgets the rest of an element
            content = b"".join(source.choice([b"abcd", bytes(4), source.randbytes(4)]) for _ in range(size // 4 + 1))[:size]
            frame = blosc2.SChunk(chunksize=chunk, contiguous=True, data=content, cparams=options).to_cframe()
            assert restored(frame, size) == content, (number, size)
            assert restored(frame + b"behind it", size, threads=2) == content
    # Chunks in another order than in the file, metalayers of others.
    frame = blosc2.SChunk(chunksize=4000, contiguous=True, data=numpy.arange(5000, dtype="<i4"), meta={"mine": {"a": 1}})
    frame.update_data(1, numpy.random.default_rng(1).integers(0, 9**9, 1000, "<i4"), True)
    frame.insert_data(2, bytes(4000), True)
    frame.vlmeta["also"] = "that"
    assert restored(frame.to_cframe(), frame.nbytes) == frame[:]


def test_special_values(blosc2, tmp_path):
    for dtype in "<f4", "<f8", "u1", "<i2":
        for shape, chunks, blocks in [((1000,), (300,), (100,)), ((70, 90), (30, 40), (7, 9))]:
            arrays = [blosc2.zeros(shape, dtype=dtype, chunks=chunks, blocks=blocks), blosc2.full(shape, 7, dtype=dtype, chunks=chunks, blocks=blocks)]
            if dtype[1] == "f":
                arrays.append(blosc2.nans(shape, dtype=dtype, chunks=chunks, blocks=blocks))
            for array in arrays:
                frame = array.to_cframe()
                assert restored(frame, array[:].nbytes) == array[:].tobytes()
                array[3:5] = numpy.arange(array[3:5].size).reshape(array[3:5].shape)
                assert restored(array.to_cframe(), array[:].nbytes) == array[:].tobytes()
            not_set = blosc2.uninit(shape, dtype=dtype, chunks=chunks, blocks=blocks)
            assert restored(not_set.to_cframe(), not_set[:].nbytes) == bytes(not_set[:].nbytes)


def test_arrays(blosc2, tmp_path):
    source = random.Random(4)
    for number in range(60):
        dtype = source.choice(["u1", "<i2", "<f4", "<f8", "S5", "S300"])
        shape = [source.choice([1, 2, 5, 20, 33]) for _ in range(source.randint(1, 4))]
        chunks = [source.randint(1, extent + 3) for extent in shape]
        blocks = [source.randint(1, extent) for extent in chunks]
        data = (numpy.arange(numpy.prod(shape)) % 251).reshape(shape).astype(dtype)
        if source.random() < 0.2:
            data = numpy.frombuffer(source.randbytes(data.nbytes), data.dtype).reshape(shape)
        filters = source.choice([[blosc2.Filter.SHUFFLE], [blosc2.Filter.DELTA, blosc2.Filter.BITSHUFFLE], [blosc2.Filter.NOFILTER]])
        path = tmp_path / f"{number}.b2nd"
        blosc2.asarray(data, chunks=chunks, blocks=blocks, urlpath=str(path), cparams=dict(codec=source.choice([blosc2.Codec.LZ4, blosc2.Codec.ZSTD]), filters=filters,
                                                                                          filters_meta=[0] * len(filters)))
        assert restored(path.read_bytes(), data.nbytes, threads=2) == data.tobytes(), (shape, chunks, blocks, dtype)


def test_what_is_not_read_is_named(blosc2):
    content = values((5000,), "<i4").tobytes()
    kinds = blosc2.Filter
    for word, options in [("shuffle has a parameter", dict(filters=[kinds.SHUFFLE], filters_meta=[2])), ("delta is not the first", dict(filters=[kinds.SHUFFLE, kinds.DELTA])),
                          ("filter number 35", dict(filters=[kinds.BYTEDELTA], filters_meta=[4])), ("with the flags", dict(use_dict=1, codec=blosc2.Codec.ZSTD, blocksize=1024))]:
        options = {"filters": [kinds.SHUFFLE], **options}
        chunk = blosc2.compress2(content, **{"typesize": 4, "filters_meta": [0] * len(options["filters"]), **options})
        with pytest.raises(hemstitch.Error, match=word) as caught:
            restored(chunk, len(content))
        assert caught.value.status == hemstitch.Status.UNSUPPORTED_FEATURE
    with pytest.raises(hemstitch.Error, match="only Blosc|Blosc 2|of format"):
        _core.chunk_layout(chunk, "blosc")


def test_damage_is_an_error_or_what_their_own_library_restores(blosc2):
    source = random.Random(5)
    data = (numpy.arange(3000) // 7).astype("<i4")
    chunks = [blosc2.compress2(data, typesize=4, codec=codec, filters=filters, filters_meta=[0] * len(filters), blocksize=2000)
              for codec in (blosc2.Codec.LZ4, blosc2.Codec.BLOSCLZ, blosc2.Codec.ZSTD)
              for filters in ([blosc2.Filter.SHUFFLE], [blosc2.Filter.DELTA, blosc2.Filter.BITSHUFFLE])]
    outcomes = set()
    for number in range(1500):
        chunk = bytearray(source.choice(chunks))
        for _ in range(source.randint(1, 2)):
            chunk[source.choice([source.randrange(48), source.randrange(len(chunk))])] = source.choice([source.randrange(256), 0, 255, 1])
        try:
            content = restored(bytes(chunk), data.nbytes)
        except hemstitch.Error as error:
            assert 200 <= error.status < 400
            outcomes.add("refused")
            continue
        try:
            theirs = blosc2.decompress2(bytes(chunk))
        except (RuntimeError, ValueError):
            outcomes.add("refused by them")
            continue
        assert content == theirs
        outcomes.add("the same")
    assert {"refused", "the same"} <= outcomes


FILTERS = {name: dict(hdf5plugin.Blosc2(**options)) for name, options in {
    "blosclz": dict(), "lz4, bits": dict(cname="lz4", filters=hdf5plugin.Blosc2.BITSHUFFLE), "zstd": dict(cname="zstd", clevel=9), "zlib, delta": dict(cname="zlib", filters=hdf5plugin.Blosc2.DELTA),
    "lz4hc, not shuffled": dict(cname="lz4hc", filters=hdf5plugin.Blosc2.NOFILTER), "stored": dict(clevel=0), "truncated": dict(cname="zstd", filters=hdf5plugin.Blosc2.TRUNC_PREC)}.items()}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("shape, chunks", [((9000,), (4000,)), ((400, 500), (333, 100)), ((20, 31, 42), (7, 20, 30))])
def test_hdf5(name, shape, chunks, tmp_path, monkeypatch):
    for dtype in ("u1", "<i2", "<f8"):
        data = values(shape, dtype)
        with h5py.File(tmp_path / f"{dtype[-2:]}.h5", "w") as file:
            dataset = file.create_dataset("a", data=data, chunks=chunks, **FILTERS[name])
            expected = dataset[()]
            with monkeypatch.context() as patch:
                forbid_h5pys_own_way(patch)
                assert (hemstitch.hdf5.read(dataset) == expected).all()
            data[5] = 9
            hemstitch.hdf5.write(dataset, data[5], 5)
            hemstitch.hdf5.write(dataset, data)  # by h5py
            assert (dataset[()] == hemstitch.hdf5.read(dataset)).all()


def test_damaged_chunks_raise(tmp_path):
    for name in ("lz4, bits", "zstd"):
        for number, dataset, data in damaged_chunks(tmp_path / "a.h5", FILTERS[name], 200):
            try:
                read = hemstitch.hdf5.read(dataset)
            except hemstitch.Error as error:
                assert 200 <= error.status < 400 and str(error).startswith("the chunk at (2, 0) of /a: ")
            else:
                # What is behind a frame's chunks is not looked at.
                assert number >= 6 or (read == data).all()
