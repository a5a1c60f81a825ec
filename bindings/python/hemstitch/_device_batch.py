"""Batches on a CUDA device: many blocks, streams or frames to device memory, all in one submission.

Memory is held by address (`_core.DeviceContent`), arrays of addresses and sizes are made by numpy and uploaded together. The host waits once for what it has to
know: sizes and statuses.
"""

from __future__ import annotations

import numpy

from . import _core
from ._errors import Error, Status

#: Places of pieces in device memory, and what stands behind the last one.
_ALIGNMENT, SLACK_BYTES = 16, 64
#: Content that is compressed at once: temporary memory is up to 22 times that.
_STRETCH_BYTES = 256 << 20
_MOST_BLOCK_BYTES = {"gzip": 1 << 20, "bgzf": 65280, "zlib": 1 << 20, "deflate": 1 << 20, "zstd": 4 << 20}
_DEFAULT_LEVELS = {"zstd": 3}  # of the others: 6
_FRAME_HEADER_BYTES = 19
_DEFAULT_BLOCK_BYTES = 256 << 10


def places(sizes):
    """Where pieces of these sizes stand, one behind the other but for their alignment; one place more than there are pieces."""
    rooms = (numpy.asarray(sizes, "u8") + numpy.uint64(_ALIGNMENT - 1)) // numpy.uint64(_ALIGNMENT) * numpy.uint64(_ALIGNMENT)
    return numpy.concatenate([numpy.zeros(1, "u8"), numpy.cumsum(rooms, dtype="u8")])


def failure(status, what):
    """The Error of a status that the device gave."""
    return Error(int(status), f"{what} ({_core.status_text(int(status))})")


def device_of(address):
    return _core.device_of(address)


class Run:
    """A device, and the stream that the work goes to."""

    def __init__(self, device, stream):
        self.device, self.stream = device, stream

    def __getattr__(self, name):
        """The module's device_NAME, here."""
        call = getattr(_core, "device_" + name)
        return lambda *arguments: call(*arguments, self.device, self.stream)

    def memory(self, size):
        return _core.device_memory(int(size), self.device, self.stream)

    def upload(self, pieces):
        """What holds them, and the address of each."""
        sizes = [memoryview(piece).nbytes for piece in pieces]
        at = places(sizes)
        content = self.memory(int(at[-1]) + SLACK_BYTES)
        self.upload_to(pieces, at[:-1].tolist(), content.address)
        return content, numpy.uint64(content.address) + at[:-1]

    def upload_to(self, pieces, places, address):
        """To `address` + each one's place."""
        _core.device_upload(pieces, places, int(address), self.device)

    def download(self, address, size):
        return _core.device_download(int(address), int(size), self.device, self.stream)


class _Results:
    """Sizes and statuses of blocks, on the device."""

    def __init__(self, run, count):
        self._run, self._count = run, count
        self._content = run.memory(max(1, 12 * count))
        self.output_bytes = self._content.address
        self.statuses = self._content.address + 8 * count

    def take(self):
        """(sizes, statuses). Waits for the stream."""
        taken = self._run.download(self._content.address, 12 * self._count)
        return numpy.frombuffer(taken, "u8", self._count), numpy.frombuffer(taken, "i4", self._count, 8 * self._count)


def restore_blocks(run, format, blocks, rooms):
    """Blocks of LZ4 ("lz4"), streams of DEFLATE ("zlib", "gzip", "deflate") or frames of Zstandard ("zstd"), in the host's memory, into rooms of those sizes that stand one
    behind the other: (what holds them, the address of each, sizes, statuses)."""
    rooms = numpy.asarray(rooms, "u8")
    packed, addresses = run.upload(blocks)
    sizes = numpy.array([memoryview(block).nbytes for block in blocks], "u8")
    at = places(rooms)
    content = run.memory(int(at[-1]) + SLACK_BYTES)
    targets = numpy.uint64(content.address) + at[:-1]
    done, statuses = _restored(run, format, addresses, sizes, targets, rooms)
    del packed  # what the stream has still to do with it is before what its memory is used for next
    return content, targets, done, statuses


