"""Zarr's codecs gzip, zstd, blosc, numcodecs.lz4, numcodecs.zlib, numcodecs.gzip, numcodecs.zstd and numcodecs.blosc by Hemstitch, many chunks in one
call.

    import hemstitch.zarr
    hemstitch.zarr.enable()

What is written is what these codecs define, under their names: stock zarr reads it, and this reads what stock zarr wrote. zarr gives its codecs
one chunk at a time; enable() also chooses a pipeline that gives them all chunks of a read or write, some MB for each core at once. (Chunks inside
a shard travel with those of the same shard.)

    array = hemstitch.zarr.read(zarr.open_array("a.zarr"), device="cuda")     # a DeviceArray; needs no CuPy

numcodecs' filters delta and shuffle are ours too, before these codecs.

With zarr.config.enable_gpu(), which does, reading into CuPy's arrays goes the same way.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import struct
import threading
import warnings
from typing import Any, Literal, Optional, overload

import numcodecs.blosc
import numcodecs.delta
import numcodecs.gzip
import numcodecs.lz4
import numcodecs.registry
import numcodecs.shuffle
import numcodecs.zlib
import numcodecs.zstd
import numpy
import zarr
from zarr.codecs import BytesCodec
from zarr.codecs import numcodecs as _stock
from zarr.codecs.blosc import BloscCodec
from zarr.codecs.gzip import GzipCodec
from zarr.codecs.zstd import ZstdCodec
from zarr.core.buffer.cpu import buffer_prototype as _host_prototype
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.core.common import concurrent_map
from zarr.core.sync import sync
from zarr.registry import register_codec, register_pipeline
from zarr.storage import LocalStore, StorePath

from . import _chunks, _core, _device, _device_batch, _device_chunks, compress_lz4_blocks, compress_many, restore_many
from ._errors import Error, Status
from ._selection import axes_of

#: Content that one call restores or compresses.
BATCH_BYTES = _chunks.BATCH_BYTES
# Of the library's shuffle.
_MOST_ELEMENT_BYTES = 256


class _Streams:
    """gzip, zlib or zstd, each chunk a stream or frame."""

    def __init__(self, format, level):
        self.format, self.level = format, level

    def encode(self, chunks):
        return compress_many(chunks, format=self.format, level=self.level)

    def decode(self, chunks):
        if self.format != "zstd":
            return restore_many(chunks, format=self.format)
        return _chunks.zstd_restored(chunks, [_chunks.zstd_bytes(chunk) for chunk in chunks])

    def split(self, chunk, chunk_bytes):
        """The _device_chunks.Split of a chunk; None where decode() is to be asked."""
        return _device_chunks.whole(chunk, 0, chunk_bytes)


class _SizedBlocks:
    """numcodecs' LZ4: the content's size in four bytes, then a block of LZ4."""

    def __init__(self, acceleration):
        # Of liblz4, whose 1 is our 0: no more than its fastest level.
        self.acceleration = max(0, acceleration - 1)

    format = "lz4"

    def encode(self, chunks):
        chunks = [memoryview(chunk).cast("B") for chunk in chunks]
        blocks = compress_lz4_blocks(chunks, acceleration=self.acceleration)
        return [struct.pack("<I", len(chunk)) + block for chunk, block in zip(chunks, blocks)]

    def decode(self, chunks):
        sizes, blocks = [], []
        for chunk in chunks:
            view = memoryview(chunk).cast("B")
            if len(view) < 4:
                raise Error(Status.TRUNCATED, f"a chunk of numcodecs.lz4 must begin with 4 bytes of size; this one has {len(view)}")
            sizes.append(struct.unpack_from("<I", view)[0])
            # A block restores to 255 times its bytes at most: what asks for more memory is damaged.
            if sizes[-1] > 255 * len(view):
                raise Error(Status.CORRUPT_BLOCK, f"a chunk of numcodecs.lz4 says {sizes[-1]} bytes, but has {len(view)} of data")
            blocks.append(view[4:])
        contents = [numpy.empty(size, "u1") for size in sizes]
        for size, done in zip(sizes, _core.restore_lz4_blocks_into(blocks, contents)):
            if isinstance(done, Error):
                raise done
            if done != size:
                raise Error(Status.CONTENT_SIZE_MISMATCH, f"a chunk of numcodecs.lz4 says {size} bytes, but holds {done}")
        return contents


    def split(self, chunk, chunk_bytes):
        if memoryview(chunk).nbytes < 4 or struct.unpack_from("<I", chunk)[0] != chunk_bytes:
            return None
        return _device_chunks.whole(chunk, 4, chunk_bytes)


class _Blosc:
    """Chunks of Blosc 1, with LZ4, zlib or Zstandard inside. `coding` is _chunks.blosc_coding()'s."""

    def __init__(self, coding):
        self.coding, self.format = coding, coding["format"]

    def encode(self, chunks):
        return _core.compress_chunks(chunks, **self.coding)

    def decode(self, chunks):
        return _chunks.restored(chunks, [_chunks.blosc_bytes(chunk) for chunk in chunks], "blosc")

    def split(self, chunk, chunk_bytes):
        try:
            layout = _chunks.Layout(chunk, "blosc")
        except Error:
            return None  # decode() says what is wrong
        return _device_chunks.in_blocks(chunk, chunk_bytes, self.format, layout)


