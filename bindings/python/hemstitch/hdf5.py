"""HDF5 and NetCDF-4 through h5py: all chunks of a selection read, restored and placed together.

    values = hemstitch.hdf5.read(file["temperature"], numpy.s_[10:20, :, ::2])
    array = hemstitch.hdf5.read(file["temperature"], device="cuda")
    hemstitch.hdf5.write(file["temperature"], values)

HDF5's own filters see one chunk at a time, under the library's lock. Here chunks are read as they stand in the file
(`read_direct_chunk`), go to hemstitch together, and are put in place. The filters: deflate (1), shuffle (2), fletcher32 (3), Blosc (32001) with LZ4,
zlib or Zstandard, LZ4 (32004), bitshuffle (32008) alone or with LZ4 or Zstandard, and Zstandard (32015). Blosc 2 (32026) is read. What is stored or selected in another way h5py
reads and writes itself, where it has the filter. The files are any HDF5's.
"""

from __future__ import annotations

import errno
import itertools
import math
import os
from typing import Any, Literal, Optional, Union, overload

import h5py
import numpy

from . import _chunks, _core, _device, _device_batch, _device_chunks, compress_many, restore_many
from ._errors import Error, Status
from ._options import Backend
from ._selection import axes_of

_DEFLATE, _SHUFFLE, _FLETCHER32, _BLOSC, _LZ4, _BITSHUFFLE, _ZSTD, _BLOSC2 = 1, 2, 3, 32001, 32004, 32008, 32015, 32026
# What the fifth number of bitshuffle says of its blocks.
_BITSHUFFLE_FORMATS = {0: None, 2: "lz4", 3: "zstd"}
_BITSHUFFLE_BLOCK_BYTES, _BITSHUFFLE_LEAST = 8192, 128
# Of the library's shuffle and bitshuffle.
_MOST_ELEMENT_BYTES = 256
_CHECKSUM_BYTES = 4
# Content that one call restores or compresses.
_BATCH_BYTES = _chunks.BATCH_BYTES

# What h5py's types say that file["name"] may be; the others are refused.
_Found = Union[h5py.Dataset, h5py.Group, h5py.Datatype]


@overload
def read(dataset: _Found, selection: Any = (), *, device: Optional[Literal["cpu"]] = None, stream: Any = None, backend: Backend = "auto",
         threads: int = 0) -> numpy.ndarray[Any, Any]: ...
@overload
def read(dataset: _Found, selection: Any = (), *, device: str, stream: Any = None, backend: Backend = "auto",
         threads: int = 0) -> _device.DeviceArray: ...
