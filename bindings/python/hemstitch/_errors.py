"""The exceptions of all calls: a status with a stable number, and the place in the data."""

from __future__ import annotations

import enum
from typing import Any, Optional


class Status(enum.IntEnum):
    """The numbers of hemstitch.h. The hundreds name the family."""

    OK = 0
    INVALID_OPTION = 100
    UNKNOWN_BACKEND = 101
    DICTIONARY_NEEDED = 102
    DICTIONARY_MISMATCH = 103
    RANGE_OUTSIDE_CONTENT = 104
    WRONG_STATE = 105
    UNKNOWN_FORMAT = 200
    FOREIGN_FORMAT = 201
    UNSUPPORTED_VERSION = 202
    UNSUPPORTED_FEATURE = 203
    TRUNCATED = 300
    CORRUPT_HEADER = 301
    CORRUPT_BLOCK = 302
    HEADER_CHECKSUM_MISMATCH = 303
    BLOCK_CHECKSUM_MISMATCH = 304
    CONTENT_CHECKSUM_MISMATCH = 305
    CONTENT_SIZE_MISMATCH = 306
    TRAILING_GARBAGE = 307
    OUTPUT_TOO_SMALL = 400
    OUT_OF_MEMORY = 401
    MEMORY_LIMIT = 402
    DEVICE_UNAVAILABLE = 500
    DEVICE_LOST = 501
    DEVICE_OUT_OF_MEMORY = 502
    DEVICE_FAULT = 503
    INTERNAL = 600
    READ_FAILED = 700
    WRITE_FAILED = 701
    INPUT_CHANGED = 702
    CANCELLED = 703


class Error(OSError):
    """`status` says what is wrong; `frame` and `block` (from 1) and `byte_offset` (from 0) say where in the data, or are None.
    `content` is what restore_many() restored before the other bytes at `byte_offset`, where the status is TRAILING_GARBAGE; else None.

    It is an OSError, as gzip.BadGzipFile is, and its kinds are also what Python's own modules raise for the same reason: RequestError a ValueError,
    TruncatedError an EOFError, OutOfMemoryError a MemoryError."""

    __module__ = "hemstitch"

    def __new__(cls, status: int, message: str, frame: Optional[int] = None, block: Optional[int] = None, byte_offset: Optional[int] = None) -> Any:
        return super().__new__(_kind_of(status) if cls is Error else cls, message)

    def __init__(self, status: int, message: str, frame: Optional[int] = None, block: Optional[int] = None, byte_offset: Optional[int] = None) -> None:
        super().__init__(message)
        self.status = Status(status)
        self.frame = frame
        self.block = block
        self.byte_offset = byte_offset
        self.content: Optional[bytes] = None

    def __str__(self) -> str:
        return str(self.args[0])

    def __repr__(self) -> str:
        return f"<hemstitch.{type(self).__name__} {self.status.name}: {self.args[0]}>"

    def of(self, name: str) -> Error:
        """The same, of a part that has a name: a chunk of an array."""
        named = Error(self.status, f"{name}: {self.args[0]}", self.frame, self.block, self.byte_offset)
        named.content = self.content
        return named

    def __reduce__(self) -> Any:
        return Error, (int(self.status), self.args[0], self.frame, self.block, self.byte_offset), {"content": self.content}


class RequestError(Error, ValueError):
    """The call itself is wrong: an option, a backend's name, a dictionary, a range, or the moment (statuses 100 to 199)."""

    __module__ = "hemstitch"


class TruncatedError(Error, EOFError):
    """The compressed data ends too early (TRUNCATED)."""

    __module__ = "hemstitch"


class OutOfMemoryError(Error, MemoryError):
    """There is no memory for the work, or it is more than a limit allows (OUT_OF_MEMORY, MEMORY_LIMIT, DEVICE_OUT_OF_MEMORY)."""

    __module__ = "hemstitch"


def _kind_of(status: int) -> type[Error]:
    if 100 <= status < 200:
        return RequestError
    if status == Status.TRUNCATED:
        return TruncatedError
    if status in (Status.OUT_OF_MEMORY, Status.MEMORY_LIMIT, Status.DEVICE_OUT_OF_MEMORY):
        return OutOfMemoryError
    return Error
