"""HDF5: h5py with its own filters and hdf5plugin's reads what we write, and we what it wrote."""

import random

import numpy
import pytest

h5py = pytest.importorskip("h5py")
hdf5plugin = pytest.importorskip("hdf5plugin")

import hemstitch
import hemstitch.hdf5 as ours

FILTERS = {
    "deflate": dict(compression="gzip", compression_opts=4),
    "deflate, shuffle": dict(compression="gzip", compression_opts=1, shuffle=True),
    "deflate, checked": dict(compression="gzip", compression_opts=1, fletcher32=True),
    "lz4, shuffle, checked": dict(**hdf5plugin.LZ4(), shuffle=True, fletcher32=True),
    "lz4": dict(hdf5plugin.LZ4()),
    "lz4 in small blocks": dict(hdf5plugin.LZ4(nbytes=1000)),
    "lz4, shuffle": dict(**hdf5plugin.LZ4(), shuffle=True),
    "zstd": dict(hdf5plugin.Zstd()),
    "zstd, shuffle": dict(**hdf5plugin.Zstd(clevel=7), shuffle=True),
    "bitshuffle": dict(hdf5plugin.Bitshuffle(cname="none")),
    "bitshuffle, lz4": dict(hdf5plugin.Bitshuffle(cname="lz4")),
    "bitshuffle, lz4 in small blocks": dict(hdf5plugin.Bitshuffle(nelems=64, cname="lz4")),
    "bitshuffle, zstd": dict(hdf5plugin.Bitshuffle(cname="zstd")),
    "blosc, lz4": dict(hdf5plugin.Blosc(cname="lz4", shuffle=hdf5plugin.Blosc.SHUFFLE)),
    "blosc, lz4 of bits": dict(hdf5plugin.Blosc(cname="lz4", clevel=9, shuffle=hdf5plugin.Blosc.BITSHUFFLE)),
    "blosc, lz4hc": dict(hdf5plugin.Blosc(cname="lz4hc", shuffle=hdf5plugin.Blosc.NOSHUFFLE)),
    "blosc, zlib": dict(hdf5plugin.Blosc(cname="zlib", clevel=1, shuffle=hdf5plugin.Blosc.SHUFFLE)),
    "blosc, zstd": dict(hdf5plugin.Blosc(cname="zstd", shuffle=hdf5plugin.Blosc.BITSHUFFLE)),
}


def values(shape, dtype):
    source = numpy.random.default_rng(6)
    return (source.integers(0, 50, shape) + numpy.arange(shape[-1])).astype(dtype)


def forbid_h5pys_own_way(monkeypatch):
    def refuse(*_):
        raise AssertionError("h5py read or wrote by itself")

    monkeypatch.setattr(h5py.Dataset, "__getitem__", refuse)
    monkeypatch.setattr(h5py.Dataset, "__setitem__", refuse)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("dtype", ["u1", "<i2", ">f4", "<f8"])
