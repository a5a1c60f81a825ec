"""Compressed files as Python's own: hemstitch.open()."""

from __future__ import annotations

import builtins
import errno
import io
import mmap
import os
import select
import stat
import threading
import weakref
from typing import TYPE_CHECKING, Any, Literal, Optional, Union, overload

from . import _core
from ._errors import Error, Status
from ._options import COMPRESS_DEFAULTS, RESTORE_DEFAULTS, CompressOptions, Path, RestoreOptions, shows

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

# A path, or a file object that is open in binary mode; of those some have little more than read() or write().
File = Union[Path, Any]

# Compressed bytes that are read at once: few of a file of which only the beginning is wanted, then more.
_FIRST_INPUT_BYTES, _INPUT_BYTES = 256 << 10, 4 << 20
# Content that is compressed before what that gives is written.
_WRITE_BYTES = 16 << 20
# Content that is restored around a place that was sought, since what is read next is mostly near: more of it while reading goes on there. With
# an index of gzip it is begun some 4 MB apart.
_WINDOW_BYTES, _INDEXED_WINDOW_BYTES, _MOST_WINDOW_BYTES = 1 << 20, 4 << 20, 8 << 20
_NO_END = 1 << 63
# Formats of which a file holds one stream and no more.
_SINGLE_STREAMS = ("zlib", "deflate")

# What a child of fork() has to look after.
_open_files = weakref.WeakSet()
_left_behind = []


def _after_fork():
    """In the child, no other thread holds a lock or works for a decoder."""
    for file in list(_open_files):
        file._lock = threading.RLock()
        if isinstance(file, Reader):
            file._aside_lock = threading.RLock()
            for stream in (file._stream, file._aside):
                if stream is not None:
                    stream.leave_behind()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@overload
def open(file: File, mode: Literal["rb", "r"] = "rb", *, index: Optional[Union[Path, Buffer]] = None,
         **options: Unpack[RestoreOptions]) -> BufferedFile: ...
@overload
def open(file: File, mode: Literal["wb", "w", "xb", "x", "ab", "a"], **options: Unpack[CompressOptions]) -> Writer: ...
@overload
def open(file: File, mode: Literal["rt"], *, index: Optional[Union[Path, Buffer]] = None, encoding: Optional[str] = None,
         errors: Optional[str] = None, newline: Optional[str] = None, **options: Unpack[RestoreOptions]) -> io.TextIOWrapper: ...
@overload
def open(file: File, mode: Literal["wt", "xt", "at"], *, encoding: Optional[str] = None, errors: Optional[str] = None,
         newline: Optional[str] = None, **options: Unpack[CompressOptions]) -> io.TextIOWrapper: ...
@overload
def open(file: File, mode: str, **options: Any) -> Union[BufferedFile, Writer, io.TextIOWrapper]: ...
@shows(COMPRESS_DEFAULTS, RESTORE_DEFAULTS, format=None)
def open(file: Any, mode: str = "rb", *, index: Any = None, encoding: Optional[str] = None, errors: Optional[str] = None, newline: Optional[str] = None,
         **options: Any) -> Any:
    """Opens a compressed file: a path, or a file object that is open in binary mode.

    "rb" and "wb" return binary files (a BufferedFile over a Reader; a Writer), "rt" and "wt" text files over them; "xb" refuses a file
    that exists; "ab" adds a frame to the end of one, which zlib and raw DEFLATE do not have room for. A file object stays open.

    format: without it, reading looks at the first bytes, and writing at the suffix of the path (.gz is gzip, .bgz is bgzf, .zz is zlib, .zst is zstd,
    all others are lz4).
    index: for reading gzip, the path or the bytes of a .gzidx, which lets seek() and read_range() begin in the middle.
    encoding, errors, newline: of text files, as for Python's open().

    Other options are those of compress() for writing, and of restore() for reading; one that only the other has is a ValueError.
    """
    if mode.replace("t", "").replace("b", "") not in ("r", "w", "x", "a") or ("t" in mode and "b" in mode):
        raise ValueError(f"mode is {mode!r}; it may be 'rb', 'wb', 'xb', 'ab', 'rt', 'wt', 'xt' or 'at'")
    is_text, reads = "t" in mode, "r" in mode
    if not is_text and not (encoding is errors is newline is None):
        raise ValueError("encoding, errors and newline are only for the text modes 'rt', 'wt', 'xt' and 'at'")
    known, others = (RESTORE_DEFAULTS, COMPRESS_DEFAULTS) if reads else (COMPRESS_DEFAULTS, RESTORE_DEFAULTS)
    for name in options:
        if name not in known and name in others:
            raise ValueError(f"{name} is only for {'writing' if reads else 'reading'}")
    if options.get("format", "") is None:
        del options["format"]
    if reads:
        opened = BufferedFile(Reader(file, index=index, **options))
    elif index is not None:
        raise ValueError("index is only for reading; make_index() makes one from a written file")
    else:
        opened = Writer(file, mode.replace("t", "").replace("b", "") + "b", **{"format": _format_of_path(file), **options})
    return io.TextIOWrapper(opened, encoding, errors, newline) if is_text else opened


