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
# Bytes of the types that numpy lacks.
_WIDTHS = {"bfloat16": 2, "float8_e3m4": 1, "float8_e4m3": 1, "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e4m3b11fnuz": 1, "float8_e5m2": 1,
           "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1}


def save(tensors: Mapping[str, Any], path: str | os.PathLike[str], *, types: Optional[Mapping[str, str]] = None, clevel: int = 1,
         overwrite: bool = False) -> None:
    """Writes the arrays of a dict to a new folder `path`. They are numpy's or what numpy.asarray() takes, or in a device's memory (CuPy, PyTorch, a
    DeviceArray), from where they are brought one by one. A "/" in a name makes groups. `types`: names of types that numpy lacks, for tensors that are given as
    integers: {"embed.weight": "bfloat16"}; arrays of ml_dtypes say it themselves. `clevel`: Blosc's, 1 to 9.

    The folder is there when all is written, or not at all. One that exists is replaced only with `overwrite`; then there is a moment without any."""
    path = Path(path)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; give overwrite=True to replace it")
    types = dict(types or {})
    _check_names(tensors, types)
    place = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        with _zarr.enable():
            group = zarr.create_group(store=place / "new", zarr_format=3)
            for name, tensor in tensors.items():
                _write(group, name, tensor, types.get(name), clevel)
        _put_in_place(place / "new", path, place / "old")
    finally:
        shutil.rmtree(place, ignore_errors=True)


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
    values = _device.to_numpy(tensor) if _device.is_on_device(tensor) else numpy.asarray(tensor)
    type = type or (values.dtype.name if values.dtype.name in _WIDTHS else None)
    if type is not None:
        if values.dtype.itemsize != _WIDTHS[type]:
            raise Error(Status.INVALID_OPTION, f"{name!r} has elements of {values.dtype.itemsize} bytes, and {type} has {_WIDTHS[type]}")
        values = numpy.ascontiguousarray(values).reshape(values.shape).view(f"u{_WIDTHS[type]}")
    size = values.dtype.itemsize
    codec = _zarr.Blosc(cname="zstd", clevel=clevel, shuffle="shuffle" if size > 1 else "noshuffle", typesize=max(1, min(255, size)))
    array = group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=_chunks_of(values.shape, size), compressors=[codec], fill_value=0,
                               attributes={"dtype": type} if type else None, config={"write_empty_chunks": True})
    if values.size:
        array[...] = values


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