def _restored(run, format, addresses, sizes, targets, rooms):
    if not len(sizes):
        return numpy.zeros(0, "u8"), numpy.zeros(0, "i4")
    return enqueue(run, format, addresses, sizes, targets, rooms).take()


def enqueue(run, format, addresses, sizes, targets, rooms):
    """Has blocks that are on the device restored to their targets, and waits for nothing: a _Results."""
    _tables, (t_blocks, t_sizes, t_targets, t_rooms) = run.upload([addresses, sizes, targets, rooms])
    results = _Results(run, len(sizes))
    run.blocks_restore(format, len(sizes), int(t_blocks), int(t_sizes), int(sizes.max()), int(t_targets), int(t_rooms), int(rooms.max()),
                       results.output_bytes, results.statuses)
    return results


def stream_sizes(run, format, streams):
    """The sizes of what streams of DEFLATE hold, found on the device: (sizes, statuses). Waits for the stream."""
    _packed, addresses = run.upload(streams)
    sizes = numpy.array([memoryview(stream).nbytes for stream in streams], "u8")
    # DEFLATE makes of a byte 1032 at most.
    rooms = sizes * numpy.uint64(1032) + numpy.uint64(1032)
    _tables, (t_streams, t_sizes, t_rooms) = run.upload([addresses, sizes, rooms])
    results = _Results(run, len(sizes))
    run.blocks_restore(format, len(sizes), int(t_streams), int(t_sizes), int(sizes.max()), 0, int(t_rooms), int(rooms.max()),
                       results.output_bytes, results.statuses)
    return results.take()


def move(run, source, offsets, sizes, targets):
    """Copies sizes[i] bytes from source + offsets[i] to targets[i], as a step of the stream; offsets ascend."""
    if not len(sizes):
        return
    _tables, (t_offsets, t_sizes, t_targets) = run.upload([numpy.ascontiguousarray(offsets, "u8"), numpy.ascontiguousarray(sizes, "u4"),
                                                           numpy.ascontiguousarray(targets, "u8")])
    run.scatter(len(sizes), int(source), int(t_offsets), int(t_sizes), int(t_targets))


def unshuffle(run, element_bytes, sources, sizes, targets):
    """HDF5's shuffle undone, buffer by buffer, as a step of the stream."""
    _tables, (t_sources, t_sizes, t_targets) = run.upload([numpy.ascontiguousarray(one, "u8") for one in (sources, sizes, targets)])
    run.unshuffle(len(sizes), int(t_sources), int(t_sizes), int(t_targets), element_bytes)


def bitunshuffle(run, element_bytes, block_bytes, sources, sizes, targets):
    """The same of bitshuffle, whose buffers are blocks of that size one after the other, or one block each (0)."""
    _tables, (t_sources, t_sizes, t_targets) = run.upload([numpy.ascontiguousarray(one, "u8") for one in (sources, sizes, targets)])
    run.bitunshuffle(len(sizes), int(t_sources), int(t_sizes), int(t_targets), element_bytes, block_bytes)


# ---- Content that is on the device ----


class Packed:
    """What compress() made of one content, and what restoring it there needs: a frame's first bytes, or the sizes of its streams and of
    what is in each."""

    def __init__(self, content, address, size, content_bytes, *, begin=None, format="lz4", stream_bytes=None, part_bytes=None):
        self.content, self.address, self.size, self.content_bytes = content, address, size, content_bytes
        self.begin, self.format, self.stream_bytes, self.part_bytes = begin, format, stream_bytes, part_bytes