def _format_of_path(file):
    if not isinstance(file, (str, bytes, os.PathLike)):
        return "lz4"
    suffix = os.path.splitext(os.fsdecode(file))[1]
    return {**dict(reversed(_core.suffixes())), ".bgz": "bgzf", ".bgzf": "bgzf"}.get(suffix, "lz4")


def _opened(file, mode):
    """The file, and whether we close it."""
    if isinstance(file, (str, bytes, os.PathLike)):
        return builtins.open(file, mode), True
    return file, False


class _Named:
    """What Reader and Writer say of the file: its name, the mode, and the number of its descriptor."""

    def _name(self, file, mode):
        self._name_of_file = os.fspath(file) if self._owned else getattr(self._file, "name", "")
        self._mode = mode

    @property
    def name(self) -> str:
        """The path as it was given; of a file object, its name, or "" if it has none."""
        return self._name_of_file

    @property
    def mode(self) -> str:
        """How it was opened: "rb", "wb", "xb" or "ab"."""
        return self._mode

    def fileno(self) -> int:
        """The descriptor of the compressed file, not of its content."""
        with self._lock:
            self._check()
            if not hasattr(self._file, "fileno"):
                raise io.UnsupportedOperation("the file has no descriptor")
            return self._file.fileno()

    def __repr__(self) -> str:
        return f"<hemstitch.{type(self).__name__} name={self._name_of_file!r} mode={self._mode!r}{' closed' if self.closed else ''}>"

    def _check(self):
        if self.closed:
            raise ValueError("the file is closed")


class BufferedFile(io.BufferedIOBase):
    """What open(.., "rb") returns: `raw`, a Reader, behind a buffer.

    It is no io.BufferedReader, though it does what one does: numpy and others read the descriptor of those, where the compressed bytes are.
    """

    raw: Reader

    if TYPE_CHECKING:
        def peek(self, size: int = 0, /) -> bytes: ...

    def __init__(self, raw: Reader) -> None:
        self.raw = raw
        self._buffer = buffer = io.BufferedReader(raw, buffer_size=1 << 16)
        # The buffer's own, so that a call costs what it costs there.
        names = "read", "read1", "readinto", "readinto1", "peek", "readline", "readlines", "seek", "tell", "readable", "seekable", "fileno"
        self.__dict__.update({name: getattr(buffer, name) for name in names})

    @property
    def name(self) -> str:
        """That of the Reader."""
        return self.raw.name

    @property
    def mode(self) -> str:
        """That of the Reader: "rb"."""
        return self.raw.mode

    @property
    def closed(self) -> bool:
        return self.raw.closed

    def __iter__(self) -> Any:
        return iter(self._buffer)

    def __next__(self) -> bytes:
        return next(self._buffer)

    def close(self) -> None:
        self._buffer.close()

    def __del__(self):
        # Of io's classes this would close the file, which a method of the buffer may still use: hemstitch.open(path).read().
        # The buffer and the Reader close themselves.
        pass

    def __repr__(self) -> str:
        return f"<hemstitch.BufferedFile name={self.name!r} mode={self.mode!r}{' closed' if self.closed else ''}>"


