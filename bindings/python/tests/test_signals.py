"""Handlers of signals run while a long call works, and what they raise, as Ctrl-C does, ends the call."""

import io
import random
import signal

import pytest

import hemstitch

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")

NOISY, BOMB = 30_000_000, 2 << 30  # bytes of content: seconds of work at the slowest level, or restored


@pytest.fixture(scope="module")
def data():
    return random.Random(1).randbytes(1 << 20) * (NOISY >> 20)


@pytest.fixture(scope="module")
def bomb():
    return hemstitch.compress(bytes(1 << 26), format="gzip") * (BOMB >> 26)


def parts(data):
    return [data[at:at + 100_000] for at in range(0, len(data), 100_000)]


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
    "readinto": lambda data, bomb: hemstitch.Reader(io.BytesIO(bomb)).readinto(bytearray(BOMB)),
    "seek": lambda data, bomb: seek_and_read(hemstitch.open(io.BytesIO(bomb))),
    "size": lambda data, bomb: hemstitch.Reader(io.BytesIO(bomb)).size(),
}


class Raised(Exception):
    pass


@pytest.mark.parametrize("name", CALLS)
def test_handlers_run_and_end_calls(name, data, bomb):
    # If they did not run during the call, there would be one run after it, however many signals came.
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
                CALLS[name](data, bomb)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_file_goes_on_after_a_signal(data, bomb):
    def handle(*_):
        raise Raised

    before = signal.signal(signal.SIGALRM, handle)
    try:
        with hemstitch.Reader(io.BytesIO(bomb + hemstitch.compress(b"end", format="gzip"))) as file:
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            with pytest.raises(Raised):
                file.seek(BOMB)
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
