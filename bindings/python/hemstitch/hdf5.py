"""HDF5 and NetCDF-4 through h5py: all chunks of a selection read, restored and placed together.

    values = hemstitch.hdf5.read(file["temperature"], numpy.s_[10:20, :, ::2])
    array = hemstitch.hdf5.read(file["temperature"], device="cuda")
    hemstitch.hdf5.write(file["temperature"], values)

HDF5's own filters see one chunk at a time, under the library's lock. Here chunks are read as they stand in the file
(`read_direct_chunk`), go to hemstitch together, and are put in place. The filters: deflate (1), shuffle (2), LZ4 (32004),
bitshuffle (32008) alone or with LZ4, and Zstandard (32015). What is stored or selected in another way h5py reads and writes itself. The files are any HDF5's.
"""

from __future__ import annotations

import errno
import functools
import itertools
import math
import os
import struct

import h5py
import numpy

from . import _core, _device, _device_batch, _device_chunks, compress_lz4_blocks, compress_many, restore_many
from ._errors import Error, Status
from ._selection import axes_of

_DEFLATE, _SHUFFLE, _LZ4, _BITSHUFFLE, _ZSTD = 1, 2, 32004, 32008, 32015
_BITSHUFFLE_LZ4 = 2  # of its fifth number
# The filters' words for "no block size is given".
_LZ4_BLOCK_BYTES = 1 << 30
_BITSHUFFLE_BLOCK_BYTES, _BITSHUFFLE_LEAST = 8192, 128
# Of the library's shuffle.
_MOST_ELEMENT_BYTES = 256
# Content that one call restores or compresses.
_BATCH_BYTES = 256 << 20


def read(dataset, selection=(), *, device=None, stream=None, backend="auto", threads=0):
    """Reads dataset[selection] as a numpy array; with device="cuda" as a DeviceArray, made on `stream`. `selection`: integers, slices and
    Ellipsis, as in h5py. A device restores LZ4 and deflate, with or without shuffle, in chunks of at most 1 GiB; for everything else the
    processor restores, and the result is uploaded."""
    number = None if device is None else _device.number_of(device)
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
        contents = _restored(stored, filters, chunk_bytes, backend, threads)
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
            _device_chunks.restore(run, stored, places, target, threads)
    return array


class _StoredChunks(_device_chunks.Stored):
    """A dataset's chunks: (filter mask, bytes). Where HDF5 reads the file by its descriptor so do we, by many threads, past its lock."""

    def __init__(self, dataset, filters, chunk_count):
        self._dataset, self._filters = dataset, filters
        self._chunk_bytes = math.prod(dataset.chunks) * dataset.dtype.itemsize
        codes = [code for code, _ in filters]
        shuffled = codes[:1] == [_SHUFFLE] and filters[0][1][0] <= _MOST_ELEMENT_BYTES
        self._last = codes[-1] if codes[-1:] in ([_LZ4], [_DEFLATE]) and len(codes) == 1 + shuffled else None
        self.format = "zlib" if self._last == _DEFLATE else "lz4"
        self.element_bytes = filters[0][1][0] if shuffled else 0
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
        if mask or self._last is None:
            return None
        if self._last == _DEFLATE:
            return _device_chunks.whole(data, 0, self._chunk_bytes)
        blocks = [_device_chunks.Block(begin, packed, done, size, packed == size)
                  for begin, packed, done, size in _blocks_of(memoryview(data), self._chunk_bytes, _lz4_block_sizes)]
        if any(max(block.size, block.content_bytes) > _device_chunks.MOST_BLOCK_BYTES for block in blocks):
            return None
        return data, blocks

    def on_host(self, chunk):
        return _restored([chunk], self._filters, self._chunk_bytes, "cpu", 1)[0]

    def fill(self):
        return numpy.full(self._dataset.chunks, self._dataset.fillvalue, self._dataset.dtype).reshape(-1).view("u1")


def write(dataset, data, selection=(), *, level=None, backend="auto", threads=0):
    """Does dataset[selection] = data. Chunks that the selection covers completely are compressed together and written directly; h5py writes
    the rest. `level`: for LZ4, deflate and Zstandard; None is the dataset's level, or the fastest. An array in a
    device's memory is brought to the host first, as one piece, and compressed there."""
    if dataset.file.mode == "r":
        raise OSError(errno.EROFS, f"the file is open for reading only; open it with mode 'r+' to write to {dataset.name}", dataset.file.filename)
    if _device.is_on_device(data):
        data = _device.to_numpy(data)
    filters = _filters(dataset)
    axes = axes_of(selection, dataset.shape)
    if filters is None or axes is None or any(axis.step != 1 for axis in axes):
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
        if code == _BITSHUFFLE and len(values) > 4 and values[4] not in (0, _BITSHUFFLE_LZ4):
            return None  # its zstd
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
    return dataset.id.read_direct_chunk(begin)


