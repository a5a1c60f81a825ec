"""hemstitch.open() under the standard library and pandas, against gzip and lz4.frame."""

import builtins
import gzip
import io
import os
import random
import tarfile
import threading

import lz4.frame
import pandas
import pytest

import hemstitch

FORMATS = ["lz4", "gzip", "bgzf", "zlib", "deflate"]


def told(format):
    return format if format in ("zlib", "deflate") else None


@pytest.mark.parametrize("format", FORMATS)
def test_written_and_read(format, shapes, tmp_path):
    for number, data in enumerate(shapes):
        path = tmp_path / f"{number}"
        with hemstitch.open(path, "wb", format=format) as file:
            source = random.Random(number)
            at = 0
            while at < len(data):
                size = source.choice([1, 100, 5000, 100_000, 1_000_000])
                assert file.write(data[at:at + size]) == len(data[at:at + size])
                at += size
            assert file.tell() == len(data)
        if format in ("gzip", "bgzf"):
            assert gzip.decompress(path.read_bytes()) == data
        with hemstitch.open(path, format=told(format)) as file:
            assert file.read() == data and file.read() == b""


def test_suffixes_and_modes(text, tmp_path):
    for name, format in [("a.lz4", "lz4"), ("a.gz", "gzip"), ("a.bgz", "bgzf"), ("a.zz", "zlib"), ("a", "lz4")]:
        with hemstitch.open(tmp_path / name, "xb") as file:
            file.write(text)
        with hemstitch.open(tmp_path / name, format="zlib" if format == "zlib" else None) as file:
            assert file.read() == text
        assert (gzip.decompress if format in ("gzip", "bgzf") else bytes)((tmp_path / name).read_bytes())
    with pytest.raises(FileExistsError):
        hemstitch.open(tmp_path / "a.gz", "xb")
    with pytest.raises(FileNotFoundError):
        hemstitch.open(tmp_path / "missing")
    for mode in ("r+", "a", "rbt", ""):
        with pytest.raises(ValueError, match="mode"):
            hemstitch.open(tmp_path / "a.gz", mode)
    with pytest.raises(hemstitch.Error, match="format"):
        hemstitch.open(tmp_path / "new", "wb", format="zip")
    assert not (tmp_path / "new").exists()
    with pytest.raises(ValueError, match="text"):
        hemstitch.open(tmp_path / "a.gz", "rb", encoding="ascii")


