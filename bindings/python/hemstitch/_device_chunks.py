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
from ._errors import Error

#: Content of the chunks that are restored together: a device wants hundreds of chunks at once. Two batches are on their way.
BATCH_BYTES = 512 << 20
#: Of blocks that a device restores.
MOST_BLOCK_BYTES = 1 << 30


class Split:
    """A chunk as a device takes it: `data` to be uploaded; `blocks`, rows of five numbers: where a block of the stored format begins in the data, its
    size, where its content begins in the chunk's and the size of that, and whether it is stored as it is; `undo`, the filter's (_chunks.Undo), or None."""

    __slots__ = ("data", "blocks", "undo")

    def __init__(self, data, blocks, undo=None):
        self.data, self.blocks, self.undo = data, blocks, undo


class Stored:
    """How the chunks of an array are stored. Its functions are called by several threads.

    `split(chunk)` gives the Split of what fetch() gave; or None where on_host() has to restore it, which gives its content. `fill()` is the content of a
    chunk that is not stored. `format` is that of the blocks: "lz4", "zlib", "gzip", "deflate" or "zstd"."""

    format = "lz4"

    def fetch(self, key):
        """A chunk as it is stored, or None."""
        raise NotImplementedError

    def split(self, chunk):
        raise NotImplementedError

    def on_host(self, chunk):
        raise NotImplementedError

    def fill(self):
        raise NotImplementedError

    def name(self, key):
        """What an Error calls a chunk."""
        return str(key)


