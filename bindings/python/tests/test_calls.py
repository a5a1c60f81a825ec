"""compress() and restore(), against lz4, gzip and zlib, both ways."""

import array
import gzip
import io
import mmap
import multiprocessing
import os
import pathlib
import pickle
import random
import sys
import threading
import time
import zlib

import hypothesis
import hypothesis.strategies as st
import lz4.block
import lz4.frame
import numpy
import pytest

import hemstitch

FORMATS = ["lz4", "gzip", "bgzf", "zlib", "deflate"]


def by_peer(format, data):
    return {
        "lz4": lz4.frame.compress,
        "gzip": gzip.compress,
        "bgzf": gzip.compress,
        "zlib": zlib.compress,
        "deflate": lambda data: zlib.compress(data)[2:-4],
    }[format](data)


def restored_by_peer(format, packed):
    return {
        "lz4": lz4.frame.decompress,
        "gzip": gzip.decompress,
        "bgzf": gzip.decompress,
        "zlib": zlib.decompress,
        "deflate": lambda packed: zlib.decompress(packed, -15),
    }[format](packed)


def told(format):
    """What restoring has to be told."""
    return format if format in ("zlib", "deflate") else "auto"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("rest", [b"", b"x", b"some bytes after it", bytes(range(256)) * 400])
def test_what_stands_before_other_bytes(format, rest, text):
    for content in (b"", text[:1000], text):
        packed = hemstitch.compress(content, format=format)
        restored = hemstitch.restore(packed + rest, format=told(format), return_used_bytes=True)
        assert restored == (content, len(packed))
        room = bytearray(len(content))
        assert hemstitch.restore(packed + rest, format=told(format), out=room, return_used_bytes=True) == (len(content), len(packed))
        assert room == content
        if rest:
            with pytest.raises(hemstitch.Error) as caught:
                hemstitch.restore(packed + rest, format=told(format))
            assert (caught.value.status, caught.value.byte_offset) == (hemstitch.Status.TRAILING_GARBAGE, len(packed))


@pytest.mark.parametrize("format", ["lz4", "bgzf"])
def test_ranges_of_what_stands_before_other_bytes(format, text):
    packed = hemstitch.compress(text, format=format)
    ranges = [(5, 100), (len(text) - 7, len(text))]
    wanted = [text[begin:end] for begin, end in ranges]
    assert hemstitch.restore_ranges(packed + b"other", ranges, return_used_bytes=True) == (wanted, len(packed))
    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.restore_ranges(packed + b"other", ranges)
    assert (caught.value.status, caught.value.byte_offset) == (hemstitch.Status.TRAILING_GARBAGE, len(packed))


@pytest.mark.parametrize("format", FORMATS)
def test_peers_read_ours_and_we_theirs(format, shapes):
    for data in shapes:
        packed = hemstitch.compress(data, format=format)
        assert type(packed) is bytes
        assert restored_by_peer(format, packed) == data
        assert hemstitch.restore(packed, format=told(format)) == data
        assert hemstitch.restore(by_peer(format, data), format=told(format)) == data


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("level", [1, 6, 9, 12])
def test_levels(format, level, text):
    packed = hemstitch.compress(text, format=format, level=level, threads=2)
    assert restored_by_peer(format, packed) == text


def test_options_are_checked_and_named(text):
    for options, words in [({"format": "zip"}, "format is 'zip'"), ({"level": 0}, "level is 0"), ({"level": 13}, "level"),
                           ({"backend": "abacus"}, "abacus"), ({"block_bytes": 5}, "block"), ({"format": "auto"}, "auto")]:
        with pytest.raises(hemstitch.Error, match=words) as caught:
            hemstitch.compress(text, **options)
        assert caught.value.status in (hemstitch.Status.INVALID_OPTION, hemstitch.Status.UNKNOWN_BACKEND)
    with pytest.raises(TypeError):
        hemstitch.compress(text, quality=3)


def test_statuses_are_the_librarys():
    for status in hemstitch.Status:
        assert hemstitch.status_text(status) != hemstitch.status_text(999)


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(st.binary(max_size=3000), st.integers(1, 400), st.sampled_from(FORMATS), st.integers(1, 12))
def test_any_bytes(data, repeats, format, level):
    data = data * repeats
    packed = hemstitch.compress(data, format=format, level=level)
    assert restored_by_peer(format, packed) == data
    assert hemstitch.restore(packed, format=told(format)) == data


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(st.sampled_from(["u1", "<i2", ">f4", "<f8", "<c16", "?", "S5"]), st.lists(st.integers(0, 9), min_size=0, max_size=3),
                  st.integers(1, 3), st.sampled_from("CF"))