class _Batched:
    """Chunks as zarr gives them, all of a batch together. `_coder` is None for levels that only the stock codec has."""

    async def decode(self, chunks_and_specs):
        return await self._many("decode", chunks_and_specs, super().decode)

    async def encode(self, chunks_and_specs):
        return await self._many("encode", chunks_and_specs, super().encode)

    async def _many(self, way, chunks_and_specs, stock):
        chunks_and_specs = list(chunks_and_specs)
        if self._coder is None:
            return await stock(chunks_and_specs)
        return await asyncio.to_thread(self._run, way, chunks_and_specs)

    def _run(self, way, chunks_and_specs):
        present = [chunk.as_numpy_array() for chunk, _ in chunks_and_specs if chunk is not None]
        results = iter(getattr(self._coder, way)(present) if present else ())
        return [None if chunk is None else spec.prototype.buffer.from_bytes(next(results)) for chunk, spec in chunks_and_specs]

    # zarr's pipelines that call codecs chunk by chunk, and without an event loop.
    def _decode_sync(self, chunk_bytes, chunk_spec):
        return self._one("decode", chunk_bytes, chunk_spec, super())

    def _encode_sync(self, chunk_bytes, chunk_spec):
        return self._one("encode", chunk_bytes, chunk_spec, super())

    def _one(self, way, chunk, spec, stock):
        if self._coder is None:
            return getattr(stock, f"_{way}_sync")(chunk, spec)
        return self._run(way, [(chunk, spec)])[0]

    async def _decode_single(self, chunk_bytes, chunk_spec):
        return (await self.decode([(chunk_bytes, chunk_spec)]))[0] if self._coder else await super()._decode_single(chunk_bytes, chunk_spec)

    async def _encode_single(self, chunk_bytes, chunk_spec):
        return (await self.encode([(chunk_bytes, chunk_spec)]))[0] if self._coder else await super()._encode_single(chunk_bytes, chunk_spec)


def _streams(format, level):
    return _Streams(format, level) if 1 <= level <= 9 else None


def _frames(level):
    """Of zstd, whose level 0 is its default. Ours have a checksum, whether the codec asks for it or not."""
    return _Streams("zstd", level or None) if -7 <= level <= 22 else None


def _blosc(cname, clevel, shuffle, element_bytes, block_bytes):
    """None of what only Blosc can do: other codecs, and level 0."""
    coding = _chunks.blosc_coding(cname, clevel, shuffle, element_bytes, block_bytes)
    return _Blosc(coding) if coding else None


class Gzip(_Batched, GzipCodec):
    """Zarr 3's codec gzip."""

    @property
    def _coder(self):
        return _streams("gzip", self.level)


class Zstd(_Batched, ZstdCodec):
    """Zarr 3's codec zstd, its default."""

    @property
    def _coder(self):
        return _frames(self.level)