def read(dataset: Any, selection: Any = (), *, device: Optional[str] = None, stream: Any = None, backend: Any = "auto", threads: int = 0) -> Any:
    """Reads dataset[selection] as a numpy array; with device="cuda" as a DeviceArray, made on `stream`. `selection`: integers, slices and
    Ellipsis, as in h5py. A device undoes what is listed above, one filter that compresses with or without shuffle before it and fletcher32 behind it, which the
    processor checks, in chunks of at most 1 GiB; for everything else the processor restores, and the result is uploaded: the array's `host_chunks` says for how many chunks.
    `backend` is for deflate and Zstandard in host memory; the processor undoes the other filters. The Error of a damaged chunk names it."""
    number = None if device is None else _device.number_of(device)
    dataset = _dataset(dataset)
    filters = _filters(dataset)
    axes = axes_of(selection, dataset.shape)
    if number is not None:
        return _read_to_device(dataset, selection, filters, axes, _device_batch.Run(number, _device.stream_number(stream)), threads)
    if filters is None or axes is None:
        return numpy.asarray(dataset[selection])
    out = numpy.empty([len(axis.indices) for axis in axes], dataset.dtype)
    places = [place for place in itertools.product(*(axis.chunks(size) for axis, size in zip(axes, dataset.chunks)))]
    chunk_bytes = math.prod(dataset.chunks) * dataset.dtype.itemsize
    for some in _stretches(places, max(1, _BATCH_BYTES // chunk_bytes)):
        stored = []
        for place in some:
            begin = tuple(number * size for (number, _, _), size in zip(place, dataset.chunks))
            stored.append(_stored_chunk(dataset, begin))
        contents = _restored_by_name(dataset, some, stored, filters, chunk_bytes, backend, threads)
        for place, content in zip(some, contents):
            target = tuple(into for _, _, into in place)
            if content is None:
                out[target] = dataset.fillvalue
            else:
                chunk = numpy.frombuffer(content, dataset.dtype).reshape(dataset.chunks)
                out[target] = chunk[tuple(of for _, of, _ in place)]
    kept = tuple(0 if axis.is_number else slice(None) for axis in axes)
    return out[kept]


def _read_to_device(dataset, selection, filters, axes, run, threads):
    if dataset.dtype.hasobject:
        raise TypeError("elements of variable length cannot be read to a device's memory")
    if filters is None or axes is None:
        return _device_chunks.uploaded(run, dataset[selection])
    array = _device_chunks.empty(run, [len(axis.indices) for axis in axes if not axis.is_number], dataset.dtype)
    places = _device_chunks.places_of(axes, dataset.chunks, lambda numbers: tuple(number * size for number, size in zip(numbers, dataset.chunks)))
    if array.nbytes:
        target = _device_chunks.Target(array.address, [len(axis.indices) for axis in axes], dataset.chunks, dataset.dtype.itemsize)
        with _StoredChunks(dataset, filters, len(places)) as stored:
            array.host_chunks = _device_chunks.restore(run, stored, places, target, threads)
    return array


class _StoredChunks(_device_chunks.Stored):
    """A dataset's chunks: (filter mask, bytes). Where HDF5 reads the file by its descriptor so do we, by many threads, past its lock."""

    def __init__(self, dataset, filters, chunk_count):
        self._dataset, self._filters = dataset, filters
        self._chunk_bytes = math.prod(dataset.chunks) * dataset.dtype.itemsize
        # On a device one filter that compresses, behind a shuffle or not. A checksum of what it made is checked here.
        self._is_checked = filters[-1][0] == _FLETCHER32 and len(filters) > 1
        *before, (last, values) = filters[:-1] if self._is_checked else filters
        element_bytes = before[0][1][0] if [code for code, _ in before] == [_SHUFFLE] else 0
        is_shuffled = 1 < element_bytes <= _MOST_ELEMENT_BYTES
        self._undo = _chunks.Undo("shuffle", element_bytes, self._chunk_bytes, 0, self._chunk_bytes) if is_shuffled else None
        self._container = _CONTAINERS[last](values) if last in _CONTAINERS and (not before or element_bytes == 1 or is_shuffled) else None
        self.format = (self._container or {}).get("format") or "lz4"
        if self._container and last == _BITSHUFFLE:
            self._rearranged = _chunks.Undo("bitshuffle", values[2], _bitshuffle_block_bytes(values, values[2]), 0, self._chunk_bytes)
        self._file = self._where = None
        file = dataset.file
        if file.driver == "sec2" and file.userblock_size == 0:
            file.flush()  # what HDF5 keeps in memory of chunks that were written
            self._file = os.dup(file.id.get_vfd_handle())
            self._where = self._places(chunk_count)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._file is not None:
            os.close(self._file)

    def _places(self, chunk_count):
        """(filter mask, offset in the file, bytes) by the chunk's first element; None where HDF5 is to be asked chunk by chunk."""
        if chunk_count < 16 or not hasattr(self._dataset.id, "chunk_iter"):
            return None
        where = {}

        def note(info):
            where[info.chunk_offset] = (info.filter_mask, info.byte_offset, info.size)

        self._dataset.id.chunk_iter(note)
        return where

    def fetch(self, key):
        if self._file is None:
            return _stored_chunk(self._dataset, key)
        if self._where is None:
            info = self._dataset.id.get_chunk_info_by_coord(key)
            mask, offset, size = info.filter_mask, info.byte_offset, info.size
        else:
            mask, offset, size = self._where.get(key, (0, None, 0))
        if offset is None:
            return None
        chunk = numpy.empty(size, "u1")
        done = 0
        while done < size:
            got = os.preadv(self._file, [chunk[done:]], offset + done)
            if got == 0:
                raise Error(Status.TRUNCATED, f"the file ends at byte {offset + done}, inside the chunk at {key} of {self._dataset.name}")
            done += got
        return mask, chunk

    def split(self, chunk):
        mask, data = chunk
        if mask == (1 << len(self._filters)) - 1 and memoryview(data).nbytes == self._chunk_bytes:  # written without its filters
            return _device_chunks.kept(data)
        if mask or self._container is None:
            return None
        if self._is_checked:
            try:
                data = _without_checksum(data)
            except Error:
                return None  # on_host() says what is wrong
        if "container" not in self._container:
            return _device_chunks.whole(data, 0, self._chunk_bytes, self._undo)
        if self._container["format"] is None:  # bits rearranged alone
            is_whole = not self._undo and memoryview(data).nbytes == self._chunk_bytes
            return _device_chunks.kept(data, self._rearranged) if is_whole else None
        try:
            layout = _chunks.Layout(data, **self._container)
        except Error:
            return None  # on_host() says what is wrong
        if self._undo and layout.undo:
            return None
        layout.undo = layout.undo or self._undo
        return _device_chunks.in_blocks(data, self._chunk_bytes, self.format, layout)

    def name(self, key):
        return f"the chunk at {key} of {self._dataset.name}"

    def on_host(self, chunk):
        return _restored([chunk], self._filters, self._chunk_bytes, "cpu", 1)[0]

    def fill(self):
        return numpy.full(self._dataset.chunks, self._dataset.fillvalue, self._dataset.dtype).reshape(-1).view("u1")


def write(dataset: _Found, data: Any, selection: Any = (), *, level: Optional[int] = None, backend: Backend = "auto", threads: int = 0) -> None:
    """Does dataset[selection] = data. Chunks that the selection covers completely are compressed together and written directly; h5py writes
    the rest. `level`: for LZ4, deflate and Zstandard; None is the dataset's level, or the fastest. An array in a
    device's memory is brought to the host first, as one piece, and compressed there."""
    dataset = _dataset(dataset)
    if dataset.file.mode == "r":
        raise OSError(errno.EROFS, f"the file is open for reading only; open it with mode 'r+' to write to {dataset.name}", dataset.file.filename)
    if _device.is_on_device(data):
        data = _device.to_numpy(data)
    filters = _filters(dataset)
    axes = axes_of(selection, dataset.shape)
    if filters is None or axes is None or any(axis.step != 1 for axis in axes) or any(code not in _DO for code, _ in filters):
        dataset[selection] = data
        return
    lengths = [len(axis.indices) for axis in axes]
    shown = [length for axis, length in zip(axes, lengths) if not axis.is_number]
    values = numpy.broadcast_to(numpy.asarray(data, dataset.dtype), shown).reshape(lengths)
    chunk_bytes = math.prod(dataset.chunks) * dataset.dtype.itemsize
    places = list(itertools.product(*(axis.chunks(size) for axis, size in zip(axes, dataset.chunks))))
    whole = [place for place in places if all(_covers(*one, size, extent) for one, size, extent in zip(place, dataset.chunks, dataset.shape))]
    for some in _stretches(whole, max(1, _BATCH_BYTES // chunk_bytes)):
        chunks = []
        for place in some:
            part = values[tuple(into for _, _, into in place)]
            if part.shape != dataset.chunks:  # at the edge: chunks are stored whole
                full = numpy.full(dataset.chunks, dataset.fillvalue, dataset.dtype)
                full[tuple(slice(length) for length in part.shape)] = part
                part = full
            chunks.append(numpy.ascontiguousarray(part).reshape(-1).view("u1"))
        for place, chunk in zip(some, _compressed(chunks, filters, level, backend, threads)):
            begin = tuple(number * size for (number, _, _), size in zip(place, dataset.chunks))
            dataset.id.write_direct_chunk(begin, chunk)
    if len(whole) == len(places):
        return
    covered = set(map(_numbers, whole))
    for place in places:
        if _numbers(place) in covered:
            continue
        target = tuple(slice(number * size + of.start, number * size + of.stop)
                       for (number, of, _), size in zip(place, dataset.chunks))
        dataset[target] = values[tuple(into for _, _, into in place)]


def _numbers(place):
    return tuple(number for number, _, _ in place)


def _covers(number, of, _into, size, extent):
    return of.start == 0 and of.stop == min(size, extent - number * size)


def _dataset(found: Any) -> Any:
    if isinstance(found, (h5py.Group, h5py.Datatype)):
        raise TypeError(f"{found.name} is no dataset, but a {type(found).__name__.lower()}")
    return found


def _filters(dataset):
    """[(number, values)] in the order of writing; None if h5py must do it."""
    if dataset.chunks is None or dataset.dtype.hasobject or not isinstance(dataset.id, h5py.h5d.DatasetID):
        return None
    created = dataset.id.get_create_plist()
    filters = []
    for number in range(created.get_nfilters()):
        code, _flags, values, _name = created.get_filter(number)
        if code not in _UNDO:
            return None
        if code in _CONTAINERS and _CONTAINERS[code](values) is None:
            return None
        if code == _SHUFFLE:
            values = (dataset.dtype.itemsize,)
        filters.append((code, values))
    return filters or None


def _stretches(places, size):
    for begin in range(0, len(places), size):
        yield places[begin:begin + size]


def _stored_chunk(dataset, begin):
    """(filter mask, bytes); None where the chunk was never written."""
    info = dataset.id.get_chunk_info_by_coord(begin)
    if info.byte_offset is None:
        return None
    # The mask that read_direct_chunk() gives may be that of a chunk that was there before.
    return info.filter_mask, dataset.id.read_direct_chunk(begin)[1]


def _restored_by_name(dataset, places, stored, filters, chunk_bytes, backend, threads):
    """The same; the Error of a damaged chunk names it."""
    try:
        return _restored(stored, filters, chunk_bytes, backend, threads)
    except Error:
        for place, chunk in zip(places, stored):
            try:
                _restored([chunk], filters, chunk_bytes, backend, 1)
            except Error as error:
                begin = tuple(number * size for (number, _, _), size in zip(place, dataset.chunks))
                raise error.of(f"the chunk at {begin} of {dataset.name}") from None
        raise


def _restored(stored, filters, chunk_bytes, backend, threads):
    contents = [None if chunk is None else memoryview(chunk[1]) for chunk in stored]
    for number, (code, values) in reversed(list(enumerate(filters))):
        # A chunk's mask has a bit for each filter that it was written without.
        those = [i for i, chunk in enumerate(stored) if chunk is not None and not chunk[0] >> number & 1]
        undo = _UNDO[code]
        # What this filter was given had the checksums of those before it.
        checked = [1 << before for before in range(number) if filters[before][0] == _FLETCHER32]
        sizes = [chunk_bytes + _CHECKSUM_BYTES * sum(not stored[i][0] & bit for bit in checked) for i in those]
        for i, content in zip(those, undo([contents[i] for i in those], values, sizes, backend, threads)):
            contents[i] = content
    for content in contents:
        if content is not None and memoryview(content).nbytes != chunk_bytes:
            raise Error(Status.CONTENT_SIZE_MISMATCH,
                        f"a chunk holds {memoryview(content).nbytes} bytes rather than {chunk_bytes}")
    return contents


def _compressed(chunks, filters, level, backend, threads):
    for code, values in filters:
        chunks = _DO[code](chunks, values, level, backend, threads)
    return chunks


def _inflate(chunks, _values, _sizes, backend, threads):
    return restore_many(chunks, format="zlib", backend=backend, threads=threads)


def _deflate(chunks, values, level, backend, threads):
    level = level or min(9, max(1, values[0] if values else 6))
    return compress_many(chunks, format="zlib", level=level, backend=backend, threads=threads)


def _unzstd(chunks, _values, sizes, backend, threads):
    if backend not in ("auto", "cpu"):
        return restore_many(chunks, format="zstd", backend=backend, threads=threads)
    return _chunks.zstd_restored(chunks, sizes, threads)


def _zstd(chunks, values, level, backend, threads):
    # The filter counts from 1 and takes 0 for its default.
    level = level or min(22, values[0] if values else 0) or None
    return compress_many(chunks, format="zstd", level=level, backend=backend, threads=threads)


def _unshuffle(chunks, values, _sizes, _backend, _threads):
    return _core.shuffle(chunks, values[0], back=True) if values[0] <= _MOST_ELEMENT_BYTES else [_transposed(chunk, values[0], True) for chunk in chunks]


def _shuffle(chunks, values, _level, _backend, _threads):
    return [numpy.frombuffer(chunk, "u1") for chunk in
            (_core.shuffle(chunks, values[0], back=False) if values[0] <= _MOST_ELEMENT_BYTES else [_transposed(chunk, values[0], False) for chunk in chunks])]


def _transposed(chunk, element_bytes, back):
    """The same for elements that are longer than the library takes them: records."""
    given = numpy.frombuffer(chunk, "u1")
    whole = len(given) // element_bytes * element_bytes
    shape = (element_bytes, -1) if back else (-1, element_bytes)
    return numpy.concatenate([given[:whole].reshape(shape).T.reshape(-1), given[whole:]])


def _without_checksum(chunk):
    view = memoryview(chunk).cast("B")
    if len(view) < _CHECKSUM_BYTES:
        raise Error(Status.TRUNCATED, f"a chunk with HDF5's fletcher32 has {len(view)} bytes, fewer than its checksum")
    data, said = view[:-_CHECKSUM_BYTES], int.from_bytes(view[-_CHECKSUM_BYTES:], "little")
    found = _core.hdf5_fletcher32(data)
    if said not in (found, (found & 0xFF00FF) << 8 | found >> 8 & 0xFF00FF):  # the second is of HDF5 before 1.6.3
        raise Error(Status.CONTENT_CHECKSUM_MISMATCH, f"a chunk's fletcher32 is {found:08x}, and should be {said:08x}")
    return data


def _check(chunks, _values, _sizes, _backend, _threads):
    return [_without_checksum(chunk) for chunk in chunks]


def _add_checksum(chunks, _values, _level, _backend, _threads):
    return [numpy.frombuffer(b"".join((chunk, _core.hdf5_fletcher32(chunk).to_bytes(_CHECKSUM_BYTES, "little"))), "u1") for chunk in chunks]


def _of_deflate(_values):
    return dict(format="zlib")


def _of_zstd(_values):
    return dict(format="zstd")


def _of_lz4(_values):
    return dict(container="hdf5-lz4", format="lz4")


def _of_blosc(values):
    """None of codecs that only Blosc has, and where the file does not say which one it is."""
    format = _chunks.BLOSC_FORMATS.get(_chunks.BLOSC_CODECS.get(values[6])) if len(values) > 6 else None
    return dict(container="blosc", format=format) if format else None


def _of_blosc2(_values):
    """Its chunks say what they are."""
    return dict(container="blosc", format="lz4")


def _of_bitshuffle(values):
    """None of other formats, and of elements that are longer than the library takes them."""
    format = _BITSHUFFLE_FORMATS.get(values[4] if len(values) > 4 else 0, "another")
    if format == "another" or not 1 <= values[2] <= _MOST_ELEMENT_BYTES:
        return None
    return dict(container="hdf5-bitshuffle", format=format, element_bytes=values[2])


# How chunks of a filter that compresses are stored: a stream or frame, or blocks in a container. None: not by us.
_CONTAINERS = {_DEFLATE: _of_deflate, _ZSTD: _of_zstd, _LZ4: _of_lz4, _BLOSC: _of_blosc, _BITSHUFFLE: _of_bitshuffle, _BLOSC2: _of_blosc2}


def _from_container(chunks, container, sizes, threads):
    return _chunks.restored(chunks, sizes, **container, threads=threads)


def _into_container(chunks, threads, **coding):
    return _core.compress_chunks(chunks, **coding, threads=threads)


def _unlz4(chunks, values, sizes, _backend, threads):
    return _from_container(chunks, _of_lz4(values), sizes, threads)


def _lz4(chunks, values, level, _backend, threads):
    return _into_container(chunks, threads, **_of_lz4(values), level=level, block_bytes=min(values[0], 1 << 30) if values else 0)


def _unblosc(chunks, values, sizes, _backend, threads):
    return _from_container(chunks, _of_blosc(values), sizes, threads)


def _unblosc2(chunks, values, sizes, _backend, threads):
    return _from_container(chunks, _of_blosc2(values), sizes, threads)


def _blosc(chunks, values, level, _backend, threads):
    coding = _chunks.blosc_coding(_chunks.BLOSC_CODECS[values[6]], min(9, max(1, values[4])), values[5], values[2])
    if level:
        coding.update(level=level, acceleration=0)
    return _into_container(chunks, threads, **coding)


def _bitshuffle_block_bytes(values, element_bytes):
    elements = values[3] if len(values) > 3 else 0
    return (elements or max(_BITSHUFFLE_BLOCK_BYTES // element_bytes // 8 * 8, _BITSHUFFLE_LEAST)) * element_bytes


def _unbitshuffle(chunks, values, sizes, _backend, threads):
    container = _of_bitshuffle(values)
    if container["format"] is None:
        return _core.bitshuffle(chunks, values[2], _bitshuffle_block_bytes(values, values[2]), back=True)
    return _from_container(chunks, container, sizes, threads)


def _bitshuffle(chunks, values, level, _backend, threads):
    container, block_bytes = _of_bitshuffle(values), _bitshuffle_block_bytes(values, values[2])
    if container["format"] is None:
        return [numpy.frombuffer(chunk, "u1") for chunk in _core.bitshuffle(chunks, values[2], block_bytes, back=False)]
    if container["format"] == "zstd" and not level:
        level = min(22, values[5] if len(values) > 5 else 0) or None
    return _into_container(chunks, threads, **container, block_bytes=block_bytes, level=level)


_UNDO = {_DEFLATE: _inflate, _SHUFFLE: _unshuffle, _FLETCHER32: _check, _BLOSC: _unblosc, _LZ4: _unlz4, _BITSHUFFLE: _unbitshuffle, _ZSTD: _unzstd,
         _BLOSC2: _unblosc2}
_DO = {_DEFLATE: _deflate, _SHUFFLE: _shuffle, _FLETCHER32: _add_checksum, _BLOSC: _blosc, _LZ4: _lz4, _BITSHUFFLE: _bitshuffle, _ZSTD: _zstd}