class Writer(_Named, io.BufferedIOBase):
    """Compresses what is written to it, on all threads; close() writes the frame's end.

    flush() writes all that came so far to the file, so that a reader gets it now. A block ends there, so frequent calls make the file larger.

    A raw file that does not block may take less than it is given. The Writer keeps the rest, at most what one write() of 16 MB gives, and
    raises BlockingIOError before it takes more (`characters_written` says how much it took). flush() and close() raise it until all is
    written: call them again once the file takes more.

    Several threads may write: each write() is one piece of the content.
    """

    @shows(COMPRESS_DEFAULTS)
    def __init__(self, file: File, mode: Literal["wb", "xb", "ab"] = "wb", **options: Unpack[CompressOptions]) -> None:
        self._lock = threading.RLock()
        self._file = None
        self._stream = _core.CompressStream(**options)
        self._left = memoryview(b"")  # compressed, and not taken by the file yet
        self._position = 0
        self._file, self._owned = _opened(file, mode)
        self._name(file, mode)
        if self._owned and mode == "ab" and options.get("format") in _SINGLE_STREAMS and self._file.tell():
            self._file.close()
            self._file = None
            raise Error(Status.INVALID_OPTION, f"mode is 'ab', but a file of format {options['format']!r} is one stream, to which nothing can be added")
        _open_files.add(self)

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        with self._lock:
            self._check()
            return self._position

    def write(self, data: Buffer) -> int:
        with self._lock:
            self._check()
            if self._stream is None:
                raise Error(Status.WRONG_STATE, "an earlier call failed, so the file cannot be completed")
            with memoryview(data) as view:
                size = view.nbytes
            taken = 0
            while taken < size:
                if not self._pass_on():
                    raise _would_block(taken)
                self._compress(lambda stream: stream.write(data, taken, _WRITE_BYTES))
                more = min(_WRITE_BYTES, size - taken)
                taken += more
                self._position += more
            self._pass_on()
            return size

    def flush(self) -> None:
        with self._lock:
            if self.closed:
                raise ValueError("the file is closed")
            if self._file is None:
                return
            if self._stream is not None:
                self._compress(lambda stream: stream.flush())
            if not self._pass_on():
                raise _would_block(0)
            if hasattr(self._file, "flush"):
                self._file.flush()

    def close(self) -> None:
        with self._lock:
            if self.closed:
                return
            is_left = False
            try:
                if self._file is not None and self._stream is not None:
                    self._compress(lambda stream: stream.finish())
                    self._stream = None
                is_left = self._file is not None and not self._pass_on()
            finally:
                if not is_left:
                    self._close_file()
            if is_left:
                raise _would_block(0)

    def _close_file(self):
        try:
            file, self._file = self._file, None
            if file is not None and self._owned:
                file.close()
            elif file is not None and hasattr(file, "flush"):
                file.flush()
        finally:
            super().close()

    def _compress(self, call):
        try:
            compressed = call(self._stream)
        except (BufferError, TypeError):  # of an object that cannot be written
            raise
        except BaseException:
            self._stream = None
            raise
        if compressed:
            self._left = memoryview(bytes(self._left) + compressed if self._left else compressed)

    def _pass_on(self):
        """Whether the file took all that is compressed so far."""
        while self._left:
            size = len(self._left)
            try:
                taken = self._file.write(self._left)
            except BlockingIOError as error:  # of a buffer over a file that does not block
                self._left = self._left[getattr(error, "characters_written", 0):]
                return not self._left
            if taken is None:
                # Of a raw file: nothing. Others that say nothing took all.
                if isinstance(self._file, io.RawIOBase):
                    return False
                taken = size
            if not 0 < taken <= size:
                raise OSError(errno.EIO, f"the file's write() returned {taken} for {size} bytes")
            self._left = self._left[taken:]
        return True