class Blosc(_Batched, BloscCodec):
    """Zarr 3's codec blosc."""

    @property
    def _coder(self):
        shuffle = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}[self.shuffle.value]
        return _blosc(self.cname.value, self.clevel, shuffle, self.typesize, self.blocksize)


class _Numcodec:
    """For the codecs that zarr warns about because other implementations may lack them: users who enabled this chose them."""

    def __init__(self, **config):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            super().__init__(**config)


class Lz4(_Batched, _Numcodec, _stock.LZ4):
    """numcodecs.lz4."""

    @property
    def _coder(self):
        return _SizedBlocks(int(self.codec_config.get("acceleration", 1)))


class Zlib(_Batched, _Numcodec, _stock.Zlib):
    """numcodecs.zlib."""

    @property
    def _coder(self):
        return _streams("zlib", int(self.codec_config.get("level", 1)))


class NumcodecsGzip(_Batched, _Numcodec, _stock.GZip):
    """numcodecs.gzip."""

    @property
    def _coder(self):
        return _streams("gzip", int(self.codec_config.get("level", 1)))


class NumcodecsZstd(_Batched, _Numcodec, _stock.Zstd):
    """numcodecs.zstd."""

    @property
    def _coder(self):
        return _frames(int(self.codec_config.get("level", 0)))


class NumcodecsBlosc(_Batched, _Numcodec, _stock.Blosc):
    """numcodecs.blosc."""

    @property
    def _coder(self):
        # What it gets from zarr are bytes.
        return _blosc_of(self.codec_config, int(self.codec_config.get("typesize") or 1))


def _blosc_of(config, element_bytes):
    """Of numcodecs' configuration."""
    shuffle = int(config.get("shuffle", 1))
    if shuffle == numcodecs.blosc.AUTOSHUFFLE:
        shuffle = 2 if element_bytes == 1 else 1
    return _blosc(config.get("cname", "lz4"), int(config.get("clevel", 5)), shuffle, element_bytes, int(config.get("blocksize", 0)))


class Pipeline(BatchedCodecPipeline):
    """zarr's own pipeline, which carries as many chunks at once as BATCH_BYTES hold. Newer versions of zarr
    want to know of each chunk that is read whether it is stored."""

    async def read(self, batch_info, out, drop_axes=()):
        batch_info = list(batch_info)
        results = None if drop_axes else await self._read_to_device(batch_info, out.as_ndarray_like())
        if results is None:
            results = []
            for batch in _batches(batch_info):
                try:
                    results += await self.read_batch(batch, out, drop_axes) or ()
                except Error:
                    await self._name_what_is_wrong(batch, out, drop_axes)
                    raise
        return tuple(results)

    async def _name_what_is_wrong(self, batch, out, drop_axes):
        """Raises the Error of the first damaged chunk, with its key."""
        for item in batch:
            try:
                await self.read_batch([item], out, drop_axes)
            except Error as error:
                raise error.of(_key_of(item[0])) from None

    async def write(self, batch_info, value, drop_axes=()):
        for batch in _batches(batch_info):
            await self.write_batch(batch, value, drop_axes)

    async def _read_to_device(self, batch_info, out):
        """What read() gives; None where it did not, since `out` is no array in a device's memory, or its chunks are not for a device."""
        interface = getattr(out, "__cuda_array_interface__", None)
        if interface is None or interface.get("strides") is not None or not out.size:
            return None
        spec = batch_info[0][1]
        if any(one.shape != spec.shape for _, one, *_ in batch_info):
            return None
        stored = _stored_chunks(self, spec.shape, spec.dtype.to_native_dtype(), spec.fill_value, spec.prototype)
        places = [_place(getter, of, into) for getter, _, of, into, _ in batch_info]
        if stored is None or None in places:
            return None
        address = interface["data"][0]
        # What the array's own stream has still to do with it comes before, and what it does next after: restore() waits.
        run = _device_batch.Run(_device_batch.device_of(address), interface.get("stream") or 0)
        # An axis that an integer selects has one element.
        shown = iter(out.shape)
        extents = [1 if is_number else next(shown) for is_number in places[0].numbers]
        await _restore_to_device(run, stored, places, address, extents)
        return [{"status": "present" if place.is_stored else "missing"} for place in places]

    async def decode(self, chunk_bytes_and_specs):
        return list(await self.decode_batch(list(chunk_bytes_and_specs)))

    async def encode(self, chunk_arrays_and_specs):
        return list(await self.encode_batch(list(chunk_arrays_and_specs)))