def test_any_array(dtype, shape, step, order):
    """C-contiguous arrays are taken as their bytes; others are refused with what to do."""
    whole = numpy.zeros(shape, dtype, order=order)
    strided = whole[::step] if shape else whole
    if strided.flags.c_contiguous:
        assert hemstitch.restore(hemstitch.compress(strided)) == strided.tobytes()
    else:
        with pytest.raises(BufferError, match="ascontiguousarray"):
            hemstitch.compress(strided)
        assert hemstitch.restore(hemstitch.compress(numpy.ascontiguousarray(strided))) == strided.tobytes()


def test_kinds_of_buffers(text, tmp_path):
    path = tmp_path / "mapped"
    path.write_bytes(text)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for data in (bytearray(text), memoryview(text), memoryview(text).cast("I") if len(text) % 4 == 0 else memoryview(text),
                     array.array("B", text), numpy.frombuffer(text, "u1"), mapped):
            assert lz4.frame.decompress(hemstitch.compress(data)) == text
    with pytest.raises(BufferError, match="one piece"):
        hemstitch.compress(memoryview(text)[::2])
    for wrong in ("words", 5, None, [1, 2]):
        with pytest.raises(TypeError, match="buffer protocol"):
            hemstitch.compress(wrong)
        with pytest.raises(TypeError, match="buffer protocol"):
            hemstitch.restore(wrong)


def test_a_buffer_is_released(text):
    data = bytearray(text)
    hemstitch.compress(data)
    with pytest.raises(hemstitch.Error):
        hemstitch.restore(data)
    data.append(1)  # BufferError where somebody still holds it


def test_out(text):
    room = bytearray(hemstitch.compress_bound(len(text)))
    size = hemstitch.compress(text, out=room)
    assert lz4.frame.decompress(bytes(room[:size])) == text
    target = numpy.empty(len(text), "u1")
    assert hemstitch.restore(memoryview(room)[:size], out=target) == len(text)
    assert target.tobytes() == text
    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.restore(memoryview(room)[:size], out=target[:-1])
    assert caught.value.status == hemstitch.Status.OUTPUT_TOO_SMALL
    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.compress(text, out=bytearray(100))
    assert caught.value.status == hemstitch.Status.OUTPUT_TOO_SMALL
    with pytest.raises(BufferError, match="writable"):
        hemstitch.restore(memoryview(room)[:size], out=text)
    assert hemstitch.compress(b"", out=room) > 0
    assert hemstitch.restore(hemstitch.compress(b""), out=bytearray()) == 0


def test_out_that_overlaps_is_refused(text):
    packed = hemstitch.compress(text)
    for call, data in ((hemstitch.compress, text), (hemstitch.restore, packed)):
        memory = bytearray(data) + bytearray(len(text))
        before = bytes(memory)
        view = memoryview(memory)
        for out in (memory, view[: len(data)], view[len(data) - 1:]):
            with pytest.raises(hemstitch.Error, match="overlaps") as error:
                call(view[: len(data)], out=out)
            assert error.value.status == hemstitch.Status.INVALID_OPTION
            assert memory == before
    blocks = [bytearray(hemstitch.compress_lz4_blocks([text])[0])]
    with pytest.raises(hemstitch.Error, match="overlaps"):
        hemstitch._core.restore_lz4_blocks_into(blocks, blocks)


def test_a_range_that_fails_is_named(text):
    packed = hemstitch.compress(text)
    size = len(text)
    errors = hemstitch.restore_ranges(packed, [(0, 5), (size + 1, size + 2)], errors="return")
    assert f"range 1, {size + 1}-{size + 2}" in str(errors[1])


@pytest.mark.parametrize("format", FORMATS)
def test_bound_holds(format, shapes):
    for data in shapes:
        assert len(hemstitch.compress(data, format=format)) <= hemstitch.compress_bound(len(data), format)


def test_restored_size(shapes):
    for data in shapes:
        assert hemstitch.restored_size(hemstitch.compress(data)) == len(data)
        assert hemstitch.restored_size(gzip.compress(data)) == len(data)


def test_expansion_far_beyond_the_guess():
    data = bytes(200_000_000)
    assert hemstitch.restore(hemstitch.compress(data, format="gzip")) == data