class Place:
    """Where a chunk is stored and where it goes: for each axis (first, count, step) within the chunk, and the first index within the result."""

    __slots__ = ("key", "of", "into", "chunk", "split", "is_stored")

    def __init__(self, key, of, into):
        self.key, self.of, self.into = key, of, into
        self.chunk = self.split = self.is_stored = None


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
    """Restores the chunks of `places` into `target`; returns when that is done, and how many chunks the processor restored. Each place then says whether
    its chunk is stored. Raises the Error of a chunk that is damaged, which names its key."""
    count = threads or len(os.sched_getaffinity(0))
    size = max(1, BATCH_BYTES // max(1, target.chunk_bytes))
    on_host = 0
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        before = None
        for begin in range(0, len(places), size):
            some = places[begin:begin + size]
            # A task takes neighbours, so that tasks cost less than reading.
            stretch = -(-len(some) // (4 * count))
            stretches = [some[at:at + stretch] for at in range(0, len(some), stretch)]
            pieces = [piece for part in pool.map(functools.partial(_read, stored), stretches) for piece in part]
            on_host += sum(place.is_stored and place.split is None for place in some)
            holder, addresses = run.upload(pieces)
            del pieces
            if before:
                on_host += before.finish()
            before = _Batch(run, stored, some, holder, addresses, target)
        if before:
            on_host += before.finish()
    return on_host


def _read(stored, places):
    """What is to be uploaded of chunks."""
    pieces = []
    for place in places:
        place.chunk = stored.fetch(place.key)
        place.is_stored = place.chunk is not None
        place.split = None if place.chunk is None else stored.split(place.chunk)
        if place.split is not None:
            piece = place.split.data
        elif place.chunk is not None:
            piece = _on_host(stored, place)
        else:
            piece = stored.fill()
        pieces.append(piece)
    return pieces


def _on_host(stored, place):
    try:
        return stored.on_host(place.chunk)
    except Error as error:
        raise error.of(stored.name(place.key)) from None


class _Batch:
    """Chunks on the device whose work is on its way."""

    def __init__(self, run, stored, places, holder, addresses, target):
        self._run, self._stored, self._target = run, stored, target
        split = [i for i, place in enumerate(places) if place.split is not None]
        self._split = [places[i] for i in split]
        at = batch.places([target.chunk_bytes] * len(split))
        self._content = run.memory(int(at[-1]) + batch.SLACK_BYTES)
        contents = numpy.uint64(self._content.address) + at[:-1]
        self._restore(addresses[split], contents)
        if any(place.split.undo for place in self._split):
            self._unfiltered = run.memory(int(at[-1]) + batch.SLACK_BYTES)
            contents = self._unfilter(contents, numpy.uint64(self._unfiltered.address) + at[:-1])
        _place(run, target, self._split, contents)
        ready = [i for i, place in enumerate(places) if place.split is None]
        _place(run, target, [places[i] for i in ready], addresses[ready])
        del holder  # what the stream has still to do with it is before what its memory is used for next

    def _restore(self, addresses, contents):
        """Has the blocks restored, from where they were uploaded to where the content is wanted."""
        counts = [len(place.split.blocks) for place in self._split]
        numbers = numpy.repeat(numpy.arange(len(counts)), counts)
        blocks = numpy.concatenate([place.split.blocks for place in self._split]) if counts else numpy.zeros((0, 5), "u8")
        sources, targets = addresses[numbers] + blocks[:, 0], contents[numbers] + blocks[:, 2]
        kept = blocks[:, 4] != 0
        _move(self._run, sources[kept], blocks[kept, 1], targets[kept])
        coded = ~kept
        self._of_blocks, self._rooms = numbers[coded], blocks[coded, 3]
        self._results = None
        if coded.any():
            self._results = batch.enqueue(self._run, self._stored.format, sources[coded], blocks[coded, 1], targets[coded], self._rooms)

    def _unfilter(self, contents, targets):
        """Has filters undone, from contents to targets. Returns where the content of each chunk is then."""
        where, kinds, rests = contents.copy(), {}, []
        for number, place in enumerate(self._split):
            undo = place.split.undo
            if undo is None:
                continue
            where[number] = targets[number]
            kinds.setdefault((undo.filter, undo.element_bytes, undo.block_bytes), []).append(number)
            rests += [(number, begin, end) for begin, end in ((0, undo.begin), (undo.end, self._target.chunk_bytes)) if begin < end]
        for (filter, element_bytes, block_bytes), numbers in kinds.items():
            buffers = [self._split[number].split.undo.buffers() for number in numbers]
            each = numpy.repeat(numbers, [len(begins) for begins, _ in buffers])
            begins, sizes = (numpy.concatenate(column) for column in zip(*buffers))
            if filter == "bitshuffle":
                batch.bitunshuffle(self._run, element_bytes, block_bytes, contents[each] + begins, sizes, targets[each] + begins)
            else:
                batch.unshuffle(self._run, element_bytes, contents[each] + begins, sizes, targets[each] + begins)
        numbers, begins, ends = (numpy.array(column, "u8") for column in zip(*rests)) if rests else [numpy.zeros(0, "u8")] * 3
        each = numbers.astype(numpy.intp)
        _move(self._run, contents[each] + begins, ends - begins, targets[each] + begins)
        return where

    def finish(self):
        """Waits, and has the processor restore what the device did not: its word stands about damage. Returns how many chunks these were."""
        if self._results is None:
            return 0
        done, statuses = self._results.take()
        wrong = numpy.unique(self._of_blocks[(statuses != 0) | (done != self._rooms)])
        for number in wrong.tolist():
            place = self._split[number]
            content = _on_host(self._stored, place)
            holder, address = self._run.upload([content])
            _place(self._run, self._target, [place], address)
            del holder
        for place in self._split:
            place.chunk = place.split = None
        return len(wrong)


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
    order = numpy.argsort(sources, kind="stable")  # a chunk's blocks may stand in any order
    sources = sources[order]
    first = int(sources[0])
    batch.move(run, first, sources - numpy.uint64(first), sizes[order], targets[order])


def whole(chunk, begin, chunk_bytes, undo=None):
    """The Split of a chunk that is one block from `begin` on."""
    size = memoryview(chunk).nbytes - begin
    if max(chunk_bytes, size) > MOST_BLOCK_BYTES:
        return None
    return Split(chunk, numpy.array([[begin, size, 0, chunk_bytes, 0]], "u8"), undo)


def kept(chunk, undo=None):
    """The Split of a chunk that is its content, or what a filter made of that."""
    size = memoryview(chunk).nbytes
    return Split(chunk, numpy.array([[0, size, 0, size, 1]], "u8"), undo)


def in_blocks(chunk, chunk_bytes, format, layout):
    """The Split of a chunk with that _chunks.Layout; None if it holds another amount, or its blocks are of another format."""
    blocks = layout.blocks
    if int(blocks[:, 3].sum()) != chunk_bytes or (layout.format != format and not blocks[:, 4].all()):
        return None
    if len(blocks) and int(blocks[:, [1, 3]].max()) > MOST_BLOCK_BYTES:
        return None
    return Split(chunk, blocks, layout.undo)