@overload
def read(array: zarr.Array[Any], selection: Any = (), *, device: Optional[Literal["cpu"]] = None, stream: Any = None, threads: int = 0) -> numpy.ndarray[Any, Any]: ...
@overload
def read(array: zarr.Array[Any], selection: Any = (), *, device: str, stream: Any = None, threads: int = 0) -> _device.DeviceArray: ...
def read(array: Any, selection: Any = (), *, device: Optional[str] = None, stream: Any = None, threads: int = 0) -> Any:
    """Reads array[selection], with integers and slices, as a numpy array; with device="cuda" as a DeviceArray made on `stream`. The device restores
    chunks of the codecs above, of Zarr 3 and 2, whether enable() was called or not. Everything else (shards, filters but one shuffle, other codecs) the processor
    restores, and the result is uploaded: the array's `host_chunks` says for how many chunks. The Error of a damaged chunk names its key."""
    number = None if device is None else _device.number_of(device)
    axes = axes_of(selection, array.shape)
    if number is None:
        return _on_host(array, selection, axes)
    run = _device_batch.Run(number, _device.stream_number(stream))
    metadata = array.metadata
    if axes is not None and _fills_missing(array):
        stored = _stored_chunks_2(array) if metadata.zarr_format == 2 else _stored_chunks_3(array)
        if stored:
            result = _device_chunks.empty(run, [len(axis.indices) for axis in axes if not axis.is_number], array.dtype)
            if result.nbytes:
                places = _device_chunks.places_of(axes, array.chunks, lambda numbers: array.store_path / metadata.encode_chunk_key(numbers))
                result.host_chunks = sync(_restore_to_device(run, stored, places, result.address, [len(axis.indices) for axis in axes], threads))
            return result
    result = _device_chunks.uploaded(run, _on_host(array, selection, axes))
    result.host_chunks = math.prod(len(list(axis.chunks(size))) for axis, size in zip(axes, array.chunks)) if axes is not None else 1
    return result


def _on_host(array, selection, axes):
    """The numpy array of array[selection]. With enable_gpu(), zarr restores to a device, but fails there for big-endian data, so it is asked to
    stay on the host. Shards and Zarr 2 it restores only where its settings say."""
    if axes and array.metadata.zarr_format == 3 and array.shards is None:
        return numpy.asarray(array.get_orthogonal_selection(selection, prototype=_host_prototype))
    return _device_chunks.on_host(array[selection])


def _fills_missing(array):
    """Whether chunks that are not stored are read as the fill value. Newer versions of zarr have a setting that makes them an error, and raise it."""
    config = getattr(getattr(array, "async_array", None), "config", None)
    return getattr(config, "read_missing_chunks", True)


def _is_regular(chunk_grid):
    return chunk_grid.to_dict()["name"] == "regular"


async def _restore_to_device(run, stored, places, address, extents, threads=0):
    if not _is_local_file(places[0].key):
        # Chunks of a shard are where zarr has the shard, and it gives them in no other way.
        prototype = _host_prototype if isinstance(places[0].key, StorePath) else stored.prototype
        chunks = await concurrent_map([(place.key, prototype) for place in places], lambda getter, prototype: getter.get(prototype),
                                      zarr.config.get("async.concurrency"))
        for place, chunk in zip(places, chunks):
            place.key = None if chunk is None else chunk.as_numpy_array()
    target = _device_chunks.Target(address, extents, stored.shape, stored.item_bytes)
    return await asyncio.to_thread(_device_chunks.restore, run, stored, places, target, threads)


def _is_local_file(key):
    return isinstance(key, StorePath) and isinstance(key.store, LocalStore)


