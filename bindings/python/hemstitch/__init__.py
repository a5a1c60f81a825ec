"""Hemstitch: LZ4, gzip, BGZF, zlib, raw DEFLATE and Zstandard on all cores, and on a GPU where there is one.

    packed = hemstitch.compress(data)                   # bytes that `lz4` reads
    data = hemstitch.restore(packed)
    with hemstitch.open("log.gz", "rt") as lines: ...   # any of the formats

docs/python.md explains the rest. Any number of threads may call at once; the GIL is free while they work.
"""

from __future__ import annotations

import copyreg as _copyreg
import os as _os

from ._errors import Error, OutOfMemoryError, RequestError, Status, TruncatedError
from ._core import (SearchedLine, SearchedText, SearchMatch, compress, compress_bound, make_index, restore, restored_size)
from ._core import version as __version__
from . import _core
from ._device import DeviceArray, load, load_many, save
from ._files import BufferedFile, Reader, Writer, open
from ._match import MATCH, Matcher, evaluate
from ._webgpu import name_library as _name_webgpu_library

__all__ = [
    "BufferedFile", "DeviceArray", "Error", "MATCH", "Matcher", "OutOfMemoryError", "Reader", "RequestError", "SearchMatch", "SearchedLine", "SearchedText", "Searcher", "Status", "TruncatedError",
    "Writer", "compress", "compress_bound", "compress_lz4_blocks", "compress_many", "evaluate", "load", "load_many", "make_index", "open", "restore",
    "restore_lz4_blocks", "restore_many", "restore_ranges", "restored_size", "save", "search", "status_text",
    "unavailable_reason",
]

_name_webgpu_library()

# Functions travel between processes by their names, as Python's own do.
_copyreg.pickle(type(compress), lambda function: function.__name__)

Searcher = _core.Searcher
status_text = _core.status_text


def _checked(results, errors):
    if errors == "return":
        return results
    if errors != "raise":
        raise ValueError(f"errors is {errors!r}; it may be 'raise' or 'return'")
    for number, result in enumerate(results):
        if isinstance(result, Error):
            result.add_note(f"of item {number}") if hasattr(result, "add_note") else None
            raise result
    return results


def _any_but_buffers(objs):
    return bool(objs) and not _device._has_buffer(objs[0])


def _refuse_dictionary(dictionary):
    if dictionary is not None:
        raise Error(Status.INVALID_OPTION, "a dictionary is for data in the host's memory, not for that of a device")


def compress_many(objs, *, format="lz4", level=None, backend="auto", threads=0, block_bytes=0,
                  content_checksum=False, dictionary=None, seekable_bytes=0, window_log=0, stream=None):
    """Returns a list of frames, one for each object. All go to the backend together. For arrays on a device: DeviceArrays, made there on `stream`."""
    options = dict(format=format, level=level, backend=backend, threads=threads, block_bytes=block_bytes, content_checksum=content_checksum,
                   seekable_bytes=seekable_bytes, window_log=window_log)
    objs = objs if isinstance(objs, (list, tuple)) else list(objs)
    if _any_but_buffers(objs):
        _refuse_dictionary(dictionary)
        return _checked(_device.compress_many(objs, stream=stream, **options), "raise")
    return _core.compress_many(objs, dictionary=dictionary, **options)


def restore_many(objs, *, format="auto", backend="auto", threads=0, dictionary=None, window_log=0, device=None, stream=None,
                 errors="raise"):
    """Returns a list of contents, one for each object: DeviceArrays for arrays on a device, or if `device` names one. With `errors="return"`,
    an Error takes the place of each content that is damaged."""
    options = dict(format=format, backend=backend, threads=threads, window_log=window_log)
    objs = objs if isinstance(objs, (list, tuple)) else list(objs)
    if objs and (device is not None or _any_but_buffers(objs)):
        _refuse_dictionary(dictionary)
        return _checked(_device.restore_many(objs, device=device, stream=stream, **options), errors)
    return _checked(_core.restore_many(objs, dictionary=dictionary, **options), errors)


def compress_lz4_blocks(objs, *, level=None, acceleration=0, threads=0):
    """Returns LZ4 blocks without a frame, one for each object, made by the processor, like lz4.block.compress(x, store_size=False)."""
    return _checked(_core.compress_lz4_blocks(objs, level=level, acceleration=acceleration, threads=threads), "raise")


def restore_lz4_blocks(objs, sizes, *, backend="auto", threads=0, errors="raise"):
    """Restores blocks without a frame; sizes[i] is the most that block i may hold. `errors` as for restore_many()."""
    return _checked(_core.restore_lz4_blocks(objs, sizes, backend=backend, threads=threads), errors)


def restore_ranges(data, ranges, *, backend="auto", threads=0, errors="raise", index=None, return_used_bytes=False):
    """Returns content[begin:end] for many ranges of LZ4, BGZF or seekable Zstandard data in memory, or of gzip data with an `index` from make_index(). Restores each
    block that they touch once. `errors` as for restore_many(). With `return_used_bytes`, as for restore(), the result is a pair: that list, and where the
    last frame ends; not with an `index`, which does not tell."""
    if return_used_bytes:
        restored, used_bytes = _core.restore_ranges(data, ranges, backend=backend, threads=threads, index=index, return_used_bytes=True)
        return _checked(restored, errors), used_bytes
    return _checked(_core.restore_ranges(data, ranges, backend=backend, threads=threads, index=index), errors)


def search(patterns, paths, **options):
    """Finds in files what grep -F finds. Returns a SearchedText for each path.

    `patterns` is text or bytes, or a list of them. Options are Searcher's: ignore_case, whole_words, whole_lines, invert, most_lines,
    wanted ("lines", "count", "whether"), binary ("told", "text", "no-match"), before, after, matches, decompress, backend, threads.
    """
    if isinstance(paths, (str, bytes, _os.PathLike)):
        paths = [paths]
    return Searcher(patterns, **options).search_files(paths)


def unavailable_reason(backend):
    """Why a backend ("cpu", "reference", "cuda", "webgpu") cannot be used here; None if it can."""
    try:
        compress(b"", backend=backend)
    except Error as error:
        if error.status in (Status.UNKNOWN_BACKEND, Status.DEVICE_UNAVAILABLE):
            return str(error)
        raise
    return None
