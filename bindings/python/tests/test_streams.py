"""hemstitch.Compressor and Decompressor, against bz2, lzma, zlib and the formats' own libraries."""

import bz2
import gzip
import lzma
import os
import random
import signal
import subprocess
import sys
import threading
import zlib

import lz4.frame
import pytest
import zstandard

import hemstitch

FORMATS = ["lz4", "gzip", "bgzf", "zlib", "deflate", "zstd"]
PEERS = {"lz4": lz4.frame.decompress, "gzip": gzip.decompress, "bgzf": gzip.decompress, "zlib": zlib.decompress,
         "deflate": lambda packed: zlib.decompress(packed, -15), "zstd": lambda packed: zstandard.ZstdDecompressor().decompressobj().decompress(packed)}


def told(format):
    return format if format in ("zlib", "deflate") else "auto"


def pieces(data, sizes):
    at = 0
    while at < len(data):
        size = next(sizes)
        yield data[at:at + size]
        at += size


@pytest.mark.parametrize("format", FORMATS)
def test_any_pieces(format, shapes):
    for number, data in enumerate(shapes):
        source = random.Random(number)
        sizes = iter(lambda: source.choice([1, 100, 5000, 100_000, 1_000_000]), None)
        compressor = hemstitch.Compressor(format=format)
        packed = b"".join([compressor.compress(piece) for piece in pieces(data, sizes)] + [compressor.flush()])
        assert PEERS[format](packed) == data
        with pytest.raises(ValueError):
            compressor.compress(b"more")
        for most in (-1, 1000, 65536, 1 << 20):
            decompressor = hemstitch.Decompressor(format=told(format), threads=number % 2)
            assert not decompressor.eof and decompressor.needs_input and decompressor.unused_data == b""
            restored = []
            step = max(1, len(packed) // 5)
            for piece in pieces(packed, iter(lambda: step, None)):
                restored.append(decompressor.decompress(piece, most))
                while not decompressor.needs_input and not decompressor.eof:
                    restored.append(decompressor.decompress(b"", max_length=most))
            assert b"".join(restored) == data and decompressor.eof and not decompressor.needs_input
            assert all(len(one) <= most or most < 0 for one in restored)


@pytest.mark.parametrize("format", FORMATS)
def test_the_end_is_known_byte_by_byte(format):
    packed = hemstitch.compress(b"some words, some words, some words", format=format)
    decompressor = hemstitch.Decompressor(format=told(format))
    content = b""
    for at in range(len(packed)):
        # A gzip stream is whole after each of its members, as BGZF has two.
        assert not decompressor.eof or (format == "bgzf" and content)
        content += decompressor.decompress(packed[at:at + 1])
    assert decompressor.eof and content == b"some words, some words, some words" and decompressor.unused_data == b""


@pytest.mark.parametrize("after", [b"j", b"junk", b"no frame begins here, whatever these bytes are" * 100])
@pytest.mark.parametrize("format", FORMATS)
def test_what_follows(format, after):
    packed = hemstitch.compress(b"data" * 1000, format=format)
    for cut in (0, 1, len(packed) // 2, len(packed) - 1, len(packed), len(packed) + 1):
        decompressor = hemstitch.Decompressor(format=told(format))
        whole = packed + after
        content = decompressor.decompress(whole[:cut])
        used = len(whole)
        if not decompressor.unused_data:
            content += decompressor.decompress(whole[cut:])
        else:
            used = cut
        assert content == b"data" * 1000 and decompressor.eof
        assert decompressor.unused_data == whole[len(packed):used]
        with pytest.raises(EOFError):
            decompressor.decompress(b"")
    theirs = bz2.BZ2Decompressor()
    theirs.decompress(bz2.compress(b"data") + after)
    assert theirs.eof and theirs.unused_data == after
    with pytest.raises(EOFError):
        theirs.decompress(b"")


def test_frames_that_follow_each_other():
    for one, two in [(lz4.frame.compress(b"one"), hemstitch.compress(b"two")), (gzip.compress(b"one"), gzip.compress(b"two")),
                     (zstandard.compress(b"one"), b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstandard.compress(b"two"))]:
        decompressor = hemstitch.Decompressor()
        assert decompressor.decompress(one) == b"one" and decompressor.eof
        assert b"two".startswith(decompressor.decompress(two[:-1])) and not decompressor.eof
        decompressor.decompress(two[-1:])
        assert decompressor.eof
        assert hemstitch.Decompressor().decompress(one + two) == b"onetwo"
    padded = hemstitch.Decompressor()
    assert padded.decompress(gzip.compress(b"one") + bytes(1000)) == b"one" and padded.eof and padded.unused_data == b""


def test_flush():
    for format in FORMATS:
        compressor = hemstitch.Compressor(format=format)
        decompressor = hemstitch.Decompressor(format=told(format))
        for line in (b"the first line\n", b"the second line\n"):
            packed = compressor.compress(line) + compressor.flush(hemstitch.Compressor.FLUSH_BLOCK)
            assert decompressor.decompress(packed) == line
            assert not decompressor.eof or format == "bgzf"
        assert decompressor.decompress(compressor.finish()) == b"" and decompressor.eof
        with pytest.raises(ValueError):
            compressor.finish()
    with pytest.raises(ValueError, match="mode is 7"):
        hemstitch.Compressor().flush(7)
    # What is written for the standard library's.
    for module, ours in [(bz2.BZ2Compressor, hemstitch.Compressor), (lzma.LZMACompressor, hemstitch.Compressor)]:
        for made in (module(), ours()):
            packed = made.compress(b"content") + made.flush()
            with pytest.raises(ValueError):
                made.flush()
    assert hemstitch.restore(packed) == b"content"


def test_damage(text):
    for format in FORMATS:
        packed = bytearray(hemstitch.compress(text, format=format))
        cut = hemstitch.Decompressor(format=told(format))
        assert text.startswith(cut.decompress(packed[:len(packed) // 2])) and (not cut.eof or format == "bgzf")
        packed[len(packed) // 2] ^= 0x10
        decompressor = hemstitch.Decompressor(format=told(format))
        if format != "deflate":  # which has no checksum
            for _ in range(2):
                with pytest.raises(hemstitch.Error):
                    decompressor.decompress(packed)
            assert not decompressor.eof
    for nothing in (b"no frame at all", bytes(100)):
        with pytest.raises(hemstitch.Error):
            hemstitch.Decompressor().decompress(nothing)
    empty = hemstitch.Decompressor()
    assert empty.decompress(b"") == b"" and not empty.eof and empty.needs_input


def test_a_buffer_may_change_after_the_call():
    content = random.Random(3).randbytes(5_000_000)  # more than a decoder takes at once
    for format in FORMATS:
        packed = bytearray(hemstitch.compress(content, format=format))
        decompressor = hemstitch.Decompressor(format=told(format))
        restored = [decompressor.decompress(packed, 10)]
        packed[:] = bytes(len(packed))
        while not decompressor.eof:
            assert not decompressor.needs_input
            restored.append(decompressor.decompress(b"", 100_000))
        assert b"".join(restored) == content


def test_a_bomb_takes_what_is_asked_for(most_memory):
    # 256 MB of zeros.
    code = most_memory + """
import zlib, hemstitch
maker = zlib.compressobj(9, zlib.DEFLATED, 31)
packed = b"".join([maker.compress(bytes(1 << 20)) for _ in range(1 << 8)] + [maker.flush()])
decompressor = hemstitch.Decompressor(threads=1)
assert decompressor.decompress(packed, 100) == bytes(100)
before = most_memory()
size = 100
for _ in range(100):
    size += len(decompressor.decompress(b"", 1 << 20))
assert size == 100 + (100 << 20) and not decompressor.eof, size
try:
    hemstitch.restore(packed, max_bytes=10_000_000)
except hemstitch.Error as error:
    assert error.status == hemstitch.Status.OUTPUT_TOO_SMALL and "max_bytes" in str(error)
else:
    raise AssertionError("no limit")
assert most_memory() - before < 50 << 10, (before, most_memory())
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_limit_of_restore(text):
    for format in FORMATS:
        packed = hemstitch.compress(text, format=format)
        assert hemstitch.restore(packed, format=told(format), max_bytes=len(text)) == text
        for most in (0, 1, len(text) - 1):
            with pytest.raises(hemstitch.Error) as caught:
                hemstitch.restore(packed, format=told(format), max_bytes=most)
            assert caught.value.status == hemstitch.Status.OUTPUT_TOO_SMALL
        room = bytearray(len(text))
        with pytest.raises(hemstitch.Error):
            hemstitch.restore(packed, format=told(format), out=room, max_bytes=1000)
    assert hemstitch.restore(hemstitch.compress(b""), max_bytes=0) == b""
    with pytest.raises(ValueError, match="max_bytes is -1"):
        hemstitch.restore(packed, max_bytes=-1)


def test_two_threads_at_one_object(text):
    packed = hemstitch.compress(text, format="gzip")
    decompressor = hemstitch.Decompressor()
    said = []

    def work():
        for _ in range(30):
            try:
                decompressor.decompress(packed, 1000)
            except Exception as error:
                said.append(type(error))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(said) <= {hemstitch.RequestError}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_ends():
    content = b"".join(b"%d,%d\n" % (number, number * number) for number in range(500_000))
    decompressor = hemstitch.Decompressor()
    decompressor.decompress(gzip.compress(content, 1), 1_000_000)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            del decompressor
            os._exit(0 if hemstitch.Decompressor().decompress(gzip.compress(b"x")) == b"x" else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_options(text):
    dictionary = text[:50_000]
    compressor = hemstitch.Compressor(format="zstd", dictionary=dictionary, level=5)
    packed = compressor.compress(text[:60_000]) + compressor.flush()
    decompressor = hemstitch.Decompressor(dictionary=dictionary)
    assert decompressor.decompress(packed) == text[:60_000] and decompressor.eof
    assert repr(compressor) == "<hemstitch.Compressor format='zstd'>"
    assert repr(decompressor) == "<hemstitch.Decompressor format='auto' eof=True>"
