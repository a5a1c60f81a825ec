"""Handlers of signals run while a long call works, and what they raise, as Ctrl-C does, ends the call."""

import io
import mmap
import random
import signal

import pytest

import hemstitch

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")

NOISY, BOMB, NOUGHTS = 30_000_000, 2 << 30, 1 << 29  # bytes of content: seconds of work at the slowest level, or restored, or searched


@pytest.fixture(scope="module")
def data():
    return random.Random(1).randbytes(1 << 20) * (NOISY >> 20)


@pytest.fixture(scope="module")
def bomb():
    return hemstitch.compress(bytes(1 << 26), format="gzip") * (BOMB >> 26)


def parts(data, size=100_000):
    view = memoryview(data)  # no copies, during which handlers would run
    return [view[at:at + size] for at in range(0, len(data), size)]


@pytest.fixture(scope="module")
def files(bomb, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "bomb.gz"
    path.write_bytes(bomb)
    return [path, path]


def found_in_zeros(search):
    """Where they are searched for patterns that end with a zero: every byte is looked at."""
    return getattr(hemstitch.Searcher([b"\1\0", b"\2\0"]), search)(bytes(NOUGHTS))


def seek_and_read(file):
    file.seek(BOMB - 1)
    return file.read(1)


CALLS = {
    "compress": lambda data, bomb: hemstitch.compress(data, level=12),
    "compress, gzip": lambda data, bomb: hemstitch.compress(data, level=12, format="gzip"),
    "compress_many": lambda data, bomb: hemstitch.compress_many(parts(data), level=12),
    "compress_many, long ones": lambda data, bomb: hemstitch.compress_many([data, data], level=12, format="gzip"),
    "compress_lz4_blocks": lambda data, bomb: hemstitch.compress_lz4_blocks(parts(data), level=12),
    "write": lambda data, bomb: hemstitch.open(io.BytesIO(), "wb", level=12).write(data),
    "restore": lambda data, bomb: hemstitch.restore(bomb),
    "restore_many": lambda data, bomb: hemstitch.restore_many([bomb, bomb]),
    "make_index": lambda data, bomb: hemstitch.make_index(bomb),
    "read": lambda data, bomb: hemstitch.open(io.BytesIO(bomb)).read(),
    "readinto": lambda data, bomb: hemstitch.Reader(io.BytesIO(bomb)).readinto(mmap.mmap(-1, BOMB)),
    "seek": lambda data, bomb: seek_and_read(hemstitch.open(io.BytesIO(bomb))),
    "size": lambda data, bomb: hemstitch.Reader(io.BytesIO(bomb)).size(),
    "restored_size": lambda data, bomb: hemstitch.restored_size(bomb),
    "search": lambda data, bomb: found_in_zeros("search"),
    "search, compressed": lambda data, bomb: hemstitch.Searcher("word", decompress=True).search(bomb),
    "find": lambda data, bomb: found_in_zeros("find"),
    "candidates": lambda data, bomb: hemstitch.Matcher().candidates(data),
    "evaluate": lambda data, bomb: hemstitch.evaluate(data),
    "find_many": lambda data, bomb: hemstitch.Matcher(finder="hash_pairs").find_many(parts(data, 50_000)),
} | {f"find, {finder}": lambda data, bomb, finder=finder: hemstitch.Matcher(finder=finder).find(data)
     for finder in hemstitch._core.finder_names() if finder != "hash_pairs"}


class Raised(Exception):
    pass


def expect_handled(call):
    # If handlers did not run during the call, there would be one run after it, however many signals came.
    runs = []

    def handle(*_):
        runs.append(1)
        if len(runs) == 3:
            raise Raised

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        with pytest.raises(Raised):
            try:
                call()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", CALLS)
def test_handlers_run_and_end_calls(name, data, bomb):
    expect_handled(lambda: CALLS[name](data, bomb))


@pytest.mark.parametrize("threads", [1, 2])
def test_handlers_end_a_search_of_files(threads, files):
    expect_handled(lambda: hemstitch.search("word", files, decompress=True, threads=threads))


def test_a_file_goes_on_after_a_signal(data, bomb):
    def handle(*_):
        raise Raised

    before = signal.signal(signal.SIGALRM, handle)
    try:
        with hemstitch.Reader(io.BytesIO(bomb[:len(bomb) // 4] + hemstitch.compress(b"end", format="gzip"))) as file:
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            with pytest.raises(Raised):
                file.seek(BOMB // 4)
                file.read(1)
            assert file.read(3) == b"end"
        file = hemstitch.open(io.BytesIO(), "wb", level=12)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(Raised), file:  # not an error of the close() that follows
            file.write(data)
        with pytest.raises(ValueError):
            file.write(b"more")
    finally:
        signal.signal(signal.SIGALRM, before)
