"""A dict of arrays (weights, a cache, a checkpoint) in a folder that any reader of Zarr 3 opens: a group with an array for each tensor.

    import hemstitch.tensors
    hemstitch.tensors.save({"embed.weight": weight, "step": numpy.int64(3)}, "model.zarr")
    weights = hemstitch.tensors.load("model.zarr")                       # numpy arrays
    weights = hemstitch.tensors.load("model.zarr", device="cuda")        # DeviceArrays: for torch.as_tensor(), cupy.asarray(), DLPack

Chunks have up to 4 MB, their bytes are sorted by their place in the number (Blosc's shuffle), and compressed by Zstandard: exponents of weights are much
alike, and their lowest bytes are noise.

Types that numpy lacks (bfloat16, the 8-bit floats) are stored as unsigned integers of their width, with their name as the attribute `dtype`. They come back
as these integers; types() says what they are, and `.view()` makes them of it, in torch, JAX or ml_dtypes, without a copy.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import itertools
import math
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Iterable, Literal, Mapping, Optional, overload

import numpy
import zarr

from . import _device
from . import zarr as _zarr
from ._errors import Error, Status

#: Content of a chunk, at most, unless one row along the last axes has more.
CHUNK_BYTES = 4 << 20
#: Of a tensor that is saved, what is on its way at once, twice: one piece is fetched from a device while the one before it is compressed.
STAGING_BYTES = 64 << 20
# Bytes of the types that numpy lacks.
_WIDTHS = {"bfloat16": 2, "float8_e3m4": 1, "float8_e4m3": 1, "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e4m3b11fnuz": 1, "float8_e5m2": 1,
           "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1}


def save(tensors: Mapping[str, Any], path: str | os.PathLike[str], *, types: Optional[Mapping[str, str]] = None, clevel: int = 1,
         overwrite: bool = False, resume: bool = False) -> None:
    """Writes the arrays of a dict to a new folder `path`. They are numpy's or what numpy.asarray() takes, or in a device's memory (CuPy, PyTorch, a
    DeviceArray), from where they are brought in pieces of STAGING_BYTES. A "/" in a name makes groups. `types`: names of types that numpy lacks, for tensors
    that are given as integers: {"embed.weight": "bfloat16"}; arrays of ml_dtypes say it themselves. `clevel`: Blosc's, 1 to 9.

    The folder is there when all is written, or not at all. One that exists is replaced only with `overwrite`; then there is a moment without any. With
    `resume` what an interrupted call has written stays beside it, as .NAME.unfinished, and the next such call goes on: what stands there is read, and kept
    where it is what the tensors hold now."""
    path = Path(path)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; give overwrite=True to replace it")
    types = dict(types or {})
    _check_names(tensors, types)
    with _unfinished(path) if resume else _temporary(path) as place:
        with _zarr.enable():
            group = _begun_group(place / "new", tensors)
            for name, tensor in tensors.items():
                _write(group, name, tensor, types.get(name), clevel)
        _put_in_place(place / "new", path, place / "old")


@contextlib.contextmanager
def _temporary(path):
    """A folder beside `path` that goes again."""
    place = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def _unfinished(path):
    """One that stays if what is done in it fails, for the next call; of one process at a time."""
    place = path.parent / f".{path.name}.unfinished"
    place.mkdir(exist_ok=True)
    lock = os.open(place, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Error(Status.WRONG_STATE, f"{path} is being saved by another call") from None
        if path.exists():
            shutil.rmtree(place / "old", ignore_errors=True)
        for half_written in place.rglob("*.partial"):  # of zarr, which renames files when they are whole
            half_written.unlink()
        yield place
        shutil.rmtree(place, ignore_errors=True)
    finally:
        os.close(lock)


def _begun_group(place, tensors):
    """A new group, or the one that stands, without what is no tensor now."""
    group = zarr.open_group(place, mode="a", zarr_format=3)
    for name in _arrays_of(group).keys() - tensors.keys():
        del group[name]
    return group


def _put_in_place(new, path, old):
    """Renames; what was there before goes to `old`, and comes back where the new one cannot take its place."""
    if not path.exists():
        os.rename(new, path)
        return
    os.rename(path, old)
    try:
        os.rename(new, path)
    except BaseException:
        os.rename(old, path)
        raise


@overload
def load(path: str | os.PathLike[str], device: Optional[Literal["cpu"]] = None, *, names: Optional[Iterable[str]] = None,
         threads: int = 0) -> dict[str, numpy.ndarray[Any, Any]]: ...
@overload
def load(path: str | os.PathLike[str], device: str, *, names: Optional[Iterable[str]] = None, threads: int = 0) -> dict[str, _device.DeviceArray]: ...
def load(path: Any, device: Optional[str] = None, *, names: Optional[Iterable[str]] = None, threads: int = 0) -> Any:
    """The arrays of a folder that save() or another writer of Zarr made, by their names: numpy's; DeviceArrays for device="cuda". `names` chooses some of them.
    Raises Error where a chunk is damaged or missing, with its name."""
    with _zarr.enable():  # as it is when a group is opened, so it is read
        group = _opened(path)
        arrays = _arrays_of(group) if names is None else {name: _array_of(group, name) for name in names}
        return {name: _read(path, name, array, device, threads) for name, array in arrays.items()}


def types(path: str | os.PathLike[str]) -> dict[str, str]:
    """The names of the types of those arrays whose type numpy lacks: {"embed.weight": "bfloat16"}."""
    return {name: array.attrs["dtype"] for name, array in _arrays_of(_opened(path)).items() if "dtype" in array.attrs}


def _check_names(tensors, types):
    for name in tensors:
        parts = name.split("/")
        if any(part in ("", ".", "..", "zarr.json") or part.startswith("__") or "\\" in part or "\0" in part for part in parts):
            raise Error(Status.INVALID_OPTION, f"{name!r} is no name that a Zarr group can hold")
        for end in range(1, len(parts)):
            if "/".join(parts[:end]) in tensors:
                raise Error(Status.INVALID_OPTION, f"{name!r} is inside {'/'.join(parts[:end])!r}, which is a tensor itself")
    for name, type in types.items():
        if name not in tensors:
            raise Error(Status.INVALID_OPTION, f"types names {name!r}, which is no tensor")
        if type not in _WIDTHS:
            raise Error(Status.INVALID_OPTION, f"types says {type!r}; it may be {', '.join(_WIDTHS)}")


def _write(group, name, tensor, type, clevel):
    source = _OnDevice(tensor) if _device.is_on_device(tensor) else _OnHost(tensor)
    type = type or (source.dtype.name if source.dtype.name in _WIDTHS else None)
    dtype, shape = source.dtype, source.shape
    if type is not None:
        if dtype.itemsize != _WIDTHS[type]:
            raise Error(Status.INVALID_OPTION, f"{name!r} has elements of {dtype.itemsize} bytes, and {type} has {_WIDTHS[type]}")
        dtype = numpy.dtype(f"u{_WIDTHS[type]}")
    size = dtype.itemsize
    codec = _zarr.Blosc(cname="zstd", clevel=clevel, shuffle="shuffle" if size > 1 else "noshuffle", typesize=max(1, min(255, size)))
    chunks, attributes = _chunks_of(shape, size), {"dtype": type} if type else {}
    array = group.get(name)
    begun = isinstance(array, zarr.Array) and (array.shape, array.dtype, array.chunks, dict(array.attrs)) == (shape, dtype, chunks, attributes) and (
        [one.to_dict() for one in array.compressors] == [codec.to_dict()])
    if not begun:
        array = group.create_array(name, shape=shape, dtype=dtype, chunks=chunks, compressors=[codec], fill_value=0, attributes=attributes or None,
                                   config={"write_empty_chunks": True}, overwrite=True)
    if not array.size:
        return
    for selection, values in _fetched_ahead(source, _pieces(shape, chunks, size)):
        values = values.view(dtype)
        if not (begun and _stands(array, selection, values)):
            array[selection] = values


class _OnHost:
    def __init__(self, tensor):
        self._values = numpy.asarray(tensor)
        self.dtype, self.shape = self._values.dtype, self._values.shape

    def fetch(self, selection):
        return numpy.asarray(self._values[selection])


class _OnDevice:
    """A tensor in C order in a device's memory."""

    def __init__(self, tensor):
        interface = getattr(tensor, "__cuda_array_interface__", None)
        if interface is None:
            raise TypeError(f"{type(tensor).__name__} has no __cuda_array_interface__, which says what its elements are; pass an array of the host's memory")
        self.dtype, self.shape = numpy.dtype(interface["typestr"]), tuple(interface["shape"])
        self._given = _device._Given(tensor, None)

    def fetch(self, selection):
        begin = 0
        for one, extent in zip(selection, self.shape):
            begin = begin * extent + one.start
        shape = [one.stop - one.start for one in selection]
        given, size = self._given, math.prod(shape) * self.dtype.itemsize
        content = _device._core.device_download(given.address + begin * self.dtype.itemsize, size, given.device, given.stream)
        return numpy.frombuffer(content, self.dtype).reshape(shape)