def test_text(tmp_path):
    lines = [f"line {number}: äöü\n" for number in range(100_000)]
    with hemstitch.open(tmp_path / "log.gz", "wt", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
    with gzip.open(tmp_path / "log.gz", "rt", encoding="utf-8") as file:
        assert file.readlines() == lines
    with hemstitch.open(tmp_path / "log.gz", "rt", encoding="utf-8") as file:
        assert list(file) == lines


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("of_path", [True, False])
def test_seek(format, of_path, text, tmp_path):
    data = text * 4
    packed = hemstitch.compress(data, format=format)
    (tmp_path / "packed").write_bytes(packed)
    source = random.Random(41)
    with hemstitch.open(tmp_path / "packed" if of_path else io.BytesIO(packed), format=told(format)) as file:
        model = io.BytesIO(data)
        for _ in range(60 if format in ("lz4", "bgzf") else 12):
            whence = source.choice([0, 0, 1, 2])
            offset = source.randint(0, len(data) + 10) if whence == 0 else source.randint(-20_000, 20_000)
            if whence == 1:
                offset = max(offset, -model.tell())
            assert file.seek(offset, whence) == model.seek(offset, whence) == file.tell()
            size = source.choice([0, 1, 70, 5000, 300_000])
            assert file.read(size) == model.read(size)
        file.seek(0)
        assert file.read() == data
        with pytest.raises(OSError):
            file.seek(-1)


@pytest.mark.parametrize("format", FORMATS)
def test_read_range(format, text, tmp_path):
    data = text * 4
    path = tmp_path / "packed"
    path.write_bytes(hemstitch.compress(data, format=format))
    with hemstitch.Reader(path, format=told(format) or "auto") as file:
        assert file.size() == len(data)
        for begin, end in [(0, 0), (0, 1), (5, 500_000), (len(data) - 3, len(data) + 9), (len(data), len(data) + 1),
                           (len(data) + 100, len(data) + 200), (65_535, 65_537)]:
            assert file.read_range(begin, end) == data[begin:end]
        with pytest.raises(ValueError, match="range"):
            file.read_range(5, 4)
        assert file.tell() == 0 and file.read(10) == data[:10]


def test_ranges_restore_what_they_touch_and_no_more(text):
    packed = bytearray(hemstitch.compress(text, block_bytes=65536))
    packed[len(packed) - 1000] ^= 1
    assert hemstitch.restore_ranges(packed, [(5, 70), (100_000, 200_000)]) == [text[5:70], text[100_000:200_000]]
    with hemstitch.Reader(io.BytesIO(packed)) as file:
        assert file.read_range(1000, 2000) == text[1000:2000]
        with pytest.raises(hemstitch.Error) as caught:
            file.read_range(len(text) - 10, len(text))
        assert caught.value.status == hemstitch.Status.BLOCK_CHECKSUM_MISMATCH and caught.value.block


def test_files_that_cannot_seek(text):
    read_end, write_end = os.pipe()

    def write():
        with builtins.open(write_end, "wb") as pipe, hemstitch.open(pipe, "wb") as file:
            file.write(text)

    writer = threading.Thread(target=write)
    writer.start()
    with builtins.open(read_end, "rb") as pipe, hemstitch.open(pipe) as file:
        assert not file.seekable()
        assert file.read(1000) == text[:1000]
        with pytest.raises(io.UnsupportedOperation):
            file.raw.seek(0)
        assert file.read() == text[1000:]
    writer.join()


def test_a_file_object_stays_open(text):
    target = io.BytesIO()
    target.write(b"before")
    with hemstitch.open(target, "wb") as file:
        file.write(text)
    target.write(b"")
    target.seek(6)
    with hemstitch.open(target) as file:
        assert file.read(5) == text[:5]
        assert file.seek(0) == 0 and file.read() == text
    assert not target.closed
    with pytest.raises(ValueError):
        file.read()


def test_many_frames(text, tmp_path):
    (tmp_path / "two.lz4").write_bytes(lz4.frame.compress(text) + hemstitch.compress(text[:100]))
    with hemstitch.open(tmp_path / "two.lz4") as file:
        assert file.read() == text + text[:100]


def test_under_tarfile_and_pandas(text, tmp_path):
    (tmp_path / "one").write_bytes(text)
    with hemstitch.open(tmp_path / "all.tar.lz4", "wb") as file, tarfile.open(fileobj=file, mode="w|") as tar:
        for number in range(3):
            tar.add(tmp_path / "one", f"file {number}")
    for mode in ("r:", "r|"):
        with hemstitch.open(tmp_path / "all.tar.lz4") as file, tarfile.open(fileobj=file, mode=mode) as tar:
            assert [tar.extractfile(member).read() for member in tar] == [text] * 3
    frame = pandas.DataFrame({"a": range(5000), "b": [f"row {number}" for number in range(5000)]})
    with hemstitch.open(tmp_path / "table.csv.gz", "wt", newline="") as file:
        frame.to_csv(file, index=False)
    assert pandas.read_csv(tmp_path / "table.csv.gz").equals(frame)
    with hemstitch.open(tmp_path / "table.csv.gz") as file:
        assert pandas.read_csv(file).equals(frame)


def test_damaged_files_raise(text, tmp_path):
    packed = hemstitch.compress(text)
    path = tmp_path / "bad.lz4"
    for bad in (packed[:-5], packed[:100], b"no frame at all", b""):
        path.write_bytes(bad)
        with hemstitch.open(path) as file:
            with pytest.raises(hemstitch.Error):
                file.read()


def test_a_full_disk_is_told():
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    file = hemstitch.open("/dev/full", "wb")
    with pytest.raises(OSError):
        file.write(os.urandom(50_000_000))
        file.close()
    with pytest.raises(OSError):
        file.close()
    assert file.closed


def test_two_threads_at_one_stream(text):
    """Wrong use ends in words or in bytes of both, never in wrong memory."""
    stream = hemstitch._core.CompressStream()
    data = text * 10
    said = []

    def write():
        for _ in range(10):
            try:
                stream.write(data)
            except hemstitch.Error as error:
                said.append(error.status)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(said) <= {hemstitch.Status.WRONG_STATE}


def test_an_index_of_gzip(text, tmp_path):
    source = random.Random(12)
    content = b"".join(bytes(source.choices(text, k=100_000)) for _ in range(5)) * 20 + text  # 11 MB, which is three points
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(content, 1))
    index = hemstitch.make_index(path.read_bytes())
    (tmp_path / "a.gz.gzidx").write_bytes(index)
    for given in (index, tmp_path / "a.gz.gzidx", str(tmp_path / "a.gz.gzidx")):
        with hemstitch.open(path, index=given) as file:
            assert file.raw.read_range(9_000_000, 9_000_100) == content[9_000_000:9_000_100]
            for _ in range(10):
                at = source.randrange(len(content))
                file.seek(at)
                assert file.read(1000) == content[at:at + 1000]
            assert file.seek(0, 2) == len(content) and file.read() == b""
            assert file.raw.read_range(len(content) - 5, len(content) + 5) == content[-5:]
            file.seek(0)
            assert file.read() == content
    pairs = [(0, 5), (9_000_000, 9_500_000), (len(content) - 3, len(content))]
    assert hemstitch.restore_ranges(path.read_bytes(), pairs, index=index) == [content[begin:end] for begin, end in pairs]
    # What begins at its points never sees damage that lies before them.
    damaged = bytearray(path.read_bytes())
    damaged[1000:1100] = bytes(100)
    path.write_bytes(damaged)
    with hemstitch.open(path, index=index) as file:
        assert file.raw.read_range(9_000_000, 9_000_100) == content[9_000_000:9_000_100]
    with hemstitch.open(path) as file, pytest.raises(hemstitch.Error):
        file.raw.read_range(9_000_000, 9_000_100)
    for wrong in (b"", b"GZIDX", index[:50], path.read_bytes()):
        with hemstitch.open(path, index=wrong) as file, pytest.raises(hemstitch.Error):
            file.raw.read_range(0, 5)
    with pytest.raises(FileNotFoundError):
        hemstitch.open(path, index=tmp_path / "none")
    with pytest.raises(ValueError, match="reading"):
        hemstitch.open(tmp_path / "b.gz", "wb", index=index)
    assert not (tmp_path / "b.gz").exists()


def test_an_index_of_others(text, tmp_path):
    indexed_gzip = pytest.importorskip("indexed_gzip")
    content = text * 12
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(content, 6))
    with indexed_gzip.IndexedGzipFile(str(path), spacing=1 << 20) as file:
        file.build_full_index()
        file.export_index(str(tmp_path / "theirs"))
    with hemstitch.open(path, index=tmp_path / "theirs") as file:
        assert file.raw.read_range(7_000_000, 7_000_100) == content[7_000_000:7_000_100]
    (tmp_path / "ours").write_bytes(hemstitch.make_index(path.read_bytes()))
    with indexed_gzip.IndexedGzipFile(str(path), index_file=str(tmp_path / "ours")) as file:
        file.seek(7_000_000)
        assert file.read(100) == content[7_000_000:7_000_100]