def _restored(stored, filters, chunk_bytes, backend, threads):
    contents = [None if chunk is None else memoryview(chunk[1]) for chunk in stored]
    for number, (code, values) in reversed(list(enumerate(filters))):
        # A chunk's mask has a bit for each filter that it was written without.
        those = [i for i, chunk in enumerate(stored) if chunk is not None and not chunk[0] >> number & 1]
        undo = _UNDO[code]
        for i, content in zip(those, undo([contents[i] for i in those], values, chunk_bytes, backend, threads)):
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


def _inflate(chunks, _values, _chunk_bytes, backend, threads):
    return restore_many(chunks, format="zlib", backend=backend, threads=threads)


def _deflate(chunks, values, level, backend, threads):
    level = level or min(9, max(1, values[0] if values else 6))
    return compress_many(chunks, format="zlib", level=level, backend=backend, threads=threads)


def _unzstd(chunks, _values, _chunk_bytes, backend, threads):
    return restore_many(chunks, format="zstd", backend=backend, threads=threads)


def _zstd(chunks, values, level, backend, threads):
    # The filter counts from 1 and takes 0 for its default.
    level = level or min(22, values[0] if values else 0) or None
    return compress_many(chunks, format="zstd", level=level, backend=backend, threads=threads)


def _unshuffle(chunks, values, _chunk_bytes, _backend, _threads):
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


def _damaged(what):
    return Error(Status.CORRUPT_BLOCK, f"a chunk of the LZ4 filter {what}")


def _blocks_of(chunk, chunk_bytes, block_sizes):
    """(first byte, bytes, first byte of its content, bytes of that) of each block of a chunk."""
    if len(chunk) < 12:
        raise _damaged(f"must begin with 12 bytes of sizes; it has {len(chunk)}")
    content_bytes, block_bytes = struct.unpack_from(">QI", chunk)
    if content_bytes != chunk_bytes:
        raise _damaged(f"says {content_bytes} bytes; chunks have {chunk_bytes}")
    at, done = 12, 0
    for size in block_sizes(content_bytes, block_bytes):
        if at + 4 > len(chunk):
            raise _damaged("ends inside its blocks")
        (packed,) = struct.unpack_from(">I", chunk, at)
        at += 4
        if packed > len(chunk) - at:
            raise _damaged("ends inside its blocks")
        yield at, packed, done, size
        at += packed
        done += size


class _Lz4Reader:
    """The blocks of chunks that begin with their content's size and the size of a block (both filters; big-endian)."""

    def __init__(self, chunk_bytes):
        self.chunk_bytes = chunk_bytes
        self.blocks, self.rooms = [], []

    def add(self, chunk, block_sizes):
        """Notes the chunk's blocks, and gives the content that they will fill, with what stands behind them."""
        content = numpy.empty(self.chunk_bytes, "u1")
        at, done = 12, 0
        for begin, packed, done, size in _blocks_of(chunk, self.chunk_bytes, block_sizes):
            room = content[done:done + size]
            at, done = begin + packed, done + size
            if packed == size and block_sizes is _lz4_block_sizes:  # stored
                room[:] = numpy.frombuffer(chunk, "u1", packed, begin)
            else:
                self.blocks.append(chunk[begin:at])
                self.rooms.append(room)
        return content, at, done

    def restore(self, backend, threads):
        written = _core.restore_lz4_blocks_into(self.blocks, self.rooms, backend=backend, threads=threads)
        for room, size in zip(self.rooms, written):
            if isinstance(size, Error):
                raise size
            if size != len(room):
                raise _damaged(f"has a block of {size} bytes that should have {len(room)}")


def _lz4_block_sizes(content_bytes, block_bytes):
    if content_bytes and not block_bytes:
        raise _damaged("says that blocks have 0 bytes")
    for done in range(0, content_bytes, block_bytes or 1):
        yield min(block_bytes, content_bytes - done)


def _unlz4(chunks, _values, chunk_bytes, backend, threads):
    reader = _Lz4Reader(chunk_bytes)
    contents = [reader.add(memoryview(chunk), _lz4_block_sizes)[0] for chunk in chunks]
    reader.restore(backend, threads)
    return contents


def _lz4(chunks, values, level, _backend, threads):
    block_bytes = (values[0] if values else 0) or _LZ4_BLOCK_BYTES
    blocks, counts = [], []
    for chunk in chunks:
        some = [chunk[at:at + block_bytes] for at in range(0, len(chunk), block_bytes)]
        blocks += some
        counts.append(len(some))
    packed = iter(zip(blocks, compress_lz4_blocks(blocks, level=level, threads=threads)))
    results = []
    for chunk, count in zip(chunks, counts):
        pieces = [struct.pack(">QI", len(chunk), min(block_bytes, len(chunk)))]
        for block, data in itertools.islice(packed, count):
            if len(data) >= len(block):  # equal sizes mean that it is stored
                data = block.tobytes()
            pieces += [struct.pack(">I", len(data)), data]
        results.append(b"".join(pieces))
    return results