def test_both_ways(name, dtype, tmp_path, monkeypatch):
    data = values((53, 70), dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("theirs", data=data, chunks=(10, 30), **FILTERS[name])
        file.create_dataset("ours", shape=data.shape, dtype=dtype, chunks=(10, 30), **FILTERS[name])
        with monkeypatch.context() as patch:
            theirs, written = file["theirs"], file["ours"]
            forbid_h5pys_own_way(patch)
            assert (ours.read(theirs) == data).all()
            ours.write(written, data)
            assert (ours.read(written) == data).all()
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert (file["ours"][:] == data).all()


@pytest.mark.parametrize("dtype", [[("a", "<i4"), ("b", "S3")], "S300"])
def test_records(dtype, tmp_path):
    data = numpy.zeros(50, dtype)
    data.view("u1")[:] = numpy.arange(data.nbytes) % 7
    with h5py.File(tmp_path / "a.h5", "w") as file:
        theirs = file.create_dataset("theirs", data=data, chunks=(20,), **FILTERS["deflate, shuffle"])
        written = file.create_dataset("ours", shape=data.shape, dtype=dtype, chunks=(20,), **FILTERS["deflate, shuffle"])
        ours.write(written, data)
        assert ours.read(theirs).tobytes() == ours.read(written).tobytes() == data.tobytes()
        assert written[:].tobytes() == theirs[:].tobytes()


def test_noise_is_stored(tmp_path):
    data = numpy.random.default_rng(7).integers(0, 256, (4, 5000), "u1")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for number, name in enumerate(FILTERS):
            dataset = file.create_dataset(f"ours {number}", shape=data.shape, dtype="u1", chunks=(1, 5000), **FILTERS[name])
            ours.write(dataset, data)
            assert (dataset[:] == data).all() and (ours.read(dataset) == data).all()
            theirs = file.create_dataset(f"theirs {number}", data=data, chunks=(1, 5000), **FILTERS[name])
            assert (ours.read(theirs) == data).all()


def test_any_selection(tmp_path):
    data = values((23, 31, 17), "<i4")
    source = random.Random(8)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", data=data, chunks=(5, 7, 17), **FILTERS["lz4"])
        selections = [(), Ellipsis, 3, -1, (slice(None), 4), (..., 5), (2, ..., 3), (slice(0, 0),), slice(5, 20, 6)]
        for _ in range(80):
            selection = []
            for extent in data.shape[:source.randint(1, 3)]:
                if source.random() < 0.3:
                    selection.append(source.randrange(-extent, extent))
                else:
                    begin = source.randint(0, extent)
                    selection.append(slice(begin, source.randint(begin, extent + 5), source.choice([1, 1, 2, 3, 10])))
            selections.append(tuple(selection))
        for selection in selections:
            read = ours.read(dataset, selection)
            assert read.shape == data[selection].shape and read.dtype == data.dtype and (read == data[selection]).all(), selection
        # h5py's own: a list, a mask.
        assert (ours.read(dataset, [1, 5]) == data[[1, 5]]).all()
        mask = data[:, 0, 0] > 20
        assert (ours.read(dataset, mask) == data[mask]).all()
        with pytest.raises(IndexError):
            ours.read(dataset, 23)


def test_writing_parts(tmp_path):
    data = values((40, 40), "<i4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", data=data, chunks=(10, 10), **FILTERS["lz4, shuffle"])
        for selection, value in [((slice(10, 30), slice(0, 40)), -data[10:30]), ((slice(5, 25), slice(3, 33)), data[5:25, 3:33] * 2),
                                 (7, 1), ((slice(None), 9), numpy.arange(40)), ((slice(0, 40, 3), 5), 8)]:
            data[selection] = value
            ours.write(dataset, value, selection)
            assert (dataset[:] == data).all()


def test_chunks_that_were_never_written_or_without_a_filter(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", shape=(40,), dtype="<i4", chunks=(10,), fillvalue=9, **FILTERS["deflate, shuffle"])
        dataset[13:17] = 1
        plain = numpy.arange(10, dtype="<i4")
        dataset.id.write_direct_chunk((30,), plain.tobytes(), filter_mask=3)
        expected = [9] * 13 + [1] * 4 + [9] * 13 + plain.tolist()
        assert dataset[:].tolist() == expected
        assert ours.read(dataset).tolist() == expected


def test_what_is_not_ours_is_h5pys(tmp_path):
    data = values((30, 30), "<f4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, options in [("contiguous", {}), ("plain", dict(chunks=(10, 10))), ("lzf", dict(compression="lzf")),
                              ("scaled", dict(scaleoffset=3)), ("bzip2", dict(hdf5plugin.BZip2()))]:
            dataset = file.create_dataset(name, data=data, **options)
            assert (ours.read(dataset, 5) == data[5]).all()
            ours.write(dataset, data + 1)
            assert (dataset[:] == data + 1).all()
        words = file.create_dataset("words", data=["a", "bc"] * 20, dtype=h5py.string_dtype(), chunks=(10,), compression="gzip")
        assert ours.read(words).tolist() == [b"a", b"bc"] * 20


def damaged_chunks(path, filters, count):
    """(number, dataset, its values) with the third of four chunks damaged in another way each time: the first six times cut short or
    replaced, then `count` times in one byte."""
    data = values((4, 1000), "<i4")
    source = random.Random(9)
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("a", data=data, chunks=(1, 1000), **filters)
        whole = dataset.id.read_direct_chunk((2, 0))[1]
        bads = [whole[:-1], whole[:11], whole[:30], b"x", b"\xff" * 200, whole[:8] + bytes(4) + whole[12:]]
        for _ in range(count):
            bad = bytearray(whole)
            bad[source.randrange(len(bad))] = source.randrange(256)
            bads.append(bytes(bad))
        for number, bad in enumerate(bads):
            dataset.id.write_direct_chunk((2, 0), bad)
            yield number, dataset, data


@pytest.mark.parametrize("name", ["deflate", "lz4", "zstd", "bitshuffle, lz4", "bitshuffle, zstd", "blosc, lz4", "blosc, zlib", "blosc, zstd"])
def test_damaged_chunks_raise(name, tmp_path):
    for number, dataset, data in damaged_chunks(tmp_path / "a.h5", FILTERS[name], 200):
        assert (ours.read(dataset, slice(0, 2)) == data[:2]).all()
        try:
            read = ours.read(dataset)
        except hemstitch.Error as error:
            assert 200 <= error.status < 400 and str(error).startswith("the chunk at (2, 0) of /a: ")
        else:
            # LZ4's filter has no checksum.
            assert number >= 6 and read.shape == data.shape


def checked_in_the_middle(file, name, shape):
    """A dataset whose checksum comes first: the filters behind it rearrange and compress four bytes more."""
    created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    created.set_chunk((7, 30))
    created.set_fletcher32()
    created.set_shuffle()
    created.set_deflate(1)
    h5py.h5d.create(file.id, name, h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(shape), created)
    return file[name.decode()]


def test_checksums(tmp_path, monkeypatch):
    """Of chunks of any size, in any place among the filters; of old files, in which the bytes of a half stand in the other order; wrong ones."""
    data = values((20, 70), "i4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        theirs, written = (checked_in_the_middle(file, name, data.shape) for name in (b"theirs", b"ours"))
        theirs[:] = data
        with monkeypatch.context() as patch:
            forbid_h5pys_own_way(patch)
            assert (ours.read(theirs) == data).all()
            ours.write(written, data)
        assert (written[:] == data).all()
        without = bytes(hemstitch.compress(data[:7, :30].tobytes(), format="zlib"))
        theirs.id.write_direct_chunk((0, 0), without, filter_mask=3)
        assert (ours.read(theirs) == data).all()

        odd = numpy.random.default_rng(1).integers(0, 256, 20_001, "u1")
        highest = numpy.full(20_001, 255, "u1")  # whose sums are the largest
        for number, content in enumerate([odd[:1], odd[:2], odd[:3], odd[:720], odd[:721], odd, highest]):
            dataset = file.create_dataset(f"bytes {number}", data=content, chunks=content.shape, fletcher32=True)
            assert (ours.read(dataset) == content).all()
            ours.write(dataset, content)
            assert (dataset[:] == content).all()

        dataset = file.create_dataset("old", data=data, chunks=(20, 70), compression="gzip", fletcher32=True)
        chunk = dataset.id.read_direct_chunk((0, 0))[1]
        last = chunk[-4:]
        dataset.id.write_direct_chunk((0, 0), chunk[:-4] + bytes([last[1], last[0], last[3], last[2]]))
        assert (dataset[:] == data).all() and (ours.read(dataset) == data).all()
        for bad in (chunk[:-4] + bytes(4), b"abc", chunk[:50] + bytes([chunk[50] ^ 1]) + chunk[51:]):
            dataset.id.write_direct_chunk((0, 0), bad)
            with pytest.raises(hemstitch.Error, match="the chunk at \\(0, 0\\) of /old: a chunk.* fletcher32"):
                ours.read(dataset)


def test_netcdfs_way(tmp_path):
    """Deflate with shuffle, an axis without end: what NetCDF-4 writes."""
    with h5py.File(tmp_path / "a.nc", "w") as file:
        time = file.create_dataset("time", shape=(0, 20), maxshape=(None, 20), chunks=(8, 20), dtype="<f8", compression="gzip",
                                   compression_opts=2, shuffle=True)
        time.resize(21, axis=0)
        data = values((21, 20), "<f8")
        ours.write(time, data)
        assert (time[:] == data).all()
        time.resize(30, axis=0)
        assert time[25].tolist() == ours.read(time, 25).tolist() == [0] * 20


def test_a_file_for_reading_only(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("of it", data=values((10, 10), "i4"), chunks=(5, 10), compression="gzip")
    with h5py.File(tmp_path / "a.h5", "r") as file:
        for selection in ((), numpy.s_[0:3]):
            with pytest.raises(OSError, match="open for reading only; open it with mode 'r\\+' to write to /of it"):
                ours.write(file["of it"], 1, selection)


def test_what_is_no_dataset(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_group("folder")
        file["kind"] = numpy.dtype("i4")
        for name, kind in (("/", "file"), ("folder", "group"), ("kind", "datatype")):
            found = file if kind == "file" else file[name]
            for call in (lambda: ours.read(found), lambda: ours.write(found, 1)):
                with pytest.raises(TypeError, match=f"{name} is no dataset, but a {kind}$"):
                    call()
