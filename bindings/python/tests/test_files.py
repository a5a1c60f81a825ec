"""hemstitch.open() under the standard library and pandas, against gzip and lz4.frame."""

import builtins
import gzip
import io
import os
import random
import signal
import subprocess
import sys
import tarfile
import threading
import zlib

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
        by_peer = {"lz4": lz4.frame.decompress, "zlib": zlib.decompress}.get(format, gzip.decompress)
        packed = (tmp_path / name).read_bytes()
        assert by_peer(packed) == text and (packed[12:14] == b"BC") == (format == "bgzf")
    with pytest.raises(FileExistsError):
        hemstitch.open(tmp_path / "a.gz", "xb")
    with pytest.raises(FileNotFoundError):
        hemstitch.open(tmp_path / "missing")
    for mode in ("r+", "ra", "rbt", "aa", ""):
        with pytest.raises(ValueError, match="mode"):
            hemstitch.open(tmp_path / "a.gz", mode)
    with pytest.raises(hemstitch.Error, match="format"):
        hemstitch.open(tmp_path / "new", "wb", format="zip")
    assert not (tmp_path / "new").exists()
    with pytest.raises(ValueError, match="text"):
        hemstitch.open(tmp_path / "a.gz", "rb", encoding="ascii")


def test_append(text, tmp_path):
    for name, by_peer in [("a.lz4", lz4.frame.decompress), ("a.gz", gzip.decompress), ("a.bgz", gzip.decompress), ("a.zst", None)]:
        path = tmp_path / name
        for number, part in enumerate((text, b"", b"two")):
            with hemstitch.open(path, "ab") as file:
                assert file.tell() == 0 and file.mode == "ab"
                file.write(part)
        with hemstitch.open(path, "at", encoding="ascii") as file:
            file.write(" three")
        assert hemstitch.open(path).read() == text + b"two three"
        if name == "a.gz":
            assert gzip.open(path).read() == text + b"two three"
    for format in ("zlib", "deflate"):
        path = tmp_path / format
        with hemstitch.open(path, "ab", format=format) as file:
            file.write(text)
        packed = path.read_bytes()
        with pytest.raises(ValueError, match="mode is 'ab'"):
            hemstitch.open(path, "ab", format=format)
        assert path.read_bytes() == packed and hemstitch.restore(packed, format=format) == text


def test_what_a_file_says_of_itself(text, tmp_path):
    path = tmp_path / "a.gz"
    with hemstitch.open(path, "wb") as file:
        assert file.name == str(path) and file.mode == "wb" and os.fstat(file.fileno()).st_size >= 0
        file.write(b"a line\n")
        file.flush()
        assert zlib.decompressobj(31).decompress(path.read_bytes()) == b"a line\n"
        assert repr(file) == f"<hemstitch.Writer name={str(path)!r} mode='wb'>"
    with pytest.raises(ValueError, match="closed"):
        file.fileno()
    for open_it in (hemstitch.open, hemstitch.Reader):
        with open_it(str(path)) as file:
            assert file.name == str(path) and file.mode == "rb" and os.pread(file.fileno(), 2, 0) == b"\x1f\x8b"
        assert file.name == str(path) and file.closed and repr(file).endswith("mode='rb' closed>")
    with hemstitch.open(path) as file:
        assert file.peek(3)[:3] == b"a l" and file.read() == b"a line\n" and list(file) == [] and file.peek() == b""
    with hemstitch.open(path, "rt") as file:
        assert file.name == str(path) and next(file) == "a line\n"
    with builtins.open(path, "rb") as inner, hemstitch.open(inner) as file:
        assert file.name == str(path) and file.fileno() == inner.fileno()
    with hemstitch.open(io.BytesIO(path.read_bytes())) as file:
        assert file.name == ""
        with pytest.raises(OSError):
            file.fileno()
        assert [next(file)] + list(file) == [b"a line\n"]
    # A call does not need the file to be kept.
    assert hemstitch.open(path).read() == b"a line\n" and hemstitch.open(path).readline() == b"a line\n" and list(hemstitch.open(path)) == [b"a line\n"]


