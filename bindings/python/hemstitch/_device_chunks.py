"""Chunks of an array, read from where they are stored and restored into an array in a CUDA device's memory.

Many threads read chunks as they are stored; those of a batch are uploaded and restored together, and runs of their elements are copied to where the
selection wants them. While a batch is restored the next one is read. What is not for a device (other filters, damage) the processor restores.
"""

from __future__ import annotations

import concurrent.futures
import functools
import itertools
import math
import os

import numpy

from . import _device_batch as batch
from ._device import DeviceArray, is_on_device, to_numpy

#: Content of the chunks that are restored together: a device wants hundreds of chunks at once. Two batches are on their way.
BATCH_BYTES = 512 << 20
#: Of blocks that a device restores.
MOST_BLOCK_BYTES = 1 << 30


class Block:
    """A block of a stored chunk, bytes [begin, begin + size) of it, and the part of the chunk's content that it holds; `kept` as it is."""

    __slots__ = ("begin", "size", "content_begin", "content_bytes", "kept")

    def __init__(self, begin, size, content_begin, content_bytes, kept=False):
        self.begin, self.size, self.content_begin, self.content_bytes, self.kept = begin, size, content_begin, content_bytes, kept


class Stored:
    """How the chunks of an array are stored. Its functions are called by several threads.

    `split(chunk)` gives what is to be uploaded of what fetch() gave, and its Blocks; or None where on_host() has to restore it, which gives its content. `fill()` is the content of a chunk that is not stored. `format` is "lz4", "zlib", "gzip" or
    "deflate"; `element_bytes` other than 0 undoes HDF5's shuffle."""

    format = "lz4"
    element_bytes = 0

    def fetch(self, key):
        """A chunk as it is stored, or None."""
        raise NotImplementedError

    def split(self, chunk):
        raise NotImplementedError

    def on_host(self, chunk):
        raise NotImplementedError

    def fill(self):
        raise NotImplementedError


class Place:
    """Where a chunk is stored and where it goes: for each axis (first, count, step) within the chunk, and the first index within the result."""

    __slots__ = ("key", "of", "into", "chunk", "blocks", "is_stored")

    def __init__(self, key, of, into):
        self.key, self.of, self.into = key, of, into
        self.chunk = self.blocks = self.is_stored = None


def places_of(axes, chunk_shape, key):
    """The Places of the chunks that a selection (_selection.Axis) touches; key(numbers), of a chunk's numbers, is what the storage knows it by."""
    return [Place(key(tuple(number for number, _, _ in one)),
                  tuple((of.start, into.stop - into.start, of.step) for _, of, into in one),
                  tuple(into.start for _, _, into in one))
            for one in itertools.product(*(axis.chunks(size) for axis, size in zip(axes, chunk_shape)))]


class Target:
    """An array in a device's memory, in C order, and the shape of the chunks that it is made of."""

    def __init__(self, address, shape, chunk_shape, item_bytes):
        self.address, self.shape, self.chunk_shape, self.item_bytes = address, tuple(shape), tuple(chunk_shape), item_bytes
        self.chunk_bytes = math.prod(chunk_shape) * item_bytes
        self._strides = _strides(self.shape, item_bytes)
        self._runs = functools.lru_cache(maxsize=256)(self._new_runs)

    def runs(self, place):
        """(offsets in the chunk's content, addresses in the array, bytes of each run), in the order of the chunk."""
        sources, targets, size = self._runs(place.of)
        first = self.address + sum(index * stride for index, stride in zip(place.into, self._strides))
        return sources, targets + numpy.uint64(first), size

    def _new_runs(self, of):
        strides = _strides(self.chunk_shape, self.item_bytes)
        # The last axes that are whole on both sides are one run, and with them what is selected of the axis before, if it has no gaps.
        axis, size = len(of), self.item_bytes
        while axis and of[axis - 1][2] == 1:
            axis -= 1
            size *= of[axis][1]
            if not of[axis][1] == self.chunk_shape[axis] == self.shape[axis]:
                break
        sources, targets = numpy.zeros(1, "u8"), numpy.zeros(1, "u8")
        for (first, count, step), source, target in zip(of[:axis], strides, self._strides):
            indices = numpy.arange(count, dtype="u8")
            sources = (sources[:, None] + (numpy.uint64(first) + indices * numpy.uint64(step)) * numpy.uint64(source)).reshape(-1)
            targets = (targets[:, None] + indices * numpy.uint64(target)).reshape(-1)
        skipped = sum(first * stride for (first, _, _), stride in zip(of[axis:], strides[axis:]))
        return sources + numpy.uint64(skipped), targets, size


def _strides(shape, item_bytes):
    strides = [item_bytes]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return strides[::-1] if shape else []


def empty(run, shape, dtype):
    """A DeviceArray that nothing is written to yet."""
    size = math.prod(shape) * dtype.itemsize
    # Records have no string of their own in __cuda_array_interface__'s typestr: they are bytes there, as in numpy's.
    return DeviceArray(run.memory(size), run.device, nbytes=size, shape=shape, typestr=dtype.str, stream=run.stream)


def on_host(values):
    """The numpy array of what a library's own reading gave, which may be in a device's memory: CuPy's arrays from zarr, in any order."""
    if not is_on_device(values):
        return numpy.asarray(values)
    in_c_order = values.__cuda_array_interface__.get("strides") is None
    return to_numpy(values if in_c_order else values.copy(order="C"))