def _would_block(taken):
    return BlockingIOError(errno.EAGAIN, "the file takes no more now; nothing is lost, call again when it does", taken)


class _FileInput:
    """The compressed bytes of a file, as they come."""

    def __init__(self, file):
        self._file = file
        self._read = getattr(file, "read1", None) or file.read
        self._blocks = False  # surely
        self._bytes = _FIRST_INPUT_BYTES
        self._ended = False
        self._comes = None  # polls a pipe or a socket
        raw = getattr(file, "raw", file)
        try:
            number = raw.fileno()
            self._blocks = os.get_blocking(number)
            if isinstance(raw, io.RawIOBase) and not stat.S_ISREG(os.fstat(number).st_mode) and hasattr(select, "poll"):
                self._comes = select.poll()
                self._comes.register(number, select.POLLIN)
        except (AttributeError, OSError, ValueError):  # no file of the system's
            pass

    def __call__(self):
        """The next bytes; none at the end; None if a file that does not block has none now. Waits only for the first of them."""
        parts, left = [], self._bytes
        self._bytes = min(2 * self._bytes, _INPUT_BYTES)
        while left > 0 and not self._ended:
            part = self._read(left)
            if part == b"" and not self._blocks and self._read != self._file.read:
                part = self._file.read(1)  # read1() of a buffer says the same of the end and of a file that has no more now
            if part is None:
                return b"".join(parts) or None
            self._ended = not part
            parts.append(part)
            left -= len(part)
            if self._comes is None or not self._comes.poll(0):
                break
        return parts[0] if len(parts) == 1 else b"".join(parts)


class _MemoryInput:
    """Compressed bytes in memory."""

    def __init__(self, data):
        self._data = data
        self._at = 0

    def __call__(self):
        # A copy, so that nothing holds a mapped file that is to be closed.
        part = self._data[self._at:self._at + _INPUT_BYTES]
        self._at += len(part)
        return part


class _Stream:
    """Content from front to end. One thread at a time."""

    def __init__(self, restored, more):
        self._restored = restored
        self._more = more
        self.at = 0
        self.is_broken = False  # by what a signal's handler raised
        self._is_left_behind = False

    def leave_behind(self):
        """In a child of fork(): the decoder of gzip waits for threads that are not there, even when it is destroyed. Others have none."""
        if self._restored.has_threads:
            self._is_left_behind = True
            _left_behind.append(self._restored)

    def readinto(self, room):
        """As io.RawIOBase.readinto(). All that can be restored comes out before more input is waited for."""
        while True:
            size = self._call(self._restored.read_into, room)
            if size or self._restored.ended:
                self.at += size
                return size
            compressed = self._more()
            if compressed is None:
                return None
            self._restored.give(compressed)

    def readall(self) -> Any:
        content = self._call(self._restored.read_all, self._more)
        self.at += len(content)
        return None if not content and not self._restored.ended else content

    def skip_to(self, at):
        """Whether the content reaches so far; None as readinto()."""
        discarded = bytearray(min(at - self.at, 256 << 10))
        with memoryview(discarded) as view:
            while self.at < at:
                size = self.readinto(view[:at - self.at])
                if not size:
                    return None if size is None else False
        return True

    def _call(self, call, argument):
        if self._is_left_behind:
            raise Error(Status.WRONG_STATE, "the file was read before this process was forked, by several threads; open it again here, or read it "
                                            "with threads=1")
        try:
            return call(argument)
        except (Error, OSError):
            raise
        except BaseException:
            self.is_broken = True
            raise


