"""Chunks in the containers of Blosc and of HDF5's filters: many restored or compressed in one call, by all threads."""

from __future__ import annotations

import os
import struct

import numpy

from . import _core, restore_many
from ._device import ZSTD_BEGIN
from ._errors import Error, Status

#: Content that one call restores or compresses on the host; beyond it chunks go in several. Enough for all cores, and so little that the memory of one call is
#: there for the next one: with 256 MB two cores took up to half as long again.
BATCH_BYTES = max(32, 4 * len(os.sched_getaffinity(0))) << 20
#: Of Blosc's codecs, those that are formats of ours.
BLOSC_FORMATS = {"lz4": "lz4", "lz4hc": "lz4", "zlib": "zlib", "zstd": "zstd"}
#: Of Blosc's numbers for them, in HDF5's filter.
BLOSC_CODECS = {0: "blosclz", 1: "lz4", 2: "lz4hc", 3: "snappy", 4: "zlib", 5: "zstd"}
_BLOSC_HEADER_BYTES = 16
_BLOSC_MOST_ELEMENT_BYTES = 255
_BLOSC_FILTERS = {0: "none", 1: "shuffle", 2: "bitshuffle"}


def restored(chunks, sizes, container, *, format="lz4", element_bytes=1, threads=0):
    """The contents of chunks, which have those sizes, as numpy's bytes. Raises the Error of the first that is damaged."""
    contents = [numpy.empty(size, "u1") for size in sizes]
    for outcome in _core.restore_chunks(chunks, contents, container, format=format, element_bytes=element_bytes, threads=threads):
        if outcome is not None:
            raise outcome
    return contents


def zstd_restored(chunks, sizes, threads=0):
    """The contents of chunks of Zstandard, which have those sizes where they are known (else None). What is no single frame of that size, and what is wrong with
    it, restore_many() says."""
    known = [i for i, size in enumerate(sizes) if size is not None]
    contents = {i: numpy.empty(sizes[i], "u1") for i in known}
    outcomes = _core.restore_chunks([chunks[i] for i in known], list(contents.values()), "bare", format="zstd", threads=threads)
    contents = {i: content for (i, content), outcome in zip(contents.items(), outcomes) if outcome is None}
    left = [i for i in range(len(chunks)) if i not in contents]
    contents.update(zip(left, restore_many([chunks[i] for i in left], format="zstd", threads=threads) if left else ()))
    return [contents[i] for i in range(len(chunks))]


def zstd_bytes(chunk):
    """How much content a frame of Zstandard says that it has (RFC 8878, section 3.1.1.1), where that is believable; else None."""
    head = bytes(memoryview(chunk).cast("B")[:18])
    if len(head) < 6 or head[:4] != ZSTD_BEGIN:
        return None
    kind, is_single, dictionary = head[4] >> 6, head[4] >> 5 & 1, head[4] & 3
    at, size = 6 - is_single + (0, 1, 2, 4)[dictionary], (is_single, 2, 4, 8)[kind]
    if not size or len(head) < at + size:
        return None
    found = int.from_bytes(head[at:at + size], "little") + 256 * (kind == 1)
    # A block of four bytes repeats one up to 128 KB.
    return found if found <= memoryview(chunk).nbytes << 15 else None


def blosc_bytes(chunk):
    """How much content a chunk of Blosc says that it has."""
    view = memoryview(chunk).cast("B")
    if len(view) < _BLOSC_HEADER_BYTES:
        raise Error(Status.TRUNCATED, f"a chunk of Blosc has {len(view)} bytes, fewer than its header")
    return struct.unpack_from("<I", view, 4)[0]


def blosc_coding(cname, clevel, shuffle, element_bytes, block_bytes=0):
    """What compress_chunks() needs to write what Blosc would with these parameters. None where only Blosc can: other codecs, and
    level 0."""
    if cname not in BLOSC_FORMATS or not 1 <= clevel <= 9 or shuffle not in _BLOSC_FILTERS:
        return None
    coding = dict(container="blosc", format=BLOSC_FORMATS[cname], filter=_BLOSC_FILTERS[shuffle], block_bytes=block_bytes,
                  element_bytes=element_bytes if 1 <= element_bytes <= _BLOSC_MOST_ELEMENT_BYTES else 1)
    # Levels as Blosc translates them.
    if cname == "lz4":
        coding.update(level=1, acceleration=9 - clevel)
    elif cname == "lz4hc":
        coding.update(level=max(3, clevel))
    elif cname == "zlib":
        coding.update(level=max(2, clevel))  # from 2 on no larger than zlib's
    else:
        coding.update(level={8: 20, 9: 22}.get(clevel, 2 * clevel - 1))
    return coding


class Layout:
    """Of a chunk: the format of its blocks; for each block its first byte, its size, the place and size of its content, and whether that is stored as it is;
    what undoes the filter."""

    __slots__ = ("format", "blocks", "undo")

    def __init__(self, chunk, container, *, format="lz4", element_bytes=1):
        self.format, filter, element_bytes, stretch, begin, end, _content, blocks = _core.chunk_layout(
            chunk, container, format=format, element_bytes=element_bytes)
        self.blocks = numpy.frombuffer(blocks, "u8").reshape(-1, 5)
        self.undo = Undo(filter, element_bytes, stretch, begin, end) if filter != "none" and begin < end else None


class Undo:
    """A filter ("shuffle" or "bitshuffle") that rearranged each `stretch` bytes of content [begin, end) by themselves."""

    __slots__ = ("filter", "element_bytes", "stretch", "begin", "end")

    def __init__(self, filter, element_bytes, stretch, begin, end):
        self.filter, self.element_bytes, self.stretch, self.begin, self.end = filter, element_bytes, stretch, begin, end

    @property
    def block_bytes(self):
        """What a device's bitshuffle takes at once as blocks of one buffer; 0: stretch by stretch."""
        return self.stretch if self.filter == "bitshuffle" and self.stretch % (8 * self.element_bytes) == 0 else 0

    def buffers(self):
        """(where each begins in the content, its size)"""
        if self.block_bytes:
            return numpy.array([self.begin], "u8"), numpy.array([self.end - self.begin], "u8")
        begins = numpy.arange(self.begin, self.end, self.stretch, dtype="u8")
        return begins, numpy.minimum(numpy.uint64(self.stretch), numpy.uint64(self.end) - begins)