def compress_frames(run, spans, level, block_bytes):
    """A frame of LZ4 of each (address, bytes): a Packed, or an Error. All are on their way before the host waits, once."""
    block_bytes = block_bytes or _DEFAULT_BLOCK_BYTES
    # Of each: size, status and the frame's first bytes.
    record = 8 + 4 + 4 + 32
    results = run.memory(max(1, record * len(spans)))
    rooms = []
    for number, (address, size) in enumerate(spans):
        bound = _core.device_frame_bound(size, block_bytes)
        room = run.memory(bound + SLACK_BYTES)
        at = results.address + record * number
        run.frame_compress(address, size, block_bytes, level or 1, room.address, bound, at, at + 8)
        run.copy(room.address, min(bound, _FRAME_HEADER_BYTES), at + 16)
        rooms.append((room, bound))
    taken = run.download(results.address, record * len(spans))
    frames = []
    for number, ((_, content_bytes), (room, bound)) in enumerate(zip(spans, rooms)):
        size = int.from_bytes(taken[record * number:][:8], "little")
        status = int.from_bytes(taken[record * number + 8:][:4], "little")
        begin = taken[record * number + 16:][:_FRAME_HEADER_BYTES]
        if status:
            frames.append(failure(status, "the device did not compress the array"))
            continue
        if bound - size > size // 8:  # what is kept is not to take the room that it might have needed
            exact = run.memory(size + SLACK_BYTES)
            run.copy(room.address, size, exact.address)
            room = exact
        frames.append(Packed(room, room.address, size, content_bytes, begin=begin))
        rooms[number] = None
    return frames


def compress_streams(run, format, spans, level):
    """The same for gzip, bgzf, zlib, deflate and zstd: of gzip members of 1 MiB, of BGZF blocks, of Zstandard's frames of 4 MiB, one behind the
    other."""
    most = _MOST_BLOCK_BYTES[format]
    pieces, first = [], [0]
    for address, size in spans:
        if size > most and format in ("zlib", "deflate"):
            raise Error(Status.INVALID_OPTION,
                        f"a {format} stream of a device's array holds at most {most} bytes, but this one has {size}; gzip, bgzf, lz4 and zstd have no limit")
        pieces += [(address + at, min(most, size - at)) for at in range(0, size, most)] or [(address, 0)]
        first.append(len(pieces))
    addresses = numpy.array([address for address, _ in pieces], "u8")
    sizes = numpy.array([size for _, size in pieces], "u8")
    bound = _core.device_blocks_bound(format, int(sizes.max())) if len(sizes) else 0
    rooms, done, statuses = [], [numpy.zeros(0, "u8")], [numpy.zeros(0, "i4")]
    for begin, end in _stretches(sizes):
        room = run.memory(bound * (end - begin) + SLACK_BYTES)
        outputs = numpy.uint64(room.address) + numpy.arange(end - begin, dtype="u8") * numpy.uint64(bound)
        _tables, (t_blocks, t_sizes, t_outputs, t_rooms) = run.upload(
            [addresses[begin:end], sizes[begin:end], outputs, numpy.full(end - begin, bound, "u8")])
        results = _Results(run, end - begin)
        run.blocks_compress(format, end - begin, int(t_blocks), int(t_sizes), int(sizes[begin:end].max()), int(sizes[begin:end].sum()),
                            level or _DEFAULT_LEVELS.get(format, 6), int(t_outputs), int(t_rooms), results.output_bytes, results.statuses)
        rooms.append((room, begin, end))
        one_done, one_statuses = results.take()
        done.append(one_done)
        statuses.append(one_statuses)
    done, statuses = numpy.concatenate(done), numpy.concatenate(statuses)

    ending = _core.compress(b"", format="bgzf", backend="cpu") if format == "bgzf" else b""
    whole = numpy.array([int(done[a:b].sum()) + len(ending) for a, b in zip(first, first[1:])], "u8")
    at = places(whole)
    content = run.memory(int(at[-1]) + SLACK_BYTES)
    targets = numpy.zeros(len(pieces), "u8")
    for number, (a, b) in enumerate(zip(first, first[1:])):
        targets[a:b] = numpy.uint64(content.address) + at[number] + numpy.concatenate([numpy.zeros(1, "u8"), numpy.cumsum(done[a:b])])[:b - a]
    for room, begin, end in rooms:
        move(run, room.address, numpy.arange(end - begin, dtype="u8") * numpy.uint64(bound), done[begin:end], targets[begin:end])
    if ending:
        kept, (t_ending,) = run.upload([ending])
        for number in range(len(spans)):
            run.copy(int(t_ending), len(ending), content.address + int(at[number] + whole[number]) - len(ending))
        del kept
    results = []
    for number, ((_, size), a, b) in enumerate(zip(spans, first, first[1:])):
        wrong = statuses[a:b][statuses[a:b] != 0]
        if len(wrong):
            results.append(failure(wrong[0], "the device did not compress the array"))
            continue
        results.append(Packed(content, content.address + int(at[number]), int(whole[number]), size, format=format,
                              stream_bytes=done[a:b], part_bytes=sizes[a:b]))
    return results


