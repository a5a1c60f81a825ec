"""Many buffers at once, and blocks of LZ4 without a frame."""

import gzip
import pickle
import random
import zlib

import lz4.block
import lz4.frame
import pytest

import hemstitch


@pytest.mark.parametrize("format", ["lz4", "gzip", "bgzf", "zlib", "deflate"])
def test_as_one_by_one(format, shapes):
    objs = shapes + [shape[:4096] for shape in shapes] * 20
    packed = hemstitch.compress_many(objs, format=format)
    # (The frame of an empty one does not tell its size, as that of a stream.)
    assert all(many == hemstitch.compress(one, format=format) for one, many in zip(objs, packed) if one)
    told = format if format in ("zlib", "deflate") else "auto"
    assert hemstitch.restore_many(packed, format=told) == objs


def test_peers_read_them_and_we_theirs(shapes):
    assert [lz4.frame.decompress(one) for one in hemstitch.compress_many(shapes)] == shapes
    assert [zlib.decompress(one) for one in hemstitch.compress_many(shapes, format="zlib")] == shapes
    mixed = [lz4.frame.compress(one) if number % 2 else gzip.compress(one) for number, one in enumerate(shapes)]
    assert hemstitch.restore_many(mixed) == shapes
    assert hemstitch.restore_many([zlib.compress(one) for one in shapes], format="zlib") == shapes


def test_none_and_one(text):
    assert hemstitch.compress_many([]) == [] and hemstitch.restore_many([]) == []
    assert hemstitch.restore_many(hemstitch.compress_many(iter([text]))) == [text]
    assert hemstitch.compress_lz4_blocks([]) == [] and hemstitch.restore_lz4_blocks([], []) == []


def test_damage_of_one_is_its_own(text):
    packed = hemstitch.compress_many([text[:5000], text[:50_000], text, b"", text[:70_000]])
    packed[1] = packed[1][:-10]
    packed[3] = b"nothing of the kind"
    results = hemstitch.restore_many(packed, errors="return")
    assert [results[0], results[2], results[4]] == [text[:5000], text, text[:70_000]]
    assert results[1].status == hemstitch.Status.TRUNCATED and results[1].block == 1
    assert results[3].status == hemstitch.Status.UNKNOWN_FORMAT
    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.restore_many(packed)
    assert caught.value.status == hemstitch.Status.TRUNCATED
    with pytest.raises(ValueError, match="'raise' or 'return'"):
        hemstitch.restore_many(packed, errors="ignore")
    with pytest.raises(TypeError):
        hemstitch.compress_many([text, 5])


def test_an_error_keeps_what_stands_before_other_bytes(text):
    packed = hemstitch.compress_many([text[:5000], text])
    sound, error = hemstitch.restore_many([packed[0], packed[1] + b"junk"], errors="return")
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert (sound, one.status, one.content) == (text[:5000], hemstitch.Status.TRAILING_GARBAGE, text)
        assert one.byte_offset == len(packed[1])
    assert hemstitch.restore_many([b"nothing of the kind"], errors="return")[0].content is None


@pytest.mark.parametrize("level", [1, 3, 9, 12])
def test_blocks_without_a_frame(level, shapes):
    objs = shapes + [shape[:4096] for shape in shapes] * 10
    packed = hemstitch.compress_lz4_blocks(objs, level=level)
    sizes = [len(one) for one in objs]
    assert [lz4.block.decompress(block, uncompressed_size=size) for block, size in zip(packed, sizes)] == objs
    assert hemstitch.restore_lz4_blocks(packed, sizes) == objs
    theirs = [lz4.block.compress(one, store_size=False) for one in objs]
    assert hemstitch.restore_lz4_blocks(theirs, sizes) == objs
    rooms = [bytearray(size) for size in sizes]
    assert hemstitch._core.restore_lz4_blocks_into(packed, rooms) == sizes
    assert rooms == objs


def test_bad_blocks(text):
    packed = hemstitch.compress_lz4_blocks([text[:5000]] * 3)
    for bad, size in [(packed[1][:-1], 5000), (packed[1], 4999), (b"", 10), (b"\xff" * 50, 100)]:
        results = hemstitch.restore_lz4_blocks([packed[0], bad, packed[2]], [5000, size, 5000], errors="return")
        assert results[0] == results[2] == text[:5000]
        assert results[1].status == hemstitch.Status.CORRUPT_BLOCK
    # More room than is needed is none of the block's business.
    assert hemstitch.restore_lz4_blocks(packed, [9000] * 3) == [text[:5000]] * 3
    with pytest.raises(hemstitch.Error, match="sizes has 1"):
        hemstitch.restore_lz4_blocks(packed, [5000])


def test_mutated_blocks_end_in_words(text):
    source = random.Random(31)
    packed = hemstitch.compress_lz4_blocks([text[:3000]])[0]
    damaged = []
    for _ in range(2000):
        block = bytearray(packed)
        for _ in range(source.randint(1, 3)):
            block[source.randrange(len(block))] = source.randrange(256)
        damaged.append(bytes(block[:source.randint(1, len(block))]))
    for block, ours in zip(damaged, hemstitch.restore_lz4_blocks(damaged, [3000] * len(damaged), errors="return")):
        try:
            theirs = lz4.block.decompress(block, uncompressed_size=3000)
        except lz4.block.LZ4BlockError:  # python-lz4 also says so of some that are whole, and hold less than 3000 bytes
            theirs = None
        if isinstance(ours, bytes):
            assert theirs == ours or (theirs is None and len(ours) < 3000)
        else:
            # liblz4 takes an offset of 0, which no encoder writes; we do not.
            assert ours.status == hemstitch.Status.CORRUPT_BLOCK
            assert theirs is None or b"\0\0" in block
