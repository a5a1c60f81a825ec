"""Zstandard beside libzstd of several versions, and other packages: each reads what we write, and we what it writes.

The versions are the system's and the one in PyPI's package zstd. HEMSTITCH_LIBZSTD names libraries of others, separated by colons; the modules of
that package are such libraries, of the version that they are named after.
"""

import ctypes
import ctypes.util
import importlib.util
import os
import random

import pytest

import hemstitch

LEVELS = [*range(-7, 0), *range(1, 23)]


def text(size, seed=1):
    source = random.Random(seed)
    words = [bytes(source.choices(b"abcdefghij", k=source.randint(1, 9))) for _ in range(300)]
    return b" ".join(source.choices(words, k=size // 5))[:size]


CONTENTS = {
    "empty": b"",
    "a byte": b"x",
    "text": text(50_000),
    "noise": random.Random(2).randbytes(10_000),
    "zeros": bytes(140_000),
    "all": text(20_000, 3) + random.Random(4).randbytes(5_000) + bytes(9_000) + text(20_000, 3),
}


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]


class Library:
    """libzstd at a path. It must have streams, as 1.3.8 has."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        for name in ("ZSTD_createCStream", "ZSTD_createDStream"):
            getattr(self._library, name).restype = ctypes.c_void_p
        for name in ("ZSTD_compressBound", "ZSTD_compress", "ZSTD_decompress", "ZSTD_initCStream", "ZSTD_compressStream", "ZSTD_endStream",
                     "ZSTD_initDStream", "ZSTD_decompressStream"):
            getattr(self._library, name).restype = ctypes.c_size_t
        number = self._library.ZSTD_versionNumber()
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def _checked(self, result):
        if self._library.ZSTD_isError(ctypes.c_size_t(result)):
            raise ValueError(self.version)
        return result

    def compress(self, content, level):
        """With the content's size."""
        room = ctypes.create_string_buffer(self._library.ZSTD_compressBound(ctypes.c_size_t(len(content))))
        size = self._checked(self._library.ZSTD_compress(room, ctypes.c_size_t(len(room)), content, ctypes.c_size_t(len(content)), level))
        return room.raw[:size]

    def compress_stream(self, content, level):
        """Without it."""
        stream = ctypes.c_void_p(self._library.ZSTD_createCStream())
        self._checked(self._library.ZSTD_initCStream(stream, level))
        room = ctypes.create_string_buffer(len(content) + 5000)
        to = Buffer(ctypes.addressof(room), len(room), 0)
        for begin in range(0, len(content), 9_000):
            piece = content[begin:begin + 9_000]
            data = Buffer(ctypes.cast(piece, ctypes.c_void_p), len(piece), 0)
            while data.at < data.size:
                self._checked(self._library.ZSTD_compressStream(stream, ctypes.byref(to), ctypes.byref(data)))
        while self._checked(self._library.ZSTD_endStream(stream, ctypes.byref(to))):
            pass
        self._library.ZSTD_freeCStream(stream)
        return room.raw[:to.at]

    def restore(self, data, size):
        """In one call."""
        room = ctypes.create_string_buffer(size + 1)
        restored = self._checked(self._library.ZSTD_decompress(room, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data))))
        return room.raw[:restored]

    def restore_stream(self, data, piece_bytes):
        """In pieces. None where the frame is cut off."""
        stream = ctypes.c_void_p(self._library.ZSTD_createDStream())
        try:
            self._checked(self._library.ZSTD_initDStream(stream))
            kept = ctypes.create_string_buffer(data, len(data))
            given = Buffer(ctypes.addressof(kept), 0, 0)
            room = ctypes.create_string_buffer(1 << 17)
            pieces = []
            while True:
                to = Buffer(ctypes.addressof(room), len(room), 0)
                before = given.at
                given.size = min(len(data), before + piece_bytes)
                left = self._checked(self._library.ZSTD_decompressStream(stream, ctypes.byref(to), ctypes.byref(given)))
                pieces.append(room.raw[:to.at])
                if left == 0:
                    return b"".join(pieces)
                if given.at == before and to.at == 0:
                    return None
        finally:
            self._library.ZSTD_freeDStream(stream)