def _stretches(sizes):
    """(begin, end) of pieces that are compressed together."""
    begin, total = 0, 0
    for number, size in enumerate(sizes.tolist()):
        if number > begin and total + size > _STRETCH_BYTES:
            yield begin, number
            begin, total = number, 0
        total += size
    if len(sizes):
        yield begin, len(sizes)


def restore_packed(run, packed):
    """What each Packed holds: (what holds it, its address), or an Error. All are on their way before the host waits, once for those of one format."""
    restored = [None] * len(packed)
    for i, one in enumerate(packed):
        if one.content_bytes == 0:
            restored[i] = None, 0
    frames = [i for i, one in enumerate(packed) if one.format == "lz4" and one.content_bytes]
    if frames:
        results = run.memory(16 * len(frames))
        rooms = []
        for number, i in enumerate(frames):
            one = packed[i]
            room = run.memory(one.content_bytes + SLACK_BYTES)
            at = results.address + 16 * number
            run.frame_restore(one.address, one.size, one.begin, room.address, one.content_bytes, at, at + 8)
            rooms.append(room)
        taken = run.download(results.address, 16 * len(frames))
        for number, (i, room) in enumerate(zip(frames, rooms)):
            size, status = (int.from_bytes(taken[16 * number + at:][:width], "little") for at, width in ((0, 8), (8, 4)))
            restored[i] = _judged(packed[i], room, room.address, size, status)
    for format in _MOST_BLOCK_BYTES:
        streams = [i for i, one in enumerate(packed) if one.format == format and one.content_bytes]
        if not streams:
            continue
        total = places([packed[i].content_bytes for i in streams])
        content = run.memory(int(total[-1]) + SLACK_BYTES)
        addresses, targets = [], []
        for number, i in enumerate(streams):
            one = packed[i]
            addresses.append(numpy.uint64(one.address) + _begins(one.stream_bytes))
            targets.append(numpy.uint64(content.address) + total[number] + _begins(one.part_bytes))
        parts = numpy.concatenate([packed[i].part_bytes for i in streams])
        done, statuses = _restored(run, format, numpy.concatenate(addresses), numpy.concatenate([packed[i].stream_bytes for i in streams]),
                                   numpy.concatenate(targets), parts)
        at = 0
        for number, i in enumerate(streams):
            count = len(packed[i].part_bytes)
            wrong = statuses[at:at + count][statuses[at:at + count] != 0]
            restored[i] = _judged(packed[i], content, content.address + int(total[number]), int(done[at:at + count].sum()),
                                  wrong[0] if len(wrong) else 0)
            at += count
    return restored


def _begins(sizes):
    return numpy.concatenate([numpy.zeros(1, "u8"), numpy.cumsum(sizes, dtype="u8")])[:-1]


def _judged(one, content, address, size, status):
    if status:
        # Its room is what it was made of.
        if status == Status.OUTPUT_TOO_SMALL:
            return Error(Status.CONTENT_SIZE_MISMATCH, f"the array restores to more than the {one.content_bytes} bytes it was made from")
        return failure(status, "the device did not restore the array")
    if size != one.content_bytes:
        return Error(Status.CONTENT_SIZE_MISMATCH, f"the array restores to {size} bytes, not the {one.content_bytes} it was made from")
    return content, address