class Reader(_Named, io.RawIOBase):
    """The content of a compressed file. It is read from front to end, and only a piece of it is kept.

    seek() and read_range() restore only the blocks that they need if blocks are independent (LZ4 as this package writes it, BGZF, seekable Zstandard). In other
    files, everything before a place is restored to reach it. `index`, the path or the bytes of a .gzidx (from make_index(), indexed_gzip or
    rapidgzip), says where to begin in any gzip file.

    Several threads may call: each reads or seeks in turn. read_range() does not depend on the position and does not move it, so any number
    of threads may call it beside each other and beside reads.
    """

    @shows(RESTORE_DEFAULTS)
    def __init__(self, file: File, *, index: Optional[Union[Path, Buffer]] = None, **options: Unpack[RestoreOptions]) -> None:
        self._lock = threading.RLock()  # guards all but read_range()
        self._aside_lock = threading.RLock()
        self._file = None
        if isinstance(index, (str, os.PathLike)):
            with builtins.open(index, "rb") as indexed:
                index = indexed.read()
        self._index = index
        # Options are checked before anything is opened.
        self._options = options
        restored = _core.RestoreStream(**self._options)
        self._file, self._owned = _opened(file, "rb")
        self._name(file, "rb")
        self._begin = self._file.tell() if self._can_seek_file() else 0
        self._stream = _Stream(restored, _FileInput(self._file))
        self._at = 0  # of what readinto() gives next
        self._window = memoryview(b"")  # content around a place that was sought, from self._window_at on
        self._window_at = 0
        self._window_bytes = 0
        self._aside = None  # a second stream, for read_range()
        self._whole = None  # the compressed bytes, once something was sought
        self._ranges = None  # False if there are none
        self._size = None
        _open_files.add(self)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._can_seek_file()

    def tell(self) -> int:
        with self._lock:
            self._check()
            return self._at

    def readinto(self, buffer: Any) -> Any:
        with self._lock, memoryview(buffer) as view, view.cast("B") as room:
            self._check()
            if not room:
                return 0
            reached = self._reach_position()
            if not reached:
                return 0 if reached is False else None
            inside = self._at - self._window_at
            if 0 <= inside < len(self._window):
                size = min(len(self._window) - inside, len(room))
                room[:size] = self._window[inside:inside + size]
            else:
                size = self._stream.readinto(room)
            self._at += size or 0
            return size

    def readall(self) -> Any:
        with self._lock:
            self._check()
            if not self._in_window() and self._stream_is_there():
                content = self._stream.readall()
            elif self._at and self._blocks():
                content = self._blocks().read(self._at, _NO_END)
            else:
                reached = self._reach_position()
                content = self._stream.readall() if reached else b"" if reached is False else None
            self._at += len(content or b"")
            return content

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with self._lock:
            self._check()
            if not self.seekable():
                raise io.UnsupportedOperation("the compressed file cannot seek")
            base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at}.get(whence)
            if base is None:
                if whence != io.SEEK_END:
                    raise ValueError(f"whence is {whence}; it may be 0, 1 or 2")
                base = self.size()
            if base + offset < 0:
                raise OSError(errno.EINVAL, "the position is before the beginning")
            self._at = base + offset
            return self._at

    def size(self) -> int:
        """The size of the content. Found without restoring it if blocks state it (LZ4, BGZF)."""
        with self._lock:
            self._check()
            if self._size is None:
                self._size = self._sized()
            return self._size

    def read_range(self, begin: int, end: int) -> bytes:
        """Content[begin:end] as bytes, shorter if the content ends before. Does not depend on the position of the file, and does not move it."""
        with self._lock:
            self._check()
            if not 0 <= begin <= end:
                raise ValueError(f"the range is {begin} to {end}; it has to be 0 <= begin <= end")
            if begin == end:
                return b""
            blocks = self._blocks()
            compressed = self._compressed()
        if blocks:
            return blocks.read(begin, end)
        with self._aside_lock:
            if not self._aside_stream(compressed, begin).skip_to(begin):
                return b""
            pieces, left = [], end - begin
            while left > 0:
                piece = bytearray(min(left, _INPUT_BYTES))
                size = self._aside.readinto(piece)
                if not size:
                    break
                pieces.append(memoryview(piece)[:size])
                left -= size
            return b"".join(pieces)

    def close(self) -> None:
        with self._lock:
            if self.closed:
                return
            try:
                self._window = memoryview(b"")
                self._ranges = False
                if isinstance(self._whole, mmap.mmap):
                    try:
                        self._whole.close()
                    except BufferError:  # another thread reads a range of it; it goes with the last of them
                        pass
                self._whole = None
                if self._file is not None and self._owned:
                    self._file.close()
            finally:
                super().close()

    def _format(self):
        return self._options.get("format", "auto")

    def _can_seek_file(self):
        return hasattr(self._file, "seekable") and self._file.seekable()

    def _in_window(self):
        return self._window_at <= self._at < self._window_at + len(self._window)

    def _stream_is_there(self):
        return self._stream.at == self._at and not (self._stream.is_broken and self.seekable())

    def _reach_position(self):
        """Whether the content reaches the position; then the window or the stream is there. None if the file does not block and has no more."""
        if self._in_window() or self._stream_is_there():
            return True
        if self._size is not None and self._at >= self._size:
            return False
        if self._at and self._blocks():
            return self._fetch_window()
        if self._at < self._stream.at or self._stream.is_broken:
            self._file.seek(self._begin)
            self._stream = _Stream(_core.RestoreStream(**self._options), _FileInput(self._file))
        return self._stream.skip_to(self._at)

    def _fetch_window(self):
        first_bytes = _WINDOW_BYTES if self._index is None else _INDEXED_WINDOW_BYTES
        goes_on = self._window and self._at == self._window_at + len(self._window)
        self._window_bytes = min(2 * self._window_bytes, _MOST_WINDOW_BYTES) if goes_on else first_bytes
        self._window = memoryview(self._blocks().read(self._at, self._at + self._window_bytes))
        self._window_at = self._at
        return len(self._window) > 0

    def _aside_stream(self, compressed, at):
        if self._aside is None or self._aside.is_broken or self._aside.at > at:
            self._aside = _Stream(_core.RestoreStream(**self._options), _MemoryInput(compressed))
        return self._aside

    def _compressed(self):
        """The whole compressed file: mapped if it is a file, otherwise read."""
        if self._whole is None:
            if not self.seekable():
                raise io.UnsupportedOperation("the compressed file cannot seek")
            self._whole = self._mapped()
            if self._whole is None:
                place = self._file.tell()
                self._file.seek(self._begin)
                self._whole = self._file.read()
                self._file.seek(place)
        return self._whole

    def _mapped(self):
        try:
            number = self._file.fileno()
            if self._begin != 0 or os.fstat(number).st_size == 0:
                return None
            return mmap.mmap(number, 0, access=mmap.ACCESS_READ)
        except (AttributeError, OSError, ValueError):  # no file of the system's
            return None

    def _blocks(self):
        """What restores ranges from blocks of their own; False if the file has none."""
        if self._ranges is None:
            self._ranges = False
            options = dict(self._options)
            options.pop("window_log", None)  # blocks have none
            if options.pop("dictionary", None) is None and self.seekable() and (self._format() in ("auto", "lz4", "bgzf", "zstd") or self._index is not None):
                try:
                    self._ranges = _core.RangeReader(self._compressed(), self._index, **options)
                except Error:
                    if self._index is not None:
                        raise
                    # A stream says what is wrong, if anything is.
        return self._ranges

    def _sized(self):
        blocks = self._blocks()
        if blocks:
            return blocks.size
        compressed = self._compressed()
        if self._options.get("dictionary") is None and self._format() in ("auto", "lz4") and compressed[:2] != b"\x1f\x8b":
            return _core.restored_size(compressed)
        with self._aside_lock:
            stream = self._aside_stream(compressed, 0)
            stream.skip_to(_NO_END)
            return stream.at