def libraries():
    paths = [ctypes.util.find_library("zstd")]
    if importlib.util.find_spec("zstd"):
        paths.append(importlib.util.find_spec("zstd").origin)
    paths += filter(None, os.environ.get("HEMSTITCH_LIBZSTD", "").split(":"))
    return [pytest.param(library, id=library.version) for library in map(Library, filter(None, paths))]


@pytest.mark.parametrize("library", libraries())
def test_it_reads_what_we_write(library):
    for level in LEVELS:
        for name, content in CONTENTS.items():
            frame = hemstitch.compress(content, format="zstd", level=level, threads=1)
            assert library.restore(frame, len(content)) == content, (level, name)
            assert library.restore_stream(frame, 10_000) == content, (level, name)


@pytest.mark.parametrize("library", libraries())
def test_we_read_what_it_writes(library):
    for level in LEVELS:
        for name, content in CONTENTS.items():
            frames = [library.compress(content, level)]
            if level % 5 == 0:  # without the content's size, much memory is cleared at high levels
                frames.append(library.compress_stream(content, level))
            for frame in frames:
                for backend in ("cpu", "reference"):
                    assert hemstitch.restore(frame, format="zstd", backend=backend, threads=1) == content, (level, name, backend)


def test_python_zstandard():
    zstandard = pytest.importorskip("zstandard")
    for content in CONTENTS.values():
        for options in (dict(level=-3), dict(level=7, write_checksum=True), dict(level=19, write_content_size=False), dict(level=3, threads=2)):
            assert hemstitch.restore(zstandard.ZstdCompressor(**options).compress(content)) == content
        frame = hemstitch.compress(content, format="zstd")
        assert zstandard.ZstdDecompressor().decompressobj().decompress(frame) == content
    samples = [text(400, seed) for seed in range(300)]
    dictionary = zstandard.train_dictionary(4000, samples)
    frame = zstandard.ZstdCompressor(dict_data=dictionary).compress(samples[0])
    assert hemstitch.restore(frame, dictionary=dictionary.as_bytes()) == samples[0]
    frame = hemstitch.compress(samples[1], format="zstd", dictionary=dictionary.as_bytes())
    assert zstandard.ZstdDecompressor(dict_data=dictionary).decompress(frame) == samples[1]


def test_pyzstd():
    pyzstd = pytest.importorskip("pyzstd")
    for content in CONTENTS.values():
        assert hemstitch.restore(pyzstd.compress(content, 5)) == content
        assert pyzstd.decompress(hemstitch.compress(content, format="zstd", level=9)) == content
        rich = {pyzstd.CParameter.compressionLevel: 4, pyzstd.CParameter.windowLog: 10, pyzstd.CParameter.checksumFlag: 1}
        assert hemstitch.restore(pyzstd.compress(content, rich)) == content


def test_seekable_files_of_pyzstd(tmp_path):
    pyzstd = pytest.importorskip("pyzstd")
    content = CONTENTS["all"] * 8
    theirs, ours = tmp_path / "theirs.zst", tmp_path / "ours.zst"
    with pyzstd.SeekableZstdFile(theirs, "w", max_frame_content_size=1 << 16) as file:
        file.write(content)
    ours.write_bytes(hemstitch.compress(content, format="zstd", seekable_bytes=1 << 16))
    for path in (theirs, ours):
        packed = path.read_bytes()
        assert hemstitch.restore(packed) == content
        assert hemstitch.restore_ranges(packed, [(130_000, 140_000), (0, 10)]) == [content[130_000:140_000], content[:10]]
        assert pyzstd.SeekableZstdFile.is_seekable_format_file(path)
        for opened in (pyzstd.SeekableZstdFile(path, "r"), hemstitch.open(path)):
            with opened as file:
                file.seek(200_000)
                assert file.read(70_000) == content[200_000:270_000]
                file.seek(0)
                assert file.read() == content
