"""Hemstitch: LZ4, gzip, BGZF, zlib, raw DEFLATE and Zstandard on all cores, and on a GPU where there is one.

    packed = hemstitch.compress(data)                   # bytes that `lz4` reads
    data = hemstitch.restore(packed)
    with hemstitch.open("log.gz", "rt") as lines: ...   # any of the formats

docs/python.md explains the rest. Any number of threads may call at once; the GIL is free while they work.
"""

from __future__ import annotations

import copyreg as _copyreg
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ._errors import Error, OutOfMemoryError, RequestError, Status, TruncatedError
from ._core import version as __version__
from ._calls import (compress, compress_bound, compress_lz4_blocks, compress_many, make_index, restore, restore_lz4_blocks, restore_many, restore_ranges,
                     restored_size, status_text, unavailable_reason)
from . import _core
from ._device import DeviceArray, load, load_many, save
from ._files import BufferedFile, Reader, Writer, open
from ._match import MATCH, Matcher, evaluate
from ._pages import PageStore
from ._search import SearchedLine, SearchedText, Searcher, SearchMatch, search
from ._streams import Compressor, Decompressor
from ._webgpu import name_library as _name_webgpu_library

__all__ = [
    "BufferedFile", "Compressor", "Decompressor", "DeviceArray", "Error", "MATCH", "Matcher", "OutOfMemoryError", "PageStore", "Reader", "RequestError", "SearchMatch",
    "SearchedLine", "SearchedText", "Searcher", "Status", "TruncatedError",
    "Writer", "compress", "compress_bound", "compress_lz4_blocks", "compress_many", "evaluate", "load", "load_many", "make_index", "open", "restore",
    "restore_lz4_blocks", "restore_many", "restore_ranges", "restored_size", "save", "search", "status_text",
    "unavailable_reason",
]

# What other packages call these, and modules that nobody imported yet.
_OTHER_NAMES = {"decompress": "restore", "GzipFile": "open", "LZ4FrameFile": "open", "ZstdFile": "open", "ZstdCompressor": "Compressor",
                "ZstdDecompressor": "Decompressor"}
_MODULES = ("dask", "fsspec", "hdf5", "tensors", "zarr")

if not _TYPE_CHECKING:  # which would take every name then

    def __getattr__(name):
        advice = ""
        if name in _OTHER_NAMES:
            advice = f"; hemstitch.{_OTHER_NAMES[name]} stands for it here"
        elif name in _MODULES:
            advice = f" until it is imported: import hemstitch.{name}"
        raise AttributeError(f"module 'hemstitch' has no attribute '{name}'{advice}", name=name, obj=_sys.modules[__name__])


_name_webgpu_library()

# Functions of _core travel between processes by their names, as Python's own do.
_copyreg.pickle(type(_core.compress), lambda function: function.__name__)