@pytest.mark.parametrize("format", FORMATS)
def test_damage_raises_with_its_place(format, text):
    packed = hemstitch.compress(text, format=format)
    source = random.Random(22)
    for size in [0, 1, 5, len(packed) // 2, len(packed) - 1]:
        with pytest.raises(hemstitch.Error) as caught:
            hemstitch.restore(packed[:size], format=told(format))
        assert 200 <= caught.value.status < 400 and caught.value.byte_offset is not None
    for _ in range(200):
        damaged = bytearray(packed)
        for _ in range(source.randint(1, 4)):
            damaged[source.randrange(len(damaged))] ^= 1 << source.randrange(8)
        try:
            restored = hemstitch.restore(damaged, format=told(format))
            # Raw DEFLATE has no checksum, and gzip's header has bytes that say nothing.
            assert format == "deflate" or restored == text
        except hemstitch.Error as error:
            assert 200 <= error.status < 400
    for _ in range(200):
        with pytest.raises(hemstitch.Error):
            hemstitch.restore(source.randbytes(source.randint(20, 300)), format="lz4")


def test_errors_travel_between_processes(text):
    with pytest.raises(hemstitch.Error) as caught:
        hemstitch.restore(hemstitch.compress(text)[:-100])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.status, again.frame, again.block, again.byte_offset) == (
        str(caught.value), caught.value.status, caught.value.frame, caught.value.block, caught.value.byte_offset)


def test_functions_travel_between_processes():
    for function in (hemstitch.compress, hemstitch.restore, hemstitch.compress_many):
        assert pickle.loads(pickle.dumps(function)) is function


def test_progress(text):
    data = text * 8
    calls = []
    packed = hemstitch.compress(data, progress=lambda *bytes: calls.append(bytes))
    assert calls == sorted(calls) and calls[-1][0] == len(data) and len(calls) > 1
    calls.clear()
    hemstitch.restore(packed, progress=lambda *bytes: calls.append(bytes))
    assert calls == sorted(calls) and calls[-1][1] == len(data)

    class Stop(Exception):
        pass

    def stop(input_bytes, output_bytes):
        raise Stop

    for call in (lambda: hemstitch.compress(data, progress=stop), lambda: hemstitch.restore(packed, progress=stop)):
        with pytest.raises(Stop):
            call()


def test_the_gil_is_free(text):
    data = text * 20
    done = threading.Event()
    counts = []

    def count():
        number = 0
        while not done.is_set():
            number += 1
            if number % 100 == 0:
                time.sleep(0)
        counts.append(number)

    counter = threading.Thread(target=count)
    counter.start()
    hemstitch.compress(data, level=9)
    done.set()
    counter.join()
    # With the GIL held it would count for one switch interval at most, before and after.
    assert counts[0] > 2000


def test_sixteen_threads_at_once(text):
    wrong = []

    def work(number):
        source = random.Random(number)
        for _ in range(12):
            begin = source.randrange(len(text) // 2)
            data = text[begin:begin + source.randrange(1, 400_000)]
            format = source.choice(FORMATS)
            if hemstitch.restore(hemstitch.compress(data, format=format), format=told(format)) != data:
                wrong.append(number)
            if hemstitch.restore_many(hemstitch.compress_many([data[:500], data[:70_000]])) != [data[:500], data[:70_000]]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=[number]) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_inputs_that_change_meanwhile(text):
    """Wrong bytes at worst, never wrong memory."""
    data = bytearray(text)
    packed = bytearray(hemstitch.compress(text))
    pages = [memoryview(data)[at:at + 4096] for at in range(0, len(data), 4096)]
    done = threading.Event()

    def change():
        source = random.Random(23)
        while not done.is_set():
            for target in (data, packed):
                target[source.randrange(len(target))] = source.randrange(256)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for turn in range(15):
            hemstitch.compress(data, format=FORMATS[turn % 5], level=1 + turn % 12)
            hemstitch.compress_lz4_blocks(pages)
            hemstitch.compress_many(pages, format=FORMATS[turn % 5])
            try:
                hemstitch.restore(packed)
            except hemstitch.Error:
                pass
    finally:
        done.set()
        changer.join()


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc here")
def test_ten_thousand_calls_leak_nothing(text):
    data = text[:20_000]
    packed = hemstitch.compress(data)

    def calls(count):
        for _ in range(count):
            hemstitch.restore(hemstitch.compress(data))
            hemstitch.restore_many(hemstitch.compress_many([data, data]))
            try:
                hemstitch.restore(packed[:5000])
            except hemstitch.Error:
                pass

    calls(500)
    before = resident_bytes()
    calls(3400)
    # One buffer a call would be 68 MB and more.
    assert resident_bytes() - before < 16 << 20
    assert sys.getrefcount(packed) <= 3