def uploaded(run, values):
    """The DeviceArray of an array that the processor restored."""
    values = numpy.asarray(on_host(values), order="C")
    array = empty(run, values.shape, values.dtype)
    if values.nbytes:
        run.upload_to([values.reshape(-1).view("u1")], [0], array.address)
    return array


def restore(run, stored, places, target, threads=0):
    """Restores the chunks of `places` into `target`; returns when that is done. Each place then says whether its chunk is stored.
    Raises the Error of a chunk that is damaged."""
    count = threads or len(os.sched_getaffinity(0))
    size = max(1, BATCH_BYTES // max(1, target.chunk_bytes))
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        before = None
        for begin in range(0, len(places), size):
            some = places[begin:begin + size]
            # A task takes neighbours, so that tasks cost less than reading.
            stretch = -(-len(some) // (4 * count))
            stretches = [some[at:at + stretch] for at in range(0, len(some), stretch)]
            pieces = [piece for part in pool.map(functools.partial(_read, stored), stretches) for piece in part]
            holder, addresses = run.upload(pieces)
            del pieces
            if before:
                before.finish()
            before = _Batch(run, stored, some, holder, addresses, target)
        if before:
            before.finish()


def _read(stored, places):
    """What is to be uploaded of chunks."""
    pieces = []
    for place in places:
        place.chunk = stored.fetch(place.key)
        place.is_stored = place.chunk is not None
        parts = None if place.chunk is None else stored.split(place.chunk)
        if parts is not None:
            piece, place.blocks = parts
        elif place.chunk is not None:
            piece = stored.on_host(place.chunk)
        else:
            piece = stored.fill()
        pieces.append(piece)
    return pieces


class _Batch:
    """Chunks on the device whose work is on its way."""

    def __init__(self, run, stored, places, holder, addresses, target):
        self._run, self._stored, self._target = run, stored, target
        packed = [i for i, place in enumerate(places) if place.blocks is not None]
        self._packed = [places[i] for i in packed]
        at = batch.places([target.chunk_bytes] * len(packed))
        self._content = run.memory(int(at[-1]) + batch.SLACK_BYTES)
        contents = numpy.uint64(self._content.address) + at[:-1]
        self._restore(addresses[packed], contents)
        if stored.element_bytes > 1 and packed:
            self._content, contents = batch.unshuffle(run, contents, numpy.full(len(packed), target.chunk_bytes, "u8"), stored.element_bytes)
        _place(run, target, self._packed, contents)
        ready = [i for i, place in enumerate(places) if place.blocks is None]
        _place(run, target, [places[i] for i in ready], addresses[ready])
        del holder  # what the stream has still to do with it is before what its memory is used for next

    def _restore(self, addresses, contents):
        coded, kept = [], []
        for number, place in enumerate(self._packed):
            for block in place.blocks:
                (kept if block.kept else coded).append((number, block))
        numbers, sources, sizes, targets, rooms = _columns(coded, addresses, contents)
        self._of_blocks, self._rooms = numbers, rooms
        self._results = batch.enqueue(self._run, self._stored.format, sources, sizes, targets, rooms) if coded else None
        _, sources, sizes, targets, _ = _columns(kept, addresses, contents)
        _move(self._run, sources, sizes, targets)

    def finish(self):
        """Waits, and has the processor restore what the device did not: its word stands about damage."""
        if self._results is None:
            return
        done, statuses = self._results.take()
        wrong = numpy.unique(self._of_blocks[(statuses != 0) | (done != self._rooms)])
        for number in wrong.tolist():
            place = self._packed[number]
            content = self._stored.on_host(place.chunk)
            holder, address = self._run.upload([content])
            _place(self._run, self._target, [place], address)
            del holder
        for place in self._packed:
            place.chunk = place.blocks = None


def _columns(blocks, addresses, contents):
    """(number of the chunk, source, size, target, content's size) of blocks."""
    numbers = numpy.array([number for number, _ in blocks], "u8").astype(numpy.intp)
    return (numbers, addresses[numbers] + numpy.array([block.begin for _, block in blocks], "u8"), numpy.array([block.size for _, block in blocks], "u8"),
            contents[numbers] + numpy.array([block.content_begin for _, block in blocks], "u8"),
            numpy.array([block.content_bytes for _, block in blocks], "u8"))


def _place(run, target, places, contents):
    """Copies what is selected of chunks from their contents on the device to where it goes."""
    sources, targets, sizes = [], [], []
    for place, content in zip(places, contents):
        of, into, size = target.runs(place)
        sources.append(of + content)
        targets.append(into)
        sizes.append(numpy.full(len(of), size, "u4"))
    if sources:
        _move(run, numpy.concatenate(sources), numpy.concatenate(sizes), numpy.concatenate(targets))


def _move(run, sources, sizes, targets):
    if not len(sources):
        return
    first = int(sources[0])  # they ascend
    batch.move(run, first, sources - numpy.uint64(first), sizes, targets)


def whole(chunk, begin, chunk_bytes):
    """What split() gives of a chunk that is one block from `begin` on."""
    size = memoryview(chunk).nbytes - begin
    if max(chunk_bytes, size) > MOST_BLOCK_BYTES:
        return None
    return chunk, [Block(begin, size, 0, chunk_bytes)]