def _bitshuffle_sizes(element_bytes):
    """As _lz4_block_sizes(): blocks hold multiples of 8 elements; what is left over stands behind them as it is."""

    def sizes(content_bytes, block_bytes):
        if block_bytes == 0 or block_bytes % (8 * element_bytes):
            raise _damaged(f"says that blocks have {block_bytes} bytes, for elements of {element_bytes}")
        left = content_bytes // element_bytes // 8 * 8 * element_bytes
        while left:
            yield min(left, block_bytes)
            left -= min(left, block_bytes)

    return sizes


def _bitshuffle_block_bytes(values, element_bytes):
    elements = values[3] if len(values) > 3 else 0
    return (elements or max(_BITSHUFFLE_BLOCK_BYTES // element_bytes // 8 * 8, _BITSHUFFLE_LEAST)) * element_bytes


def _bits_transposed(block, element_bytes, back):
    """Bits of elements to planes of bits, the lowest of all elements first."""
    count = len(block) // element_bytes
    if back:
        bits = numpy.unpackbits(block.reshape(8 * element_bytes, count // 8), axis=1, bitorder="little")
        return numpy.packbits(bits.T, axis=1, bitorder="little").reshape(-1)
    bits = numpy.unpackbits(block.reshape(count, element_bytes), axis=1, bitorder="little")
    return numpy.packbits(bits.T, axis=1, bitorder="little").reshape(-1)


def _bits_in_blocks(content, sizes, element_bytes, back):
    result = numpy.array(content)
    at = 0
    for size in sizes:
        result[at:at + size] = _bits_transposed(result[at:at + size], element_bytes, back)
        at += size
    return result


def _unbitshuffle(chunks, values, chunk_bytes, backend, threads):
    element_bytes = values[2]
    sizes = _bitshuffle_sizes(element_bytes)
    if len(values) < 5 or values[4] != _BITSHUFFLE_LZ4:
        block_bytes = _bitshuffle_block_bytes(values, element_bytes)
        return [_bits_in_blocks(numpy.frombuffer(chunk, "u1"), sizes(memoryview(chunk).nbytes, block_bytes), element_bytes, True) for chunk in chunks]
    reader = _Lz4Reader(chunk_bytes)
    contents, block_sizes = [], []
    for chunk in chunks:
        view = memoryview(chunk)
        content, at, done = reader.add(view, sizes)
        if len(view) - at != len(content) - done:
            raise _damaged(f"has {len(view) - at} bytes after its blocks, not {len(content) - done}")
        content[done:] = numpy.frombuffer(view, "u1")[at:]
        contents.append(content)
        block_sizes.append(sizes(len(content), struct.unpack_from(">I", view, 8)[0]))
    reader.restore(backend, threads)
    return [_bits_in_blocks(content, of, element_bytes, True) for content, of in zip(contents, block_sizes)]


def _bitshuffle(chunks, values, level, _backend, threads):
    element_bytes = values[2]
    block_bytes = _bitshuffle_block_bytes(values, element_bytes)
    sizes = functools.partial(_bitshuffle_sizes(element_bytes), block_bytes=block_bytes)
    shuffled = [_bits_in_blocks(numpy.frombuffer(chunk, "u1"), sizes(memoryview(chunk).nbytes), element_bytes, False) for chunk in chunks]
    if len(values) < 5 or values[4] != _BITSHUFFLE_LZ4:
        return shuffled
    blocks = []
    for content in shuffled:
        at = 0
        for size in sizes(len(content)):
            blocks.append(content[at:at + size])
            at += size
    packed = iter(compress_lz4_blocks(blocks, level=level, threads=threads))
    results = []
    for content in shuffled:
        pieces, at = [struct.pack(">QI", len(content), block_bytes)], 0
        for size in sizes(len(content)):
            data = next(packed)
            pieces += [struct.pack(">I", len(data)), data]
            at += size
        results.append(b"".join([*pieces, content[at:].tobytes()]))
    return results


_UNDO = {_DEFLATE: _inflate, _SHUFFLE: _unshuffle, _LZ4: _unlz4, _BITSHUFFLE: _unbitshuffle, _ZSTD: _unzstd}
_DO = {_DEFLATE: _deflate, _SHUFFLE: _shuffle, _LZ4: _lz4, _BITSHUFFLE: _bitshuffle, _ZSTD: _zstd}
