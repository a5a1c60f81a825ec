"""A CUDA device's calls of the module, played on the host's memory by other libraries: what the package's Python asks of them can so be tested without a GPU."""

import ctypes
import zlib

import lz4.block
import lz4.frame
import numcodecs.zstd
import numpy

import hemstitch

_WINDOW = {"zlib": 15, "gzip": 31, "deflate": -15, "bgzf": 31}
_CORRUPT, _TOO_SMALL = 302, 400


class Content:
    """Memory; filled with what nobody wrote."""

    def __init__(self, size):
        self._memory = (ctypes.c_ubyte * max(1, size)).from_buffer_copy(b"\xa5" * max(1, size))
        self.address, self.bytes, self.restored_on_device = ctypes.addressof(self._memory), size, True


def words(address, count, kind="u8"):
    return numpy.frombuffer(ctypes.string_at(address, count * numpy.dtype(kind).itemsize), kind) if count else numpy.zeros(0, kind)


def put(address, data):
    ctypes.memmove(address, bytes(data), len(data))


class Core:
    """The module, whose device is this. `calls` are the names of those that were called, `restored` the formats of blocks; `streams` those that
    they were given."""

    def __init__(self, real):
        self._real, self.calls, self.restored, self.streams, self.waits, self.orders = real, [], [], set(), 0, []

    def __getattribute__(self, name):
        if name.startswith("device_") and name not in ("device_frame_bound", "device_blocks_bound"):
            object.__getattribute__(self, "calls").append(name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        return getattr(self._real, name)

    def _on(self, device, stream):
        assert isinstance(device, int) and isinstance(stream, int)
        self.streams.add((device, stream))

    def device_of(self, address):
        return 0

    def device_memory(self, size, device, stream):
        self._on(device, stream)
        return Content(size)

    def device_upload(self, objects, places, address, device):
        ends = 0
        for one, place in zip(objects, places):
            assert place >= ends
            data = bytes(memoryview(one).cast("B")) if memoryview(one).nbytes else b""
            put(address + place, data)
            ends = place + len(data)

    def device_download(self, address, size, device, stream):
        self._on(device, stream)
        self.waits += 1
        return ctypes.string_at(address, size)

    def device_copy(self, source, size, target, device, stream):
        self._on(device, stream)
        ctypes.memmove(target, source, size)

    def device_order(self, before, device, stream):
        self.orders.append((before, stream))

    def device_frame_bound(self, content_bytes, block_bytes):
        return content_bytes + content_bytes // 64 + 1000

    def device_frame_compress(self, content, content_bytes, block_bytes, level, output, capacity, output_bytes, status, device, stream):
        self._on(device, stream)
        frame = lz4.frame.compress(ctypes.string_at(content, content_bytes), block_linked=False, block_checksum=True, store_size=True)
        put(output, frame)
        put(output_bytes, len(frame).to_bytes(8, "little"))
        put(status, bytes(4))

    def device_frame_restore(self, data, size, begin, output, capacity, output_bytes, status, device, stream):
        self._on(device, stream)
        given = ctypes.string_at(data, size)
        assert given.startswith(begin)
        try:
            content, state = lz4.frame.decompress(given), 0
        except RuntimeError:
            content, state = b"", _CORRUPT
        assert len(content) <= capacity
        put(output, content)
        put(output_bytes, len(content).to_bytes(8, "little"))
        put(status, state.to_bytes(4, "little"))

    def _blocks(self, count, blocks, sizes, outputs, rooms, output_bytes, statuses, work):
        done, states = [], []
        capacities = words(rooms, count).tolist()
        targets = words(outputs, count).tolist() if outputs else [0] * count
        for block, size, target, room in zip(words(blocks, count).tolist(), words(sizes, count).tolist(), targets, capacities):
            result, state = work(ctypes.string_at(block, size) if size else b"", room)
            if state == 0 and len(result) > room:
                result, state = b"", _TOO_SMALL
            if target:
                put(target, result)
            done.append(len(result))
            states.append(state)
        put(output_bytes, numpy.array(done, "u8").tobytes())
        put(statuses, numpy.array(states, "i4").tobytes())

    def device_blocks_bound(self, format, size):
        return size + size // 100 + 100

    def device_blocks_compress(self, format, count, blocks, block_bytes, max_block_bytes, total_block_bytes, level, outputs, capacities,
                               output_bytes, statuses, device, stream):
        self._on(device, stream)
        assert words(block_bytes, count).max() <= max_block_bytes and words(block_bytes, count).sum() <= total_block_bytes

        def compressed(block, room):
            if format == "bgzf":  # without the empty block at the end
                return hemstitch.compress(block, format="bgzf", level=level)[:-28], 0
            if format == "zstd":
                assert level in (3, 5)
                return hemstitch.compress(block, format="zstd", level=level), 0
            work = zlib.compressobj(level, zlib.DEFLATED, _WINDOW[format])
            return work.compress(block) + work.flush(), 0

        self._blocks(count, blocks, block_bytes, outputs, capacities, output_bytes, statuses, compressed)

    def device_blocks_restore(self, format, count, blocks, block_bytes, max_block_bytes, outputs, capacities, max_output_bytes, output_bytes,
                              statuses, device, stream):
        self._on(device, stream)
        self.restored.append(format)
        assert words(block_bytes, count).max() <= max_block_bytes and words(capacities, count).max() <= max_output_bytes

        def restored(block, room):
            if format == "lz4":
                try:
                    return lz4.block.decompress(block, uncompressed_size=room), 0
                except lz4.block.LZ4BlockError:
                    return b"", _CORRUPT
            if format == "zstd":
                try:
                    return numcodecs.zstd.decompress(block), 0
                except RuntimeError:
                    return b"", _CORRUPT
            work = zlib.decompressobj(_WINDOW[format])
            try:
                content = work.decompress(block)
            except zlib.error:
                return b"", _CORRUPT
            return (content, 0) if work.eof and not work.unused_data else (b"", _CORRUPT)

        self._blocks(count, blocks, block_bytes, outputs, capacities, output_bytes, statuses, restored)

    def device_unshuffle(self, count, sources, sizes, targets, element_bytes, device, stream):
        self._on(device, stream)
        for source, size, target in zip(words(sources, count).tolist(), words(sizes, count).tolist(), words(targets, count).tolist()):
            whole = size // element_bytes * element_bytes
            given = words(source, size, "u1")
            put(target, numpy.concatenate([given[:whole].reshape(element_bytes, -1).T.reshape(-1), given[whole:]]).tobytes())

    def device_bitunshuffle(self, count, sources, sizes, targets, element_bytes, block_bytes, device, stream):
        self._on(device, stream)
        assert block_bytes % (8 * element_bytes) == 0
        for source, size, target in zip(words(sources, count).tolist(), words(sizes, count).tolist(), words(targets, count).tolist()):
            for begin in range(0, size, block_bytes or max(1, size)):
                given = words(source + begin, min(block_bytes or size, size - begin), "u1")
                eight = len(given) // (8 * element_bytes)
                rest = given[eight * 8 * element_bytes:]
                bits = numpy.unpackbits(given[:len(given) - len(rest)].reshape(8 * element_bytes, eight), axis=1, bitorder="little")
                put(target + begin, numpy.concatenate([numpy.packbits(bits.T, axis=1, bitorder="little").reshape(-1), rest]).tobytes())

    def device_scatter(self, count, source, offsets, sizes, targets, device, stream):
        self._on(device, stream)
        places = words(offsets, count)
        assert (places[1:] >= places[:-1]).all()
        for place, size, target in zip(places.tolist(), words(sizes, count, "u4").tolist(), words(targets, count).tolist()):
            ctypes.memmove(target, source + place, size)


class Array:
    """An array that says it is in a device's memory, and is in the host's."""

    def __init__(self, array, stream=None, read_only=False):
        self.array = array
        self.__cuda_array_interface__ = dict(array.__array_interface__, version=3, stream=stream)
        if read_only:
            self.__cuda_array_interface__["data"] = (self.__cuda_array_interface__["data"][0], True)


def held(array):
    """The bytes of a DeviceArray whose device is this."""
    interface = array.__cuda_array_interface__
    return ctypes.string_at(interface["data"][0], array.nbytes) if array.nbytes else b""