def test_numpy_reads_the_content_not_the_descriptor(tmp_path):
    numpy = pytest.importorskip("numpy")
    with hemstitch.open(tmp_path / "a.npy.gz", "wb") as file:
        numpy.save(file, numpy.arange(10_000))
    with hemstitch.open(tmp_path / "a.npy.gz") as file:
        assert (numpy.load(file) == numpy.arange(10_000)).all()


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


def packed_in_ways(data):
    """(name, packed): with blocks of their own, and without."""
    linked = lz4.frame.compress(data, block_linked=True, block_size=lz4.frame.BLOCKSIZE_MAX64KB)
    return [("lz4", hemstitch.compress(data)), ("linked lz4", linked), ("gzip", gzip.compress(data, 1)),
            ("two members", gzip.compress(data[:1000]) + gzip.compress(data[1000:])), ("bgzf", hemstitch.compress(data, format="bgzf")),
            ("seekable zstd", hemstitch.compress(data, format="zstd", seekable_bytes=1 << 16))]


def test_seekable_zstd(text, tmp_path):
    packed = hemstitch.compress(text, format="zstd", seekable_bytes=1 << 16)
    with hemstitch.open(tmp_path / "a.zst", "wb", seekable_bytes=1 << 16) as file:
        file.write(text)
    assert (tmp_path / "a.zst").read_bytes() == packed == hemstitch.compress_many([text], format="zstd", seekable_bytes=1 << 16)[0]
    assert packed.endswith(b"\xb1\xea\x92\x8f")
    assert hemstitch.restore(packed) == text
    assert hemstitch.restore_ranges(packed, [(70_000, 140_000)]) == [text[70_000:140_000]]
    with hemstitch.open(tmp_path / "a.zst") as file:
        file.seek(100_000)
        assert file.read(100) == text[100_000:100_100]
    with pytest.raises(hemstitch.Error):
        hemstitch.compress(text, format="zstd", seekable_bytes=10)


def test_window_of_zstd(text, tmp_path):
    far = text + os.urandom(6 << 20) + text
    packed = hemstitch.compress(far, format="zstd", window_log=24)
    assert len(packed) < len(far) - len(text)
    assert len(packed) + 1000 < len(hemstitch.compress(far, format="zstd"))
    with hemstitch.open(tmp_path / "a.zst", "wb", window_log=24) as file:
        file.write(far)
    assert hemstitch.restore((tmp_path / "a.zst").read_bytes()) == far == hemstitch.restore(packed)
    assert hemstitch.compress_many([far], format="zstd", window_log=24) == [packed]
    with hemstitch.open(tmp_path / "wide.zst", "wb", window_log=28) as file:
        file.write(text)
    wide = (tmp_path / "wide.zst").read_bytes()
    with pytest.raises(hemstitch.Error, match="window_log 28 or a memory_limit_bytes of 268435456"):
        hemstitch.restore(wide)
    assert hemstitch.restore(wide, window_log=28) == text
    assert hemstitch.restore_many([wide], window_log=31) == [text]
    with hemstitch.open(tmp_path / "wide.zst", window_log=28) as file:
        assert file.read() == text
    with pytest.raises(hemstitch.Error, match="window_log"):
        hemstitch.compress(text, format="zstd", window_log=32)


@pytest.mark.parametrize("of_path", [True, False])
def test_threads_read_ranges_of_one_file(of_path, text, tmp_path):
    for name, packed in packed_in_ways(text):
        (tmp_path / "packed").write_bytes(packed)
        with hemstitch.open(tmp_path / "packed" if of_path else io.BytesIO(packed), threads=1) as file:
            wrong = []

            def work(seed):
                source = random.Random(seed)
                for _ in range(8):
                    at = source.randrange(len(text) - 5000)
                    try:
                        if file.raw.read_range(at, at + 5000) != text[at:at + 5000]:
                            wrong.append("other bytes")
                    except Exception as error:
                        wrong.append(repr(error))

            threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
            for thread in threads:
                thread.start()
            # The position is not theirs.
            assert b"".join(iter(lambda: file.read(30_000), b"")) == text
            for thread in threads:
                thread.join()
            assert not wrong, (name, wrong[:3])