def _in_child(data, queue):
    try:
        packed = hemstitch.compress(data * 20)
        assert hemstitch.restore(packed) == data * 20
        pages = [data[at:at + 4096] for at in range(0, len(data), 4096)]
        assert hemstitch.restore_many(hemstitch.compress_many(pages)) == pages
        assert hemstitch.restore_lz4_blocks(hemstitch.compress_lz4_blocks(pages), [4096] * len(pages)) == pages
        assert hemstitch.restore(hemstitch.compress(data, format="gzip", threads=4), threads=4) == data
        assert hemstitch.restore_ranges(packed, [(5, 10), (100, 300_000)])[0] == (data * 20)[5:10]
        said = []
        for backend in ("cuda", "webgpu"):
            try:
                hemstitch.compress(data, backend=backend)
            except hemstitch.Error as error:
                said.append((int(error.status), str(error)))
        queue.put(said)
    except BaseException as error:
        queue.put(repr(error))


def test_fork_after_use(text):
    hemstitch.compress(text * 20)
    hemstitch.compress_many([text[:5000]] * 100)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_in_child, args=[text, queue]) for _ in range(4)]
    for child in children:
        child.start()
    results = [queue.get(timeout=600) for _ in children]
    for child in children:
        child.join(600)
        assert child.exitcode == 0
    for said in results:
        assert isinstance(said, list), said
        assert len(said) == 2 and all(status == 500 and "forked" in words for status, words in said)


