"""Compressed files as Python's own: hemstitch.open()."""

from __future__ import annotations

import builtins
import io
import mmap
import os

from . import _core
from ._errors import Error, Status

# Compressed bytes that are read, and content that is restored, at once.
_PIECE_BYTES = 4 << 20
# Content around a place that was sought: what is read next is mostly near. With an index of gzip it is begun some 4 MB apart.
_WINDOW_BYTES, _INDEXED_WINDOW_BYTES = 1 << 20, 4 << 20


def open(file, mode="rb", *, format=None, level=None, backend="auto", threads=0, block_bytes=0,
         content_checksum=False, index=None, encoding=None, errors=None, newline=None):
    """Opens a compressed file: a path, or a file object that is open in binary mode.

    "rb" and "wb" return binary files (io.BufferedReader over a Reader; a Writer), "rt" and "wt" text files over them; "xb" refuses a file
    that exists. `format` may be "lz4", "gzip", "bgzf", "zlib" or "deflate". Without it, reading looks at the first bytes, and writing at the
    suffix of the path (.gz is gzip, .bgz is bgzf, .zz is zlib, all others are lz4). A file object stays open. `index` is for reading gzip: the
    path or the bytes of a .gzidx, which lets seek() and read_range() begin in the middle.
    """
    if mode.replace("t", "").replace("b", "") not in ("r", "w", "x") or ("t" in mode and "b" in mode):
        raise ValueError(f"mode is {mode!r}; it may be 'rb', 'wb', 'xb', 'rt', 'wt' or 'xt'")
    is_text = "t" in mode
    if not is_text and not (encoding is errors is newline is None):
        raise ValueError("encoding, errors and newline are only for the text modes 'rt', 'wt' and 'xt'")
    if "r" in mode:
        opened = io.BufferedReader(Reader(file, format=format or "auto", backend=backend, threads=threads, index=index),
                                   buffer_size=1 << 16)
    elif index is not None:
        raise ValueError("index is only for reading; make_index() makes one from a written file")
    else:
        opened = Writer(file, mode[0] + "b", format=format or _format_of_path(file), level=level, backend=backend,
                        threads=threads, block_bytes=block_bytes, content_checksum=content_checksum)
    return io.TextIOWrapper(opened, encoding, errors, newline) if is_text else opened


def _format_of_path(file):
    if not isinstance(file, (str, bytes, os.PathLike)):
        return "lz4"
    suffix = os.path.splitext(os.fsdecode(file))[1]
    return {".gz": "gzip", ".bgz": "bgzf", ".bgzf": "bgzf", ".zz": "zlib"}.get(suffix, "lz4")


def _opened(file, mode):
    """The file, and whether we close it."""
    if isinstance(file, (str, bytes, os.PathLike)):
        return builtins.open(file, mode), True
    return file, False


class Writer(io.BufferedIOBase):
    """Compresses what is written to it, on all threads; close() writes the frame's end.

    flush() passes on only what is compressed so far, so it does not make blocks smaller.
    """

    def __init__(self, file, mode="wb", **options):
        self._file = None
        stream = _core.CompressStream(**options)
        self._file, self._owned = _opened(file, mode)
        self._stream = stream
        self._position = 0

    def writable(self):
        return True

    def tell(self):
        self._check()
        return self._position

    def write(self, data):
        self._check()
        view = memoryview(data)
        with view:
            size = view.nbytes
            self._pass_on(self._stream.write(data))
        self._position += size
        return size

    def flush(self):
        if self._file is not None and hasattr(self._file, "flush"):
            self._file.flush()

    def close(self):
        if self.closed:
            return
        try:
            if self._file is not None and self._stream is not None:
                stream, self._stream = self._stream, None
                self._pass_on(stream.finish())
        finally:
            try:
                file, self._file = self._file, None
                if file is not None and self._owned:
                    file.close()
                elif file is not None and hasattr(file, "flush"):
                    file.flush()
            finally:
                super().close()

    def _check(self):
        if self.closed:
            raise ValueError("the file is closed")

    def _pass_on(self, compressed):
        view = memoryview(compressed)
        while view:
            written = self._file.write(view)
            # A raw file may take less than it is given; a buffered one says nothing, or all.
            view = view[len(view) if written is None else written:]


