"""fsspec's compressions gzip, lz4 and zstd by Hemstitch: files of any store that fsspec opens, by all cores.

    import hemstitch.fsspec
    hemstitch.fsspec.enable()
    with fsspec.open("s3://bucket/run.csv.gz", "rt", compression="infer") as file: ...

What is written, gzip, lz4 and zstd read, and the other way round. A file that its store can seek in is one here too, with `seek`; others are read from the
beginning to the end.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from fsspec.compression import compr
from fsspec.utils import compressions

from . import _files

_FORMATS = {"gzip": "gzip", "lz4": "lz4", "zstd": "zstd"}
_SUFFIXES = {"gz": "gzip", "lz4": "lz4", "zst": "zstd", "bgz": "gzip"}


def _opened(format, file, mode="rb", **options):
    """What fsspec wants: a file over one that is open. fsspec closes both, ours first."""
    return _files.open(file, mode if "b" in mode else mode + "b", format=format if "r" not in mode else None, **options)


def enable() -> contextlib.AbstractContextManager[Any]:
    """Has fsspec open files of these compressions by Hemstitch from here on, and tell them by their suffixes (.bgz too). As a context manager, until it
    ends; then what was there before is used again."""
    before = dict(compr), dict(compressions)
    compr.update({name: functools.partial(_opened, format) for name, format in _FORMATS.items()})
    compressions.update(_SUFFIXES)
    return _Enabled(before)


class _Enabled(contextlib.AbstractContextManager):
    def __init__(self, before):
        self._before = before

    def __exit__(self, *error):
        for now, before in zip((compr, compressions), self._before):
            now.clear()
            now.update(before)