@pytest.mark.parametrize("size", [0, 1, 4096, 300_000])
def test_room_is_what_a_frame_says_or_grows(size):
    content = bytes(size // 2) + os.urandom(size - size // 2)
    for said in (True, False):
        frame = lz4.frame.compress(content, store_size=said)
        assert hemstitch.restore(frame) == content
        assert hemstitch.restore(frame + frame + hemstitch.compress(bytes(10 * size))) == content + content + bytes(10 * size)


def test_objects_are_refused():
    """Their bytes are addresses."""
    structure = numpy.zeros(3, [("O number", "i4"), ("name", "O")])
    for objects in (numpy.array([1, "a", None], object), memoryview(numpy.array(["a"], object)), structure):
        for call in (hemstitch.compress, hemstitch.restore, lambda one: hemstitch.compress_many([one]), lambda one: hemstitch.open(io.BytesIO(), "wb").write(one)):
            with pytest.raises(TypeError, match="references to Python's objects"):
                call(objects)
    for values in (numpy.zeros(3, [("O number", "i4"), ("other", "f8")]), numpy.arange(5).astype("M8[s]"), numpy.array(["a", "bc"]), numpy.zeros(4, ">f4")):
        assert hemstitch.restore(hemstitch.compress(values)) == values.tobytes()


def test_errors_are_what_pythons_modules_raise(text):
    packed = hemstitch.compress(text, format="gzip")

    def raised(call):
        with pytest.raises(hemstitch.Error) as caught:
            call()
        return caught.value

    cut = raised(lambda: hemstitch.restore(packed[:-9]))
    assert isinstance(cut, hemstitch.TruncatedError) and isinstance(cut, EOFError) and cut.status == hemstitch.Status.TRUNCATED
    wrong = raised(lambda: hemstitch.compress(text, level=99))
    assert isinstance(wrong, hemstitch.RequestError) and isinstance(wrong, ValueError)
    damaged = raised(lambda: hemstitch.restore(packed[:-8] + bytes(8)))
    assert type(damaged) is hemstitch.Error and isinstance(damaged, OSError) and damaged.errno is None
    room = hemstitch.Error(hemstitch.Status.MEMORY_LIMIT, "no room", 1, 2, 3)
    assert isinstance(room, hemstitch.OutOfMemoryError) and isinstance(room, MemoryError)
    for error in (cut, wrong, damaged, room):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and again.args == error.args == (str(error),)
        assert (again.status, again.frame, again.block, again.byte_offset) == (error.status, error.frame, error.block, error.byte_offset)
        assert type(error.of("name")) is type(error) and str(error.of("name")) == f"name: {error}"
        assert error.status.name in repr(error)


def test_options_are_those_of_the_library(text):
    """Each is told by the bytes that it makes."""
    def info(**options):
        packed = hemstitch.compress(text, **options)
        assert hemstitch.restore(packed) == text == lz4.frame.decompress(packed)
        return lz4.frame.get_frame_info(packed), packed

    assert info()[0]["block_linked"] is False and info()[0]["block_checksum"] and not info()[0]["content_checksum"]
    assert info(linked_blocks=True)[0]["block_linked"] and not info(block_checksums=False)[0]["block_checksum"]
    assert info(content_checksum=True)[0]["content_checksum"]
    assert len(info(acceleration=20)[1]) > len(info(level=1)[1]) > len(info(level=9)[1])
    assert info(verify=True)[1] == info()[1]
    with io.BytesIO(hemstitch.compress(text, format="gzip", stored_name="log für heute", stored_time=1_000_000_000)) as packed:
        with gzip.GzipFile(fileobj=packed) as file:
            assert file.read(10) == text[:10] and file.mtime == 1_000_000_000
        assert "log für heute".encode() + b"\0" in packed.getvalue()[:40]
    assert hemstitch.compress(text, format="gzip", stored_name=b"\xff", stored_time=0)[10:12] == b"\xff\0"
    assert hemstitch.compress(text, format="gzip", stored_name=None) == hemstitch.compress(text, format="gzip")
    with pytest.raises(hemstitch.OutOfMemoryError, match="memory limit"):
        hemstitch.compress(text, memory_limit_bytes=1000)
    with pytest.raises(hemstitch.OutOfMemoryError, match="memory limit"):
        hemstitch.restore(hemstitch.compress(text), memory_limit_bytes=1000)
    damaged = bytearray(hemstitch.compress(b"some words" * 100, content_checksum=True))
    damaged[-1] ^= 1
    with pytest.raises(hemstitch.Error):
        hemstitch.restore(damaged)
    assert hemstitch.restore(damaged, verify_checksums=False) == b"some words" * 100 == hemstitch.restore_many([damaged], verify_checksums=False)[0]
    with hemstitch.open(io.BytesIO(damaged), verify_checksums=False) as file:
        assert file.read() == b"some words" * 100
    packed = hemstitch.compress(text, format="zlib", dictionary=text[:1000])
    assert hemstitch.restore(packed, format="zlib", dictionary=text[:1000]) == text
    with pytest.raises(hemstitch.RequestError):
        hemstitch.restore(packed, format="zlib", dictionary=text[1:1000])
    with io.BytesIO() as target:
        with hemstitch.open(target, "wb", linked_blocks=True, content_checksum=True) as file:
            file.write(text)
        assert lz4.frame.get_frame_info(target.getvalue())["block_linked"]
    assert lz4.frame.get_frame_info(hemstitch.compress_many([text], linked_blocks=True)[0])["block_linked"]


@pytest.mark.parametrize("call, said", [
    (lambda: hemstitch.compress(b"", threads=-1), "ValueError threads is -1; it may be 0 to 4294967295"),
    (lambda: hemstitch.compress(b"", threads=2**70), "ValueError threads is 1180591620717411303424; it may be 0 to 4294967295"),
    (lambda: hemstitch.compress("text"), "TypeError expected an object with the buffer protocol (bytes, memoryview, a numpy array), DLPack or "
     "__cuda_array_interface__, not str; x.encode() gives the bytes of text, and hemstitch.open() opens a path"),
    (lambda: hemstitch.restore(io.BytesIO(b"")), "TypeError expected an object with the buffer protocol (bytes, memoryview, a numpy array), DLPack or "
     "__cuda_array_interface__, not BytesIO; hemstitch.open() opens a path or a file object"),
    (lambda: hemstitch.restore(pathlib.Path("a.gz")), "TypeError expected an object with the buffer protocol (bytes, memoryview, a numpy array), DLPack or "
     "__cuda_array_interface__, not PosixPath; hemstitch.open() opens a path or a file object"),
    (lambda: hemstitch.compress(b"", level="9"), "TypeError level has to be a whole number, not str"),
    (lambda: hemstitch.compress(b"", level=1.5), "TypeError level has to be a whole number, not float"),
    (lambda: hemstitch.compress(b"", format=3), "TypeError format has to be a str, not int"),
    (lambda: hemstitch.compress(b"", linked_blocks=1), "TypeError linked_blocks has to be True or False, not int"),
    (lambda: hemstitch.compress(b"", dictionary="text"), "TypeError dictionary has to be an object with the buffer protocol, not str"),
    (lambda: hemstitch.compress(b"", stored_name=3, format="gzip"), "TypeError stored_name has to be a str or bytes, not int"),
    (lambda: hemstitch.compress(b"", levle=3), "TypeError unexpected keyword argument 'levle'"),
    (lambda: hemstitch.compress(b"", index=b""), "TypeError unexpected keyword argument 'index'"),
    (lambda: hemstitch.restore(b"", format=b"lz4"), "TypeError format has to be a str, not bytes"),
    (lambda: hemstitch.restore(b"", return_used_bytes=1), "TypeError return_used_bytes has to be True or False, not int"),
    (lambda: hemstitch.restore(b"", max_bytes="1"), "TypeError max_bytes has to be a whole number, not str"),
    (lambda: hemstitch.compress_many([b""], level="9"), "TypeError level has to be a whole number, not str"),
    (lambda: hemstitch.restore_many([b""], threads=None), "TypeError threads has to be a whole number, not NoneType"),
    (lambda: hemstitch.restore_ranges(b"", [(0, 1), (2, "3")]), "TypeError ranges[1][1] has to be a whole number, not str"),
    (lambda: hemstitch.restore_ranges(b"", [(0, 1), 3]), "TypeError ranges[1] has to be a pair (begin, end)"),
    (lambda: hemstitch.restore_ranges(b"", [(-1, 1)]), "ValueError ranges[0][0] is -1; it may be 0 to 9223372036854775807"),
    (lambda: hemstitch.restore_lz4_blocks([b""], [-1]), "ValueError sizes[0] is -1; it may be 0 to 9223372036854775807"),
    (lambda: hemstitch.compress_lz4_blocks([b""], level="9"), "TypeError level has to be a whole number, not str"),
    (lambda: hemstitch.compress_bound(-1), "ValueError size is -1; it may be 0 to 9223372036854775807"),
    (lambda: hemstitch.make_index(b"", threads="2"), "TypeError threads has to be a whole number, not str"),
    (lambda: hemstitch.Compressor(threads="2"), "TypeError threads has to be a whole number, not str"),
    (lambda: hemstitch.Decompressor(level=3), "TypeError unexpected keyword argument 'level'"),
    (lambda: hemstitch.Decompressor().decompress(b"", "3"), "TypeError max_length has to be a whole number, not str"),
    (lambda: hemstitch.open(io.BytesIO(), "wb", level="9"), "TypeError level has to be a whole number, not str"),
    (lambda: hemstitch.open(io.BytesIO(), "rb", level=9), "ValueError level is only for writing"),
    (lambda: hemstitch.open(io.BytesIO(), "wb", verify_checksums=True), "ValueError verify_checksums is only for reading"),
    (lambda: hemstitch.open(io.BytesIO(), "rb", levle=9), "TypeError unexpected keyword argument 'levle'"),
    (lambda: hemstitch.load("missing", threads="2"), "TypeError threads has to be a whole number, not str"),
    (lambda: hemstitch.load("missing", verify_checksums=2), "TypeError verify_checksums has to be True or False, not int"),
    (lambda: hemstitch.save(b"", "missing/file", threads=-1), "ValueError threads is -1; it may be 0 to 4294967295"),
    (lambda: hemstitch._core.restore_chunks([], [], "bare", threads="2"), "TypeError threads has to be a whole number, not str"),
    (lambda: hemstitch.Searcher("x", before=-1), "ValueError before is -1; it may be 0 to 9223372036854775807"),
    (lambda: hemstitch.search("x", [], ignore_cas=True), "TypeError unexpected keyword argument 'ignore_cas'"),
    (lambda: hemstitch.Matcher(min_match_len="4"), "TypeError min_match_len has to be a whole number, not str"),
    (lambda: hemstitch.Matcher(finder=4), "TypeError finder has to be a str, not int"),
])
def test_errors_name_the_keyword(call, said):
    kind, message = said.split(" ", 1)
    with pytest.raises({"TypeError": TypeError, "ValueError": ValueError}[kind]) as caught:
        call()
    assert str(caught.value).startswith(message) and "argument types are supported" not in str(caught.value)
