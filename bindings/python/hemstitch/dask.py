"""Large files and many texts on the workers of Dask, of one machine or of a cluster that shares a file system.

    from dask.distributed import Client, LocalCluster
    with LocalCluster(n_workers=4, threads_per_worker=1) as cluster, Client(cluster):
        hemstitch.dask.compress("run.log", "run.log.lz4", part_bytes=256 << 20)
        hemstitch.dask.restore("run.log.lz4", "run.log", part_bytes=256 << 20)
        found = hemstitch.dask.search("error", paths)

Calls run on the current client, or on Dask's threads where there is none. A task that Dask runs again, since its worker died, does the same once more
and leaves nothing double; the result appears under its name when it is complete. Arrays need none of this: Zarr, with
hemstitch.zarr.enable() on each worker, does it (client.run(hemstitch.zarr.enable)).
"""

from __future__ import annotations

import itertools
import mmap
import os
import shutil
import tempfile
import typing
from typing import Any, Iterable, Literal, Optional

import dask

from . import Searcher, _core
from . import compress as _compress
from ._errors import Error, Status
from ._options import Backend, Path
from ._search import Patterns


class FoundLine(typing.NamedTuple):
    """A line of a file, like hemstitch.SearchedLine."""

    number: int
    byte: int
    text: bytes


class Found(typing.NamedTuple):
    """What was found in one file, like hemstitch.SearchedText."""

    path: str
    count: int
    lines: list[FoundLine]
    error: str


def compress(source: Path | Iterable[Path], target: Path, part_bytes: int = 256 << 20, *, format: Literal["lz4", "gzip", "bgzf"] = "lz4",
             level: Optional[int] = None, backend: Backend = "auto", threads: int = 1, block_bytes: int = 0) -> int:
    """Compresses the file `source` into `target`, with a frame or member for each `part_bytes`, and returns the size.

    `source` may be a list of files, which are compressed one after the other. The formats are those whose frames may follow each other: lz4,
    gzip and bgzf.
    """
    if format not in ("lz4", "gzip", "bgzf"):
        raise Error(Status.INVALID_OPTION, f"format is {format!r}; files of many frames may be lz4, gzip or bgzf")
    if part_bytes < 1:
        raise Error(Status.INVALID_OPTION, f"part_bytes is {part_bytes}; it has to be at least 1")
    options = dict(format=format, level=level, backend=backend, threads=threads, block_bytes=block_bytes)
    paths = [os.fspath(path) for path in ([source] if isinstance(source, (str, bytes, os.PathLike)) else source)]
    places = [(path, at, min(part_bytes, size - at))
              for path, size in ((path, os.path.getsize(path)) for path in paths) for at in range(0, size, part_bytes)]
    target = os.path.abspath(os.fspath(target))
    # Beside the target, so that workers see it where they see that.
    folder = tempfile.mkdtemp(prefix=os.path.basename(target) + ".parts-", dir=os.path.dirname(target))
    try:
        names = [os.path.join(folder, str(number)) for number in range(len(places))]
        compress_part = dask.delayed(_compress_part, pure=False)
        sizes = dask.compute(*(compress_part(*place, name, options) for place, name in zip(places, names)))
        if not places:  # an empty content is a frame, too
            names, sizes = [os.path.join(folder, "0")], (_write(os.path.join(folder, "0"), _compress(b"", **options)),)
        begins = list(itertools.accumulate(sizes, initial=0))
        whole = _make(os.path.join(folder, "whole"), begins[-1])
        place_part = dask.delayed(_place_part, pure=False)
        dask.compute(*(place_part(name, whole, begin) for name, begin in zip(names, begins)))
        os.replace(whole, target)
        return begins[-1]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def restore(source: Path, target: Path, part_bytes: int = 256 << 20, *, backend: Backend = "auto", threads: int = 1) -> int:
    """Restores the file `source` into `target`, with a task for each `part_bytes` of content, and returns the size. For formats with
    independent blocks: LZ4, unless blocks are linked, and BGZF."""
    if part_bytes < 1:
        raise Error(Status.INVALID_OPTION, f"part_bytes is {part_bytes}; it has to be at least 1")
    source, target = os.path.abspath(os.fspath(source)), os.path.abspath(os.fspath(target))
    with _Mapped(source) as data:
        _core.restore_ranges(data, [(0, 0)], backend="cpu")  # throws where blocks depend on each other
        size = _core.restored_size(data)
    folder = tempfile.mkdtemp(prefix=os.path.basename(target) + ".parts-", dir=os.path.dirname(target))
    try:
        whole = _make(os.path.join(folder, "whole"), size)
        restore_part = dask.delayed(_restore_part, pure=False)
        dask.compute(*(restore_part(source, whole, at, min(at + part_bytes, size), backend, threads) for at in range(0, size, part_bytes)))
        os.replace(whole, target)
        return size
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def search(patterns: Patterns, paths: Iterable[Path], *, paths_a_task: int = 64, threads: int = 1, **options: Any) -> list[Found]:
    """Finds in files what grep -F finds. Returns a Found for each path, in order. Options are those of hemstitch.search()."""
    paths = [os.fspath(path) for path in paths]
    Searcher(patterns, **options)  # options are checked here, not on a worker
    search_some = dask.delayed(_search_some, pure=False)
    tasks = [search_some(patterns, paths[at:at + paths_a_task], dict(options, threads=threads)) for at in range(0, len(paths), paths_a_task)]
    return list(itertools.chain.from_iterable(dask.compute(*tasks)))


class _Mapped:
    """A file's bytes, for a with statement."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        with open(self._path, "rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size else b""
        return self._bytes

    def __exit__(self, *error):
        if isinstance(self._bytes, mmap.mmap):
            self._bytes.close()


def _compress_part(path, at, size, name, options):
    with open(path, "rb") as file:
        file.seek(at)
        content = file.read(size)
    if len(content) != size:
        raise Error(Status.INPUT_CHANGED, f"{path} has become shorter than {at + size} bytes")
    return _write(name, _compress(content, **options))


def _write(name, content):
    """Writes the whole file under `name` or nothing, however often this runs."""
    number, temporary = tempfile.mkstemp(dir=os.path.dirname(name))
    try:
        with open(number, "wb") as file:
            file.write(content)
        os.replace(temporary, name)
    except BaseException:
        os.unlink(temporary)
        raise
    return len(content)


def _make(path, size):
    with open(path, "wb") as file:
        file.truncate(size)
    return path


def _place_part(name, whole, at):
    # The part stays until all are placed: who runs this again finds it.
    with open(name, "rb") as part, open(whole, "r+b") as file:
        file.seek(at)
        shutil.copyfileobj(part, file, 1 << 24)


def _restore_part(source, whole, begin, end, backend, threads):
    with _Mapped(source) as data:
        [content] = _core.restore_ranges(data, [(begin, end)], backend=backend, threads=threads)
    if isinstance(content, Error):
        raise content
    with open(whole, "r+b") as file:
        file.seek(begin)
        file.write(content)


def _search_some(patterns, paths, options):
    found = Searcher(patterns, **options).search_files(paths)
    return [Found(path, one.count, [FoundLine(line.number, line.byte, line.text) for line in one.lines], one.error)
            for path, one in zip(paths, found)]