def _pieces(shape, chunks, item_bytes):
    """Selections of whole chunks, each one piece of memory in C order, of at most STAGING_BYTES unless a chunk has more."""
    axis, row_bytes = len(shape), item_bytes
    while axis and row_bytes * shape[axis - 1] <= STAGING_BYTES:
        axis -= 1
        row_bytes *= shape[axis]
    whole = [slice(0, extent) for extent in shape[axis:]]
    if not axis:
        yield tuple(whole)
        return
    # Before this axis chunks have one row, since CHUNK_BYTES is no more than STAGING_BYTES.
    axis -= 1
    rows = max(1, STAGING_BYTES // row_bytes // chunks[axis]) * chunks[axis]
    for numbers in itertools.product(*map(range, shape[:axis])):
        for first in range(0, shape[axis], rows):
            yield (*(slice(number, number + 1) for number in numbers), slice(first, min(first + rows, shape[axis])), *whole)


def _fetched_ahead(source, pieces):
    """(selection, its values), while the next ones are fetched."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        before = None
        for selection in pieces:
            coming = selection, pool.submit(source.fetch, selection)
            if before:
                yield before[0], before[1].result()
            before = coming
        yield before[0], before[1].result()


def _stands(array, selection, values):
    """Whether chunks that hold these values are there."""
    numbers = itertools.product(*(range(one.start // size, -(-one.stop // size)) for one, size in zip(selection, array.chunks)))
    folder = Path(array.store.root) / array.path
    if not all((folder / array.metadata.encode_chunk_key(number)).exists() for number in numbers):
        return False
    try:
        stored = numpy.asarray(array[selection])
    except Error:
        return False
    return stored.tobytes() == values.tobytes()


def _chunks_of(shape, item_bytes):
    """As many whole rows along the last axes as fit."""
    chunks, room = [], max(1, CHUNK_BYTES // max(1, item_bytes))
    for extent in reversed(shape):
        chunks.append(max(1, min(extent, room)))
        room = max(1, room // max(1, extent))
    return tuple(reversed(chunks))


def _opened(path):
    if not Path(path).is_dir():
        raise FileNotFoundError(f"{path} is no folder")
    return zarr.open_group(path, mode="r", zarr_format=3)


def _arrays_of(group):
    return {name: array for name, array in group.members(max_depth=None) if isinstance(array, zarr.Array)}


def _array_of(group, name):
    array = group.get(name)
    if not isinstance(array, zarr.Array):
        raise KeyError(name)
    return array


def _read(path, name, array, device, threads):
    if not array.nbytes:
        return _zarr.read(array, device=device)
    # What is missing would be read as zeros.
    there, all = array.nchunks_initialized, math.prod(-(-extent // size) for extent, size in zip(array.shape, array.chunks))
    if there < all:  # shards at the edges count as whole ones
        raise Error(Status.TRUNCATED, f"{name} in {path} has {there} chunks of {all}")
    return _zarr.read(array, device=device, threads=threads)