class _StoredChunks(_device_chunks.Stored):
    """Chunks of a codec of ours, before which filters came (of _V2_FILTERS, in the order of writing). Those of a LocalStore are read from their files by many
    threads, others come fetched."""

    def __init__(self, coder, filters, shape, dtype, fill_value, prototype):
        self.format, self.shape, self.item_bytes, self.prototype = coder.format, shape, dtype.itemsize, prototype
        self._coder, self._dtype, self._fill_value = coder, dtype, fill_value
        self._chunk_bytes = math.prod(shape) * self.item_bytes
        self._filters = filters
        # A device undoes one shuffle.
        element_bytes = filters[0].elementsize if len(filters) == 1 and isinstance(filters[0], ShuffleV2) else 0
        is_shuffled = 1 < element_bytes <= _MOST_ELEMENT_BYTES and self._chunk_bytes % element_bytes == 0
        self._undo = _chunks.Undo("shuffle", element_bytes, self._chunk_bytes, 0, self._chunk_bytes) if is_shuffled else None

    def fetch(self, key):
        if not _is_local_file(key):
            return key
        try:
            with open(os.path.join(key.store.root, key.path), "rb", buffering=0) as file:
                return file.read()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None

    def split(self, chunk):
        if self._filters and self._undo is None:
            return None
        split = self._coder.split(chunk, self._chunk_bytes)
        if split is None or (split.undo and self._undo):
            return None
        split.undo = split.undo or self._undo
        return split

    def name(self, key):
        return _key_of(key)

    def on_host(self, chunk):
        [content] = self._coder.decode([chunk])
        try:
            for filter in reversed(self._filters):
                content = filter.decode(content)
        except ValueError as error:  # of numpy, about sizes
            raise Error(Status.CONTENT_SIZE_MISMATCH, f"a chunk's content is not what its filters make: {error}") from error
        content = numpy.frombuffer(content, "u1")
        if len(content) != self._chunk_bytes:
            raise Error(Status.CONTENT_SIZE_MISMATCH, f"a chunk holds {len(content)} bytes rather than {self._chunk_bytes}")
        return content

    def fill(self):
        if self._fill_value is None:  # Zarr 2's chunks may have none: zarr reads zeros
            return numpy.zeros(self.shape, self._dtype).reshape(-1).view("u1")
        return numpy.full(self.shape, self._fill_value, self._dtype).reshape(-1).view("u1")


def _stored_chunks(codecs, shape, dtype, fill_value, prototype):
    """A _StoredChunks where all that is done to chunks is one of our codecs, and filters of ours before it; else None. Those of shards are asked for with
    `prototype`."""
    *before, last = codecs
    if sum(type(codec) is BytesCodec for codec in before) != 1 or dtype.hasobject or dtype.itemsize == 0:
        return None
    filters = []
    for codec in before:
        said = codec.to_dict()
        if type(codec) is BytesCodec:
            endian = codec.endian
            if getattr(endian, "value", endian) not in (None, "little") and dtype.itemsize > 1:  # newer versions have the word itself
                return None
        elif said["name"] in ("numcodecs.delta", "numcodecs.shuffle"):
            filters.append(_V2_FILTERS[said["name"].removeprefix("numcodecs.")][0](**said["configuration"]))
        else:
            return None
    said = last.to_dict()
    ours = _CODECS.get(said["name"])
    coder = ours.from_dict(said)._coder if ours else None
    return _StoredChunks(coder, filters, shape, dtype, fill_value, prototype) if coder else None


def _stored_chunks_3(array):
    """The same for an array; None too where its chunks are not all of one size."""
    if not _is_regular(array.metadata.chunk_grid):
        return None
    return _stored_chunks(array.metadata.codecs, array.chunks, array.dtype, array.fill_value, None)


def _stored_chunks_2(array):
    """For Zarr 2, in C order. Elements stay in the order of bytes that they are stored in."""
    metadata, dtype = array.metadata, array.dtype
    if metadata.order != "C" or metadata.compressor is None or dtype.hasobject or dtype.itemsize == 0:
        return None
    compressor = _v2_of(metadata.compressor, _V2_CODECS)
    filters = [_v2_of(filter, _V2_FILTERS) for filter in metadata.filters or ()]
    if compressor is None or compressor._coder is None or None in filters:
        return None
    return _StoredChunks(compressor._coder, filters, array.chunks, dtype, metadata.fill_value, None)


