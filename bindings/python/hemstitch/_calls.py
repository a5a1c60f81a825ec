"""Buffers in one call, and many of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Literal, Optional, Sequence, Union, cast, overload

from . import _core, _device
from ._errors import Error, Status
from ._options import COMPRESS_DEFAULTS, RESTORE_DEFAULTS, Backend, CompressFormat, CompressOptions, RestoreFormat, RestoreOptions, shows

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

    from ._device import ArrayOnDevice, DeviceArray
    from ._options import Path, Progress


@overload
def compress(data: Buffer, *, out: None = None, progress: Optional[Progress] = None, **options: Unpack[CompressOptions]) -> bytes: ...
@overload
def compress(data: Buffer, *, out: Buffer, progress: Optional[Progress] = None, **options: Unpack[CompressOptions]) -> int: ...
@overload
def compress(data: ArrayOnDevice, *, out: None = None, stream: Any = None, **options: Unpack[CompressOptions]) -> DeviceArray: ...
@overload
def compress(data: ArrayOnDevice, *, out: ArrayOnDevice, stream: Any = None, **options: Unpack[CompressOptions]) -> int: ...
@shows(COMPRESS_DEFAULTS, out=None, stream=None, progress=None)
def compress(data: Any, **options: Any) -> Any:
    """Compresses an object's bytes into one frame. Returns bytes, or how many bytes of `out`, a writable buffer, the frame fills; for an array on a
    CUDA device a DeviceArray, made there on `stream`.

    format: lz4, gzip, bgzf, zlib, deflate or zstd.
    level: 1 to 12, zstd -7 to 22; None for the format's default.
    backend: auto, reproducible, cpu, reference, cuda or webgpu.
    threads: 0 for one per core.
    block_bytes: for LZ4 64K, 256K, 1M or 4M, for zstd 1M or 4M; 0 for the default.
    acceleration: for LZ4, N of `lz4 --fast=N`: faster than level 1, and larger; 0 for none.
    linked_blocks: for LZ4: each block may refer to the 64 KB before it, which is smaller, and nothing can be read out of order.
    block_checksums: for LZ4: a checksum of each block.
    content_checksum: for LZ4: one of the whole content, too. Other formats have the checksums that they define.
    verify: each block is restored where it was compressed, and compared.
    dictionary: bytes that the content may refer to (LZ4, zlib, Zstandard); restoring needs the same.
    stored_name, stored_time: for gzip, the name of the original file and the time of its last change, in seconds since 1970.
    seekable_bytes: for zstd, how much content each frame of a seekable file has, 64 KB to 64 MB; 0 for one frame.
    window_log: for zstd, a window of 2^N bytes, 10 to 31, and a search for long matches in it; 0 for the usual window.
    stored: the content as it is, as gzip -0.
    rsyncable: for gzip, zlib, deflate and zstd: parts end where the content says so, so that a change in it changes few of the bytes written.
    legacy: for LZ4, the frame of `lz4 -l`, for boot loaders and Linux.
    memory_limit_bytes: limits the buffers, not the whole process; 0 for none.
    progress: progress(input_bytes, output_bytes) is called after each piece; an exception in it ends the call.

    Raises hemstitch.Error."""
    return _core.compress(data, **options)


@overload
def restore(data: Buffer, *, device: Literal["cpu"] | None = None, out: None = None, progress: Optional[Progress] = None,
            return_used_bytes: Literal[False] = False, max_bytes: Optional[int] = None, **options: Unpack[RestoreOptions]) -> bytes: ...
@overload
def restore(data: Buffer, *, out: None = None, progress: Optional[Progress] = None, return_used_bytes: Literal[True],
            max_bytes: Optional[int] = None, **options: Unpack[RestoreOptions]) -> tuple[bytes, int]: ...
@overload
def restore(data: Buffer, *, out: Buffer, progress: Optional[Progress] = None, return_used_bytes: Literal[False] = False,
            max_bytes: Optional[int] = None, **options: Unpack[RestoreOptions]) -> int: ...
@overload
def restore(data: Buffer, *, out: Buffer, progress: Optional[Progress] = None, return_used_bytes: Literal[True],
            max_bytes: Optional[int] = None, **options: Unpack[RestoreOptions]) -> tuple[int, int]: ...
@overload
def restore(data: Buffer, *, device: str, out: None = None, stream: Any = None, **options: Unpack[RestoreOptions]) -> DeviceArray: ...
@overload
def restore(data: ArrayOnDevice, *, device: Optional[str] = None, out: None = None, stream: Any = None,
            **options: Unpack[RestoreOptions]) -> DeviceArray: ...
@overload
def restore(data: Union[Buffer, ArrayOnDevice], *, device: Optional[str] = None, out: ArrayOnDevice, stream: Any = None,
            **options: Unpack[RestoreOptions]) -> int: ...
@shows(RESTORE_DEFAULTS, device=None, out=None, stream=None, progress=None, return_used_bytes=False, max_bytes=None)
def restore(data: Any, **options: Any) -> Any:
    """Restores all frames of an object's bytes. Returns bytes, how many bytes of `out` they fill, or with device='cuda' a DeviceArray, made
    on `stream`.

    format: auto recognises lz4, gzip, bgzf and zstd by their first bytes; zlib and deflate must be named.
    backend, threads, dictionary, progress: as for compress().
    verify_checksums: False restores without looking at them.
    accept_any_dictionary_id: uses `dictionary` even if the data names another one.
    window_log: zstd's windows of more than 128 MB are refused unless this, N of 2^N bytes, or the memory limit allows them.
    memory_limit_bytes: limits the buffers, not the whole process; 0 for none.
    return_used_bytes: the result is a pair: what is said above, and where the last frame ends. What follows there is no error then.
    max_bytes: content of more than so many bytes raises Error with the status OUTPUT_TOO_SMALL, before it takes memory.

    Raises hemstitch.Error, which says where the data is damaged."""
    return _core.restore(data, **options)


def restored_size(data: Buffer) -> int:
    """The size of the result of restore(), found without writing it (LZ4, gzip, BGZF)."""
    return _core.restored_size(data)


def compress_bound(size: int, format: CompressFormat = "lz4") -> int:
    """The most bytes that compress() returns for `size` bytes."""
    return _core.compress_bound(size, format)


def make_index(data: Buffer, *, threads: int = 0) -> bytes:
    """Makes a .gzidx of gzip data, as indexed_gzip and rapidgzip read and write it: places where open(.., index=..) and restore_ranges(.., index=..)
    can begin; of Zstandard, a .zstidx. Restores all of the data."""
    return _core.make_index(data, threads=threads)


def checked(results: list[Any], errors: str) -> list[Any]:
    if errors == "return":
        return results
    if errors != "raise":
        raise ValueError(f"errors is {errors!r}; it may be 'raise' or 'return'")
    for number, result in enumerate(results):
        if isinstance(result, Error):
            result.add_note(f"of item {number}") if hasattr(result, "add_note") else None
            raise result
    return results


def _any_but_buffers(objs: Sequence[Any]) -> bool:
    return bool(objs) and not _device._has_buffer(objs[0])


@overload
def compress_many(objs: Iterable[Buffer], **options: Unpack[CompressOptions]) -> list[bytes]: ...
@overload
def compress_many(objs: Iterable[ArrayOnDevice], *, stream: Any = None, **options: Unpack[CompressOptions]) -> list[DeviceArray]: ...
@shows(COMPRESS_DEFAULTS)
def compress_many(objs: Iterable[Any], *, stream: Any = None, **options: Any) -> list[Any]:
    """Returns a list of frames, one for each object. All go to the backend together. For arrays on a device: DeviceArrays, made there on `stream`.
    Options are those of compress()."""
    objs = objs if isinstance(objs, (list, tuple)) else list(objs)
    if _any_but_buffers(objs):
        return checked(_device.compress_many(objs, stream=stream, **options), "raise")
    return _core.compress_many(objs, **options)


@overload
def restore_many(objs: Iterable[Buffer], *, errors: Literal["raise"] = "raise", **options: Unpack[RestoreOptions]) -> list[bytes]: ...
@overload
def restore_many(objs: Iterable[Buffer], *, errors: Literal["return"], **options: Unpack[RestoreOptions]) -> list[Union[bytes, Error]]: ...
@overload
def restore_many(objs: Iterable[Union[Buffer, ArrayOnDevice]], *, device: Optional[str] = None, stream: Any = None,
                 errors: Literal["raise"] = "raise", **options: Unpack[RestoreOptions]) -> list[DeviceArray]: ...
@overload
def restore_many(objs: Iterable[Union[Buffer, ArrayOnDevice]], *, device: Optional[str] = None, stream: Any = None,
                 errors: Literal["return"], **options: Unpack[RestoreOptions]) -> list[Union[DeviceArray, Error]]: ...
@shows(RESTORE_DEFAULTS)
def restore_many(objs: Iterable[Any], *, device: Optional[str] = None, stream: Any = None, errors: str = "raise", **options: Any) -> list[Any]:
    """Returns a list of contents, one for each object: DeviceArrays for arrays on a device, or if `device` names one. With `errors="return"`,
    an Error takes the place of each content that is damaged. Other options are those of restore()."""
    objs = objs if isinstance(objs, (list, tuple)) else list(objs)
    if objs and (device is not None or _any_but_buffers(objs)):
        return checked(_device.restore_many(objs, device=device, stream=stream, **options), errors)
    return checked(_core.restore_many(objs, **options), errors)


def compress_lz4_blocks(objs: Iterable[Buffer], *, level: Optional[int] = None, acceleration: int = 0, threads: int = 0) -> list[bytes]:
    """Returns LZ4 blocks without a frame, one for each object, made by the processor, like lz4.block.compress(x, store_size=False)."""
    return checked(_core.compress_lz4_blocks(objs, level=level, acceleration=acceleration, threads=threads), "raise")


@overload
def restore_lz4_blocks(objs: Iterable[Buffer], sizes: Iterable[int], *, backend: Backend = "auto", threads: int = 0,
                       errors: Literal["raise"] = "raise") -> list[bytes]: ...
@overload
def restore_lz4_blocks(objs: Iterable[Buffer], sizes: Iterable[int], *, backend: Backend = "auto", threads: int = 0,
                       errors: Literal["return"]) -> list[Union[bytes, Error]]: ...
def restore_lz4_blocks(objs: Iterable[Buffer], sizes: Iterable[int], *, backend: Backend = "auto", threads: int = 0,
                       errors: str = "raise") -> list[Any]:
    """Restores blocks without a frame; sizes[i] is the most that block i may hold. `errors` as for restore_many()."""
    return checked(_core.restore_lz4_blocks(objs, sizes, backend=backend, threads=threads), errors)


_Ranges = Iterable["tuple[int, int]"]


@overload
def restore_ranges(data: Buffer, ranges: _Ranges, *, backend: Backend = "auto", threads: int = 0, errors: Literal["raise"] = "raise",
                   index: Optional[Buffer] = None, return_used_bytes: Literal[False] = False) -> list[bytes]: ...
@overload
def restore_ranges(data: Buffer, ranges: _Ranges, *, backend: Backend = "auto", threads: int = 0, errors: Literal["return"],
                   index: Optional[Buffer] = None, return_used_bytes: Literal[False] = False) -> list[Union[bytes, Error]]: ...
@overload
def restore_ranges(data: Buffer, ranges: _Ranges, *, backend: Backend = "auto", threads: int = 0, errors: Literal["raise"] = "raise",
                   index: Optional[Buffer] = None, return_used_bytes: Literal[True]) -> tuple[list[bytes], int]: ...
@overload
def restore_ranges(data: Buffer, ranges: _Ranges, *, backend: Backend = "auto", threads: int = 0, errors: Literal["return"],
                   index: Optional[Buffer] = None, return_used_bytes: Literal[True]) -> tuple[list[Union[bytes, Error]], int]: ...
def restore_ranges(data: Buffer, ranges: _Ranges, *, backend: Backend = "auto", threads: int = 0, errors: str = "raise",
                   index: Optional[Buffer] = None, return_used_bytes: bool = False) -> Any:
    """Returns content[begin:end] for many ranges of LZ4, BGZF or seekable Zstandard data in memory, or of gzip data with an `index` from make_index(). Restores each
    block that they touch once. `errors` as for restore_many(). With `return_used_bytes`, as for restore(), the result is a pair: that list, and where the
    last frame ends; not with an `index`, which does not tell."""
    if return_used_bytes:
        restored, used_bytes = cast(Any, _core.restore_ranges(data, ranges, backend=backend, threads=threads, index=index, return_used_bytes=True))
        return checked(restored, errors), used_bytes
    return checked(cast(Any, _core.restore_ranges(data, ranges, backend=backend, threads=threads, index=index)), errors)


def status_text(status: int) -> str:
    """One sentence: what a status means and what to do."""
    return _core.status_text(int(status))


def unavailable_reason(backend: str) -> Optional[str]:
    """Why a backend ("cpu", "reference", "cuda", "webgpu") cannot be used here; None if it can."""
    try:
        _core.compress(b"", backend=backend)
    except Error as error:
        if error.status in (Status.UNKNOWN_BACKEND, Status.DEVICE_UNAVAILABLE):
            return str(error)
        raise
    return None