class Reader(io.RawIOBase):
    """The content of a compressed file. It is read from front to end, and only a piece of it is kept.

    seek() and read_range() restore only the blocks that they need if blocks are independent (LZ4 as this package writes it, BGZF). In other
    files, everything before a place is restored to reach it. `index`, the path or the bytes of a .gzidx (from make_index(), indexed_gzip or
    rapidgzip), says where to begin in any gzip file.
    """

    def __init__(self, file, *, format="auto", backend="auto", threads=0, index=None):
        self._file = None
        if isinstance(index, (str, os.PathLike)):
            with builtins.open(index, "rb") as indexed:
                index = indexed.read()
        self._index = index
        # Options are checked before anything is opened.
        self._options = dict(format=format, backend=backend, threads=threads)
        self._stream = _core.RestoreStream(**self._options)
        self._file, self._owned = _opened(file, "rb")
        self._begin = self._file.tell() if self._can_seek_file() else 0
        self._ended = False  # of the compressed file
        self._at = 0  # of what readinto() gives next
        self._piece = memoryview(b"")  # content from self._piece_at on
        self._piece_at = 0
        self._whole = None  # the compressed bytes, once something was sought
        self._has_ranges = None
        self._size = None

    def readable(self):
        return True

    def seekable(self):
        return self._can_seek_file()

    def tell(self):
        self._check()
        return self._at

    def readinto(self, buffer):
        self._check()
        with memoryview(buffer) as view, view.cast("B") as room:
            if not room:
                return 0
            part = self._part_at(self._at)
            size = min(len(part), len(room))
            room[:size] = part[:size]
            self._at += size
            return size

    def seek(self, offset, whence=io.SEEK_SET):
        self._check()
        if not self.seekable():
            raise io.UnsupportedOperation("the compressed file cannot seek")
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at}.get(whence)
        if base is None:
            if whence != io.SEEK_END:
                raise ValueError(f"whence is {whence}; it may be 0, 1 or 2")
            base = self.size()
        if base + offset < 0:
            raise OSError(22, "the position is before the beginning")
        self._at = base + offset
        return self._at

    def size(self):
        """The size of the content. Found without restoring it if blocks state it (LZ4, BGZF)."""
        self._check()
        if self._size is None:
            self._size = self._sized()
        return self._size

    def read_range(self, begin, end):
        """Content[begin:end] as bytes, shorter if the content ends before. The position of the file stays the same."""
        self._check()
        if not 0 <= begin <= end:
            raise ValueError(f"the range is {begin} to {end}; it has to be 0 <= begin <= end")
        if begin == end:
            return b""
        if self._ranges():
            return self._restore_range(begin, end)
        pieces = []
        while begin < end:
            part = self._part_at(begin)[: end - begin]
            if not part:
                break
            pieces.append(bytes(part))
            begin += len(part)
        return b"".join(pieces)

    def close(self):
        if self.closed:
            return
        try:
            self._piece = memoryview(b"")
            if isinstance(self._whole, mmap.mmap):
                self._whole.close()
            if self._file is not None and self._owned:
                self._file.close()
        finally:
            super().close()

    def _check(self):
        if self.closed:
            raise ValueError("the file is closed")

    def _can_seek_file(self):
        return hasattr(self._file, "seekable") and self._file.seekable()

    def _part_at(self, at):
        """The available content from `at` on, restored if necessary; empty after the end."""
        if not self._piece_at <= at < self._piece_at + len(self._piece):
            self._fetch(at)
        inside = at - self._piece_at
        return self._piece[inside:] if 0 <= inside <= len(self._piece) else memoryview(b"")

    def _fetch(self, at):
        follows = at == self._piece_at + len(self._piece)
        if not (follows and self._stream is not None):
            if self._ranges():
                self._stream = None  # from here on by ranges
                window = _WINDOW_BYTES if self._index is None else _INDEXED_WINDOW_BYTES
                self._piece, self._piece_at = memoryview(self._restore_range(at, at + window)), at
                return
            if at < self._piece_at or self._stream is None:
                self._rewind()
        while self._piece_at + len(self._piece) <= at and not (self._ended and self._stream is None):
            self._piece_at += len(self._piece)
            self._piece = memoryview(b"")
            self._piece = memoryview(self._next_piece())

    def _next_piece(self):
        """The next content of the stream, in order; empty only at its end."""
        while self._stream is not None:
            compressed = b"" if self._ended else self._file.read(_PIECE_BYTES)
            if compressed is None:  # of a file that does not wait
                continue
            if compressed:
                restored = self._stream.write(compressed)
            else:
                self._ended = True
                stream, self._stream = self._stream, None
                restored = stream.finish()
            if restored:
                return restored
        return b""

    def _rewind(self):
        self._file.seek(self._begin)
        self._stream = _core.RestoreStream(**self._options)
        self._ended = False
        self._piece, self._piece_at = memoryview(b""), 0

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

    def _ranges(self):
        """Whether blocks can be restored one by one."""
        if self._has_ranges is None:
            self._has_ranges = False
            if self.seekable() and (self._options["format"] in ("auto", "lz4", "bgzf") or self._index is not None):
                try:
                    _core.restore_ranges(self._compressed(), [(0, 0)], backend="cpu", index=self._index)
                    self._has_ranges = True
                except Error:
                    if self._index is not None:
                        raise
                    # A stream says what is wrong, if anything is.
        return self._has_ranges

    def _restore_range(self, begin, end):
        restored = _core.restore_ranges(self._compressed(), [(begin, end)], backend=self._options["backend"],
                                        threads=self._options["threads"], index=self._index)[0]
        if isinstance(restored, Error):
            if restored.status == Status.RANGE_OUTSIDE_CONTENT:
                return b""
            raise restored
        return restored

    def _sized(self):
        if self._options["format"] in ("auto", "lz4", "gzip", "bgzf"):
            return _core.restored_size(self._compressed())
        at = self._piece_at
        while part := self._part_at(at):
            at += len(part)
        return at