def _v2_of(codec, known):
    """Ours of a codec of numcodecs; None of others."""
    config = codec.get_config()
    ours = known.get(config.pop("id"))
    return ours[0](**config) if ours else None


class _Place(_device_chunks.Place):
    __slots__ = ("numbers",)


def _place(getter, of, into):
    """A Place; None where the selection is not of integers and slices."""
    if not isinstance(of, tuple) or not isinstance(into, tuple):
        return None
    into, rows, firsts, numbers = list(into), [], [], []
    for one in of:
        if isinstance(one, slice):
            if not into or not isinstance(into[0], slice) or one.start is None or one.stop is None:
                return None
            step = one.step or 1
            count = len(range(one.start, one.stop, step))
            rows.append((one.start, count, step))
            firsts.append(into.pop(0).start)
        elif isinstance(one, (int, numpy.integer)):
            rows.append((int(one), 1, 1))
            firsts.append(0)
        else:
            return None
        numbers.append(not isinstance(one, slice))
    if into:
        return None
    place = _Place(getter, tuple(rows), tuple(firsts))
    place.numbers = numbers
    return place


def _key_of(getter):
    """What the store calls a chunk; of one inside a shard, its number there."""
    if isinstance(getter, StorePath):
        return f"the chunk {getter.path}"
    coordinates = getattr(getter, "chunk_coords", None)
    return "a chunk" if coordinates is None else f"the chunk at {tuple(coordinates)} of the shard"


def _batches(batch_info):
    """Of items whose second element is an ArraySpec."""
    batch, room = [], BATCH_BYTES
    for item in batch_info:
        spec = item[1]
        size = math.prod(spec.shape) * spec.dtype.to_native_dtype().itemsize
        if batch and size > room:
            yield batch
            batch, room = [], BATCH_BYTES
        batch.append(item)
        room -= size
    if batch:
        yield batch


class _V2:
    """A codec of numcodecs, for Zarr 2: one chunk a call."""

    def encode(self, buf):
        if self._coder is None:
            return super().encode(buf)
        return self._coder.encode([numcodecs.compat.ensure_contiguous_ndarray(buf)])[0]

    def decode(self, buf, out=None):
        if self._coder is None:
            return super().decode(buf, out)
        restored = self._coder.decode([numcodecs.compat.ensure_contiguous_ndarray(buf)])[0]
        return restored if out is None else numcodecs.compat.ndarray_copy(restored, out)


class LZ4V2(_V2, numcodecs.lz4.LZ4):
    @property
    def _coder(self):
        return _SizedBlocks(self.acceleration)


class ZlibV2(_V2, numcodecs.zlib.Zlib):
    @property
    def _coder(self):
        return _streams("zlib", self.level)


class GZipV2(_V2, numcodecs.gzip.GZip):
    @property
    def _coder(self):
        return _streams("gzip", self.level)


class ZstdV2(_V2, numcodecs.zstd.Zstd):
    @property
    def _coder(self):
        return _frames(self.level)


class BloscV2(_V2, numcodecs.blosc.Blosc):
    @property
    def _coder(self):
        return self._coder_of(1)

    def _coder_of(self, element_bytes):
        return _blosc_of(self.get_config(), getattr(self, "typesize", None) or element_bytes)

    def encode(self, buf):
        buf = numcodecs.compat.ensure_contiguous_ndarray(buf)
        coder = self._coder_of(buf.dtype.itemsize)
        return coder.encode([buf])[0] if coder else super().encode(buf)


