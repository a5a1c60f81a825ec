"""Compressing and restoring piece by piece, without files."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any

from . import _core
from ._options import COMPRESS_DEFAULTS, RESTORE_DEFAULTS, CompressOptions, RestoreOptions, shows

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

_decompressors: weakref.WeakSet[Decompressor] = weakref.WeakSet()
_left_behind: list[Any] = []


def _after_fork() -> None:
    """In the child, the decoder of gzip waits for threads that are not there, even when it is destroyed."""
    for one in list(_decompressors):
        if one._stream.has_threads:
            _left_behind.append(one._stream)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Compressor:
    """Compresses a stream into one frame, with the methods that the compressors of Python's bz2, lzma and compression.zstd have.

    Keywords are those of compress(). It keeps a batch of blocks at most. One thread at a time may use it; another one meets an Error.
    """

    FLUSH_BLOCK = 1
    FLUSH_FRAME = 2

    @shows(COMPRESS_DEFAULTS)
    def __init__(self, **options: Unpack[CompressOptions]) -> None:
        self._format = options.get("format", "lz4")
        self._stream = _core.CompressStream(**options)

    def compress(self, data: Buffer) -> bytes:
        """Takes `data`, and returns what is compressed and complete; often nothing, since blocks are gathered."""
        return self._stream.write(data)

    def flush(self, mode: int = FLUSH_FRAME) -> bytes:
        """Returns all that is left. FLUSH_FRAME ends the frame and the object's use, as flush() of bz2 and lzma does. After FLUSH_BLOCK a reader can restore
        all that was given so far, and the stream goes on; a block ends there, so frequent calls make it larger."""
        if mode == self.FLUSH_FRAME:
            return self._stream.finish()
        if mode != self.FLUSH_BLOCK:
            raise ValueError(f"mode is {mode!r}; it may be FLUSH_BLOCK or FLUSH_FRAME")
        return self._stream.flush()

    def finish(self) -> bytes:
        """flush(FLUSH_FRAME)."""
        return self._stream.finish()

    def __repr__(self) -> str:
        return f"<hemstitch.Compressor format={self._format!r}>"


class Decompressor:
    """Restores a stream that comes in pieces, with the methods that the decompressors of Python's bz2, lzma and compression.zstd have.

    Keywords are those of restore(). One object restores all frames that follow each other (those of bz2 and zstd end with the first one), so `eof` may
    become False again when another frame begins. It keeps what it was given and could not use yet, and of the content a batch of blocks at
    most. One thread at a time may use it; another one meets an Error.
    """

    @shows(RESTORE_DEFAULTS)
    def __init__(self, **options: Unpack[RestoreOptions]) -> None:
        self._format = options.get("format", "auto")
        self._stream = _core.PushedStream(**options)
        _decompressors.add(self)

    def decompress(self, data: Buffer, max_length: int = -1) -> bytes:
        """Takes `data`, and returns all content that can be restored by now, or `max_length` bytes of it if that is not negative: call it with
        b"" for more while `needs_input` is False. Raises Error for damaged data, and EOFError once bytes have come that begin no frame."""
        return self._stream.decompress(data, max_length)

    @property
    def eof(self) -> bool:
        """Whether what was given so far is whole: at least one frame, and no frame that has begun and not ended. If it is False where the input ends, that
        was cut off."""
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        """Whether decompress() can give no more without more input."""
        return self._stream.needs_input

    @property
    def unused_data(self) -> bytes:
        """The bytes behind the last frame that begin no frame."""
        return self._stream.unused_data

    def __repr__(self) -> str:
        return f"<hemstitch.Decompressor format={self._format!r} eof={self.eof}>"