def test_threads_write_and_read_one_file_in_turn(tmp_path):
    pieces = [b"%d," % number * 9000 for number in range(1000, 1400)]  # each as long as the others
    size = len(pieces[0])
    with hemstitch.open(tmp_path / "log.gz", "wb", threads=1) as log:
        threads = [threading.Thread(target=lambda some: [log.write(piece) for piece in some], args=(pieces[part::8],)) for part in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    content = hemstitch.restore((tmp_path / "log.gz").read_bytes())
    assert sorted(content[at:at + size] for at in range(0, len(content), size)) == pieces
    with hemstitch.open(tmp_path / "log.gz", threads=1) as log:
        read = []

        def work():
            try:
                read.extend(iter(lambda: log.raw.read(1009), b""))
            except Exception as error:
                read.append(repr(error).encode())

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(read) == sorted(content[at:at + 1009] for at in range(0, len(content), 1009))


class Raw(io.RawIOBase):
    """A raw file that does not block: it takes or gives some bytes, or None."""

    def __init__(self, answers, content=b""):
        self.answers = answers  # how many bytes, or None, for each call in turn; then all
        self.calls = 0
        self.taken = bytearray()
        self.content = content

    def _answer(self, most):
        self.calls += 1
        assert self.calls < 10_000, "it is asked for ever"
        answer = self.answers.pop(0) if self.answers else most
        return answer if answer is None else min(answer, most)

    def writable(self):
        return True

    def readable(self):
        return True

    def write(self, data):
        size = self._answer(len(data))
        self.taken += data[:size or 0] if (size or 0) >= 0 else b""
        return size

    def readinto(self, room):
        size = self._answer(min(len(room), len(self.content)))
        if size:
            room[:size], self.content = self.content[:size], self.content[size:]
        return size


def retried(call, *arguments):
    for _ in range(10):
        try:
            return call(*arguments)
        except BlockingIOError as error:
            assert error.errno and error.characters_written == 0
    raise AssertionError("it never ends")


@pytest.mark.parametrize("buffered", [False, True])
def test_a_raw_file_that_does_not_block_loses_nothing(buffered, text):
    noise = random.Random(5).randbytes(40_000_000)
    raw = Raw([None, 10, None, 100_000, None, None, 1])
    file = hemstitch.open(io.BufferedWriter(raw) if buffered else raw, "wb")
    at = 0
    blocked = 0
    while at < len(noise):
        try:
            at += file.write(memoryview(noise)[at:])
        except BlockingIOError as error:
            blocked += 1
            at += error.characters_written
    raw.answers = [None, 3, None]
    retried(file.flush)
    assert hemstitch.open(io.BytesIO(bytes(raw.taken))).read(len(noise)) == noise
    raw.answers = [None, 1, None]
    assert file.write(text) == len(text)
    retried(file.close)
    assert file.closed and blocked
    assert hemstitch.restore(raw.taken) == noise + text


def test_files_that_say_nonsense(text):
    for answer in (0, -1, 10**9):
        class Liar(io.RawIOBase):
            def writable(self):
                return True

            def write(self, data):
                return answer

        file = hemstitch.open(Liar(), "wb")
        with pytest.raises(OSError, match="returned"):
            file.write(text)
            file.close()
        assert file.closed

    class Silent:  # no raw file of io's: it took all, and says nothing
        def __init__(self):
            self.parts = []

        def write(self, data):
            self.parts.append(bytes(data))

    silent = Silent()
    with hemstitch.open(silent, "wb") as file:
        file.write(text)
    assert hemstitch.restore(b"".join(silent.parts)) == text


@pytest.mark.parametrize("buffered", [False, True])
def test_reading_a_raw_file_that_does_not_block(buffered, text):
    raw = Raw([None, None, 1, None, None, 2, 30_000, None, None, None, None] if buffered else [None, 1, None, 2, 30_000, None, None],
              hemstitch.compress(text))
    file = hemstitch.Reader(io.BufferedReader(raw) if buffered else raw)
    content, none = b"", 0
    while True:
        part = file.read(100_000)
        if part == b"":
            break
        none += part is None
        content += part or b""
    assert content == text and none == 4
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    with builtins.open(read_end, "rb") as pipe, builtins.open(write_end, "wb", buffering=0) as other, hemstitch.open(pipe) as file:
        packed = hemstitch.compress(text[:50_000])
        assert file.read(10) is None
        other.write(packed[:50])
        assert file.read(10) is None
        other.write(packed[50:])
        assert file.read(10) == text[:10]
        assert file.read(50_000) == text[10:50_000]
        other.close()
        assert file.read() == b""


def through_a_pipe(packed):
    read_end, write_end = os.pipe()

    def write():
        with builtins.open(write_end, "wb") as pipe:
            pipe.write(packed)

    threading.Thread(target=write, daemon=True).start()
    return builtins.open(read_end, "rb")


WAYS_TO_THE_END = {
    "read()": lambda file: file.read() + file.read(),
    "read(n)": lambda file: b"".join(iter(lambda: file.read(3000), b"")),
    "read1(n)": lambda file: b"".join(iter(lambda: file.read1(3000), b"")),
    "raw.read(n)": lambda file: b"".join(iter(lambda: file.raw.read(3000), b"")) + file.raw.read(5) + file.raw.readall(),
    "lines": lambda file: b"".join(file),
    "text": lambda file: io.TextIOWrapper(file, newline="").read().encode(),
}


@pytest.mark.parametrize("way", WAYS_TO_THE_END)
def test_pipes_end(way, text):
    for name, packed in packed_in_ways(text):
        with through_a_pipe(packed) as pipe:
            assert WAYS_TO_THE_END[way](hemstitch.open(pipe)) == text, name
    with through_a_pipe(gzip.compress(b"a,b\n" + b"1,2\n" * 9000)) as pipe:
        assert len(pandas.read_csv(hemstitch.open(pipe))) == 9000


class Counting(io.BytesIO):
    """Counts the bytes that are read of it."""

    def __init__(self, content):
        super().__init__(content)
        self.bytes = 0

    def read1(self, size=-1):
        part = super().read1(size)
        self.bytes += len(part)
        return part

    def read(self, size=-1):
        part = super().read(size)
        self.bytes += len(part)
        return part


def test_questions_past_the_end_read_nothing_again(text):
    for name, packed in packed_in_ways(text):
        counting = Counting(packed)
        with hemstitch.open(counting) as file:
            assert file.read() == text
            for _ in range(5):
                assert file.read(10) == b"" and file.read() == b"" and file.raw.read(1) == b""
            assert counting.bytes == len(packed), name


def test_a_bomb_is_restored_as_it_is_read(most_memory, tmp_path):
    """1 GB from 1 to 4 MB: what is not asked for is not restored. In processes of their own, since memory is measured."""
    size = 1 << 30
    for format in ("gzip", "lz4", "bgzf"):
        path = tmp_path / f"bomb.{format}"
        with hemstitch.open(path, "wb", format=format, level=1) as file:
            for _ in range(size >> 24):
                file.write(bytes(1 << 24))
        code = most_memory + f"""
import hemstitch
before = most_memory()
with hemstitch.open({str(path)!r}, threads=2) as file:
    assert file.read(10) == bytes(10)
    for _ in range(20):
        assert len(file.read(1 << 20)) == 1 << 20
    assert file.raw.read_range(5_000_000, 5_000_010) == bytes(10)
print((most_memory() - before) >> 10)
"""
        used = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
        assert used < 150, f"{format}: {used} MB"


@pytest.mark.parametrize("format", FORMATS)
def test_a_live_pipe_is_not_held_back(format):
    """A writer that waits for each answer: it hangs if content waits for more input."""
    read_end, write_end = os.pipe()
    source = random.Random(3)
    sizes = [10, 1, 5000, 300_000, 70, 2_000_000, 3]
    messages = [bytes(source.choices(b"abcdefgh\n", k=size)) for size in sizes]
    failed = []

    def answer():
        try:
            with builtins.open(read_end, "rb") as pipe, hemstitch.open(pipe, format=told(format)) as file:
                for message in messages:
                    if file.read(len(message)) != message:
                        failed.append(len(message))
                    answers.release()
                assert file.read() == b""
        except BaseException as error:
            failed.append(error)
            answers.release()

    answers = threading.Semaphore(0)
    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    with builtins.open(write_end, "wb") as pipe, hemstitch.open(pipe, "wb", format=format) as file:
        for message in messages:
            file.write(message)
            file.flush()
            assert answers.acquire(timeout=60), f"no answer to {len(message)} bytes"
            assert not failed
    thread.join(60)
    assert not failed and not thread.is_alive()


def test_what_is_flushed_others_read(text, tmp_path):
    lines = [b"%d of a log\n" % number for number in range(300)]
    for format in ("gzip", "zlib"):  # a unit test does so with liblz4
        path = tmp_path / f"log.{format}"
        with hemstitch.open(path, "wb", format=format) as file:
            for number, line in enumerate(lines):
                file.write(line)
                if number % 50:
                    continue
                file.flush()
                reader = zlib.decompressobj(31 if format == "gzip" else 15)
                assert reader.decompress(path.read_bytes()) == b"".join(lines[:number + 1])
            file.flush()
            size = path.stat().st_size
            file.flush()
            assert path.stat().st_size == size
        assert hemstitch.restore(path.read_bytes(), format=format) == b"".join(lines)
    # A flush before the end costs nothing, so text files, which do that, are as small as others.
    for flushes in (0, 1):
        with hemstitch.open(tmp_path / str(flushes), "wb") as file:
            file.write(text)
            for _ in range(flushes):
                file.flush()
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_all_before_the_damage_is_given():
    content = b"".join(b"line %d\n" % number for number in range(400_000))
    for packed in (gzip.compress(content), hemstitch.compress(content, block_bytes=65536)):
        packed = packed[:len(packed) // 2]
        counts = []
        for open_it in (lambda: hemstitch.open(io.BytesIO(packed)), lambda: hemstitch.open(io.BytesIO(packed), threads=1),
                        lambda: gzip.open(io.BytesIO(packed)) if packed[:2] == b"\x1f\x8b" else lz4.frame.open(io.BytesIO(packed))):
            count = 0
            with open_it() as file, pytest.raises((hemstitch.Error, EOFError, RuntimeError)):
                for line in file:
                    assert line == b"line %d\n" % count
                    count += 1
            counts.append(count)
        assert min(counts[:2]) >= counts[2] > 100_000
        with hemstitch.open(io.BytesIO(packed)) as file:
            for _ in range(3):  # it says so each time
                with pytest.raises(hemstitch.Error) as caught:
                    file.read()
                assert caught.value.status == hemstitch.Status.TRUNCATED


def test_closing_a_file_that_threads_read(text, tmp_path):
    (tmp_path / "a.lz4").write_bytes(hemstitch.compress(text))
    file = hemstitch.Reader(tmp_path / "a.lz4")
    said = []

    def work():
        try:
            while True:
                assert file.read_range(1000, 500_000) == text[1000:500_000]
        except ValueError as error:
            said.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    file.close()
    for thread in threads:
        thread.join()
    assert said == ["the file is closed"] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_never_waits_for_threads_that_are_not_there():
    content = b"".join(b"%d,%d\n" % (number, number * number) for number in range(1_000_000))
    for packed in (gzip.compress(content, 1), hemstitch.compress(content)):
        for threads in (0, 1):
            with hemstitch.open(io.BytesIO(packed), threads=threads) as file, hemstitch.open(io.BytesIO(packed)) as fresh:
                assert file.read(5_000_000) == content[:5_000_000]
                child = os.fork()
                if child == 0:
                    right = 1
                    try:
                        signal.alarm(60)
                        try:
                            right = file.read() == content[5_000_000:]
                        except hemstitch.Error as error:
                            right = threads == 0 and packed[:2] == b"\x1f\x8b" and "open it again" in str(error)
                        right = right and fresh.read() == content
                        file.close()
                        del file, fresh
                    finally:
                        os._exit(0 if right else 1)
                assert os.waitpid(child, 0)[1] == 0
                assert file.read() == content[5_000_000:]