class ShuffleV2(numcodecs.shuffle.Shuffle):
    """numcodecs' filter."""

    def encode(self, buf, out=None):
        return self._rearranged(buf, out, False, super().encode)

    def decode(self, buf, out=None):
        return self._rearranged(buf, out, True, super().decode)

    def _rearranged(self, buf, out, back, stock):
        buf = numcodecs.compat.ensure_contiguous_ndarray(buf)
        if not 1 < self.elementsize <= _MOST_ELEMENT_BYTES or buf.nbytes % self.elementsize:
            return stock(buf, out)
        [content] = _core.shuffle([buf.view("u1")], self.elementsize, back=back)
        return numcodecs.compat.ndarray_copy(numpy.frombuffer(content, "u1"), out)


class DeltaV2(numcodecs.delta.Delta):
    """numcodecs' filter. Differences of floating-point numbers, and of integers in the other order of bytes, are numpy's."""

    @property
    def _is_ours(self):
        return all(dtype.kind in "iu" and dtype.str[0] in "<|" for dtype in (self.dtype, self.astype))

    def encode(self, buf):
        if not self._is_ours:
            return super().encode(buf)
        values = numcodecs.compat.ensure_ndarray(buf).view(self.dtype).reshape(-1, order="A")
        [differences] = _core.delta([values.view("u1")], self.dtype.itemsize, back=False)
        return numpy.frombuffer(differences, self.dtype).astype(self.astype, copy=False)

    def decode(self, buf, out=None):
        if not self._is_ours:
            return super().decode(buf, out)
        differences = numcodecs.compat.ensure_ndarray(buf).view(self.astype).reshape(-1, order="A").astype(self.dtype, copy=False)
        [values] = _core.delta([differences.view("u1")], self.dtype.itemsize, back=True)
        return numcodecs.compat.ndarray_copy(numpy.frombuffer(values, self.dtype), out)


_CODECS = {"gzip": Gzip, "zstd": Zstd, "blosc": Blosc, "numcodecs.lz4": Lz4, "numcodecs.zlib": Zlib, "numcodecs.gzip": NumcodecsGzip,
           "numcodecs.zstd": NumcodecsZstd, "numcodecs.blosc": NumcodecsBlosc}
_V2_CODECS = {"lz4": (LZ4V2, numcodecs.lz4.LZ4), "zlib": (ZlibV2, numcodecs.zlib.Zlib), "gzip": (GZipV2, numcodecs.gzip.GZip),
              "zstd": (ZstdV2, numcodecs.zstd.Zstd), "blosc": (BloscV2, numcodecs.blosc.Blosc)}
_V2_FILTERS = {"delta": (DeltaV2, numcodecs.delta.Delta), "shuffle": (ShuffleV2, numcodecs.shuffle.Shuffle)}


def _config():
    codecs = {**zarr.config.get("codecs"), **{name: f"{__name__}.{codec.__qualname__}" for name, codec in _CODECS.items()}}
    return {"codecs": codecs, "codec_pipeline.path": f"{__name__}.Pipeline"}


# How many contexts of enable() there are, and what was there before the first of them.
_lock = threading.Lock()
_depth, _before = 0, None


def enable() -> contextlib.AbstractContextManager[Any]:
    """Makes arrays that are created or opened from here on use these codecs and this pipeline. As a context manager, until it ends; contexts nest, and those of
    several threads may overlap: when the last of them ends, what was there before the first is used again."""
    global _depth, _before
    with _lock:
        for name, codec in _CODECS.items():
            register_codec(name, codec, qualname=f"{__name__}.{codec.__qualname__}")
        register_pipeline(Pipeline)
        registered = {name: numcodecs.registry.codec_registry.get(name, stock) for name, (_, stock) in (_V2_CODECS | _V2_FILTERS).items()}
        for name, (ours, _) in (_V2_CODECS | _V2_FILTERS).items():
            numcodecs.registry.register_codec(ours, codec_id=name)
        setting = zarr.config.set(_config())
        if _depth == 0:
            _before = setting, registered
        _depth += 1
    return _Enabled()


class _Enabled(contextlib.AbstractContextManager):
    def __exit__(self, *error):
        global _depth
        with _lock:
            _depth -= 1
            if _depth:
                return
            setting, registered = _before
            setting.__exit__(*error)
            for name, codec in registered.items():
                numcodecs.registry.register_codec(codec, codec_id=name)
