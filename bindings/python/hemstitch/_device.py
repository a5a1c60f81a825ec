"""Objects without the buffer protocol: tensors of other libraries, in host memory and on CUDA devices."""

from __future__ import annotations

import operator
import os
import tempfile
from typing import TYPE_CHECKING, Any, Iterable, Literal, Optional, Protocol, Union, overload

from . import _core
from ._errors import Error, Status
from ._options import COMPRESS_DEFAULTS, RESTORE_DEFAULTS, CompressFormat, Path

if TYPE_CHECKING:
    from typing_extensions import Buffer

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13  # DLPack's DLDeviceType
_DLPACK_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # its DLDataTypeCode, by numpy's letters
_LEGACY_STREAM = 1  # the default stream's number in both protocols, where 0 is none
# Files in memory that are open at once.
_MOST_OPEN_FILES = 200
ZSTD_BEGIN = b"\x28\xb5\x2f\xfd"


class _WithInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...


class _WithDLPack(Protocol):
    def __dlpack_device__(self) -> Any: ...
    def __dlpack__(self, *, stream: Any = None) -> Any: ...


#: Arrays in a device's memory, whoever made them; and of DLPack's, tensors in the host's.
ArrayOnDevice = Union[_WithInterface, _WithDLPack]


class DeviceArray:
    """An array in the memory of a CUDA device, for cupy.asarray(), torch.as_tensor(), numba and everything that takes DLPack or
    __cuda_array_interface__. All of them share the memory, which lives as long as the last of them. It holds bytes, unless `shape` and
    `typestr` (numpy's, as in __array_interface__) say more. What uses it through these protocols runs after the stream that made it."""

    device: int
    nbytes: int
    shape: tuple[int, ...]
    typestr: str
    host_chunks: int

    def __init__(self, content, device, *, address=None, nbytes=None, shape=None, typestr="|u1", stream=None, packed=None, freed_on=None):
        self._content, self.device = content, device
        self._address = content.address if address is None else address
        self.nbytes = content.bytes if nbytes is None else nbytes
        self.shape = (self.nbytes,) if shape is None else tuple(shape)
        self.typestr = typestr
        self._stream = stream  # where what it holds is made; None where it is there for every stream
        self._packed = packed  # what compress() knows of its result
        self.host_chunks = 0  # of an array read from Zarr or HDF5: how many chunks the processor restored
        # The stream that the memory is freed on: the last member, since members go in their order, and the stream has to go after the memory.
        self._freed_on = stream if freed_on is None else freed_on

    @property
    def address(self) -> int:
        """The address of its first byte in device memory."""
        return self._address

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("the array has no axes")
        return self.shape[0]

    @property
    def restored_on_device(self) -> bool:
        """False if the processor restored it and it was uploaded (linked blocks, an ordinary .gz)."""
        return getattr(self._content, "restored_on_device", True)

    def tobytes(self) -> bytes:
        """The bytes, in host memory. Waits for the stream that makes them."""
        return _core.device_download(self._address, self.nbytes, self.device, self._stream or 0) if self.nbytes else b""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        said = {"shape": self.shape, "typestr": self.typestr, "data": (self._address if self.nbytes else 0, False), "strides": None, "version": 3}
        if self._stream is not None:
            said["stream"] = self._stream or _LEGACY_STREAM
        return said

    def __repr__(self) -> str:
        return f"<hemstitch.DeviceArray shape={self.shape} typestr={self.typestr!r} device='cuda:{self.device}'>"

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self.device

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Optional[bool] = None) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != (_CUDA, self.device)):
            raise BufferError("DLPack shares the array without a copy, on its own device")
        if self._stream is not None and stream != -1:  # -1: the taker sees to the order
            _core.device_order(self._stream, self.device, stream or 0)
        if self.typestr[0] == ">" or self.typestr[1] not in _DLPACK_CODES:
            raise BufferError(f"DLPack has no elements of {self.typestr!r}; __cuda_array_interface__ has")
        return _core.dlpack_capsule(self._address, self.shape, _DLPACK_CODES[self.typestr[1]], 8 * int(self.typestr[2:]), self.device, self)


@overload
def load(path: Path, device: Literal["cpu"], *, threads: int = 0, verify_checksums: bool = True, stream: Any = None) -> bytes: ...
@overload
def load(path: Path, device: str = "cuda", *, threads: int = 0, verify_checksums: bool = True, stream: Any = None) -> DeviceArray: ...
def load(path: Path, device: str = "cuda", *, threads: int = 0, verify_checksums: bool = True, stream: Any = None) -> Any:
    """Loads the content of a compressed file (LZ4, gzip, BGZF) into a DeviceArray, restored on the device if blocks are independent; returns
    bytes for device="cpu". The memory is freed on `stream`, a number or an object with __cuda_stream__, once the array is gone."""
    return load_many([path], device, threads=threads, verify_checksums=verify_checksums, stream=stream)[0]


@overload
def load_many(paths: Iterable[Path], device: Literal["cpu"], *, threads: int = 0, verify_checksums: bool = True, stream: Any = None) -> list[bytes]: ...
@overload
def load_many(paths: Iterable[Path], device: str = "cuda", *, threads: int = 0, verify_checksums: bool = True, stream: Any = None) -> list[DeviceArray]: ...
def load_many(paths: Iterable[Path], device: str = "cuda", *, threads: int = 0, verify_checksums: bool = True, stream: Any = None) -> list[Any]:
    """The same for many files at once: small ones are transferred together. Returns all of them, or raises the first error."""
    number = number_of(device)
    paths = [os.fspath(path) for path in paths]
    if number is None:
        contents = []
        for path in paths:
            with open(path, "rb") as file:
                contents.append(file.read())
        return [_core.restore(content, threads=threads) for content in contents]
    freed_on = stream_number(stream)
    contents = _core.load(paths, device=number, threads=threads, verify_checksums=verify_checksums, stream=freed_on)
    return [DeviceArray(content, number, freed_on=freed_on) for content in contents]


def save(array: Union[Buffer, ArrayOnDevice], path: Path, *, format: CompressFormat = "lz4", level: Optional[int] = None, block_bytes: int = 0,
         threads: int = 0, stream: Any = None) -> int:
    """Compresses an array's bytes into a file, one LZ4 frame, and returns the file's size. An array on a device is compressed there,
    after the work on `stream` so far; in Zstandard (`format`), it becomes frames of `block_bytes`, with a seek table. The file gets its name when it is
    complete."""
    path = os.fspath(path)
    if is_on_device(array):
        given = _Given(array, stream)
        return _core.save(given.address, given.nbytes, path, format=format, level=level, block_bytes=block_bytes, threads=threads, stream=given.stream)
    packed = _core.compress(array, format=format, level=level, block_bytes=block_bytes, threads=threads)
    number, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))
    try:
        with open(number, "wb") as file:
            file.write(packed)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return len(packed)


def _refuse_others(options, defaults, known):
    """Those that a device's arrays have not."""
    for name, value in options.items():
        if name not in known and value != defaults.get(name):
            raise Error(Status.INVALID_OPTION, f"{name} works only for data in the host's memory, not for that of a device")


def compress(data, *, out=None, stream=None, **options):
    """hemstitch.compress() for an object without a buffer."""
    if not is_on_device(data):
        return _core.compress(_host_array(data, "compress"), out=out, **options)
    result = _one(compress_many([data], stream=stream, **options))
    return result if out is None else _put(result, out, stream)


def compress_many(objs, *, stream=None, progress=None, **options):
    """For arrays on one device: a DeviceArray or an Error each. For tensors in host memory: bytes."""
    if not is_on_device(objs[0]):
        return _core.compress_many([_host_array(one, "compress_many") for one in objs], **options)
    # What is said wrong is refused in the words of the host's calls.
    _core.compress(b"", **{**options, "backend": "cpu"})
    format, level, backend = options.get("format", "lz4"), options.get("level"), options.get("backend", "auto")
    if backend not in ("auto", "cuda", "reproducible"):
        raise Error(Status.INVALID_OPTION, f"backend is {backend!r}; only 'cuda' compresses a device's array")
    if options.get("content_checksum"):
        raise Error(Status.INVALID_OPTION, "a device computes no content_checksum, which is serial; blocks have their own checksums")
    if options.get("seekable_bytes") or options.get("window_log"):
        raise Error(Status.INVALID_OPTION, "seekable_bytes and window_log work only for data on the host; a device's array becomes frames of 4 MiB")
    if progress is not None:
        raise Error(Status.INVALID_OPTION, "progress works only for data on the host; a device's array is compressed as a whole")
    _refuse_others(options, COMPRESS_DEFAULTS, ("format", "level", "backend", "threads", "block_bytes"))
    block_bytes = options.get("block_bytes", 0)
    batch, given, run = _batch_of(objs, stream)
    spans = [(one.address, one.nbytes) for one in given]
    if format == "lz4":
        results = batch.compress_frames(run, spans, level, block_bytes)
    else:
        results = batch.compress_streams(run, format, spans, level)
    return [one if isinstance(one, Error) else
            DeviceArray(one.content, run.device, address=one.address, nbytes=one.size, stream=run.stream, packed=one) for one in results]


def restore(data, *, device=None, out=None, stream=None, **options):
    """hemstitch.restore() if a device is named, or the object has no buffer."""
    on_device = is_on_device(data)
    if device is None and not on_device and not (out is not None and is_on_device(out)):
        return _core.restore(_host_array(data, "restore") if not _has_buffer(data) else data, out=out, **options)
    if options.pop("progress", None) is not None:
        raise Error(Status.INVALID_OPTION, "progress works only for data on the host; a device's array is restored as a whole")
    for name in ("return_used_bytes", "max_bytes"):
        given = options.pop(name, None)
        if given is not None and given is not False:
            raise Error(Status.INVALID_OPTION, f"{name} works only for data on the host")
    if device is None and not on_device:
        device = f"cuda:{_Given(out, stream).device}"
    result = _one(restore_many([data], device=device, stream=stream, **options))
    return result if out is None else _put(result, out, stream)


def restore_many(objs, *, device=None, stream=None, **options):
    """Returns DeviceArrays; bytes for device="cpu", or for host data without a device. An Error takes the place of each failure."""
    number = None if device is None else number_of(device)
    from_device = is_on_device(objs[0])
    if from_device and device is not None and number is None:
        _, given, run = _batch_of(objs, stream)
        objs, from_device = [run.download(one.address, one.nbytes) if one.nbytes else b"" for one in given], False
    if not from_device and number is None:
        return _core.restore_many([one if _has_buffer(one) else _host_array(one, "restore_many") for one in objs], **options)
    format, backend, threads = options.get("format", "auto"), options.get("backend", "auto"), options.get("threads", 0)
    window_log = options.get("window_log", 0)
    if backend not in ("auto", "cuda", "reproducible"):
        raise Error(Status.INVALID_OPTION, f"backend is {backend!r}; only 'cuda' restores to a device's memory")
    _core.restore_many([], **{**options, "backend": "cpu"})  # what is said wrong, in the words of the host's calls
    _refuse_others(options, RESTORE_DEFAULTS, ("format", "backend", "threads", "window_log"))
    if from_device:
        batch, given, run = _batch_of(objs, stream)
        if number is not None and number != run.device:
            raise Error(Status.INVALID_OPTION, f"the arrays are on device {run.device}, but device is {str(device)!r}")
        if all(one.packed is not None and format in ("auto", one.packed.format) for one in given):
            return [one if isinstance(one, Error) else
                    DeviceArray(one[0], run.device, address=one[1], nbytes=packed.content_bytes, stream=run.stream)
                    for one, packed in zip(batch.restore_packed(run, [one.packed for one in given]), (one.packed for one in given))]
        # Where frames end and blocks begin only their bytes tell, one after the other: that is for the processor to read.
        objs, number, stream = [run.download(one.address, one.nbytes) if one.nbytes else b"" for one in given], run.device, run.stream
    else:
        objs = [memoryview(one if _has_buffer(one) else _host_array(one, "restore_many")).cast("B") for one in objs]
    stream = stream_number(stream)
    if format in ("zlib", "deflate"):
        return _restored_streams(objs, format, number, stream)
    of_zstd = [format == "zstd" or (format == "auto" and bytes(one[:4]) == ZSTD_BEGIN) for one in objs]
    uploaded = iter(_uploaded([one for one, is_so in zip(objs, of_zstd) if is_so], number, threads, window_log, stream))
    loaded = iter(_loaded([one for one, is_so in zip(objs, of_zstd) if not is_so], number, threads, stream))
    return [next(uploaded if is_so else loaded) for is_so in of_zstd]


def _restored_streams(objs, format, device, stream):
    """zlib and raw DEFLATE, which their first bytes do not identify: finds their sizes first, then restores all into one room."""
    from . import _device_batch as batch

    run = batch.Run(device, stream)
    rooms, statuses = batch.stream_sizes(run, format, objs)
    good = [i for i, status in enumerate(statuses) if status == 0]
    results = [batch.failure(status, f"the {format} stream cannot be restored") if status else None for status in statuses]
    if good:
        content, addresses, sizes, statuses = batch.restore_blocks(run, format, [objs[i] for i in good], rooms[good])
        for i, address, size, status in zip(good, addresses, sizes, statuses):
            results[i] = (batch.failure(status, f"the {format} stream cannot be restored") if status else
                          DeviceArray(content, device, address=int(address), nbytes=int(size), stream=stream))
    return results


def _uploaded(objs, device, threads, window_log, stream):
    """Zstandard, which files are not loaded from: the processor restores it."""
    from . import _device_batch as batch

    results = []
    for content in _core.restore_many(objs, format="zstd", threads=threads, window_log=window_log) if objs else []:
        if not isinstance(content, Error):
            memory, (address,) = batch.Run(device, stream).upload([content])
            content = DeviceArray(memory, device, address=int(address), nbytes=len(content), stream=stream)
        results.append(content)
    return results


def _loaded(objs, device, threads, stream):
    """LZ4, gzip and BGZF in the way of files: many threads read into memory from which the device copies."""
    results = []
    for begin in range(0, len(objs), _MOST_OPEN_FILES):
        some = objs[begin:begin + _MOST_OPEN_FILES]
        try:
            results += _loaded_together(some, device, threads, stream)
        except Error as error:
            if error.status >= Status.OUTPUT_TOO_SMALL:  # of the machine, not of the data
                raise
            if len(some) == 1:
                results.append(error)
                continue
            for one in some:  # whose it is
                results += _loaded([one], device, threads, stream)
    return results


def _loaded_together(objs, device, threads, stream):
    files = []
    try:
        for data in objs:
            file = os.memfd_create("hemstitch")
            files.append(file)
            at = 0
            while at < len(data):
                at += os.write(file, data[at:])
        contents = _core.load([f"/proc/self/fd/{file}" for file in files], device=device, threads=threads, verify_checksums=True, stream=stream)
    finally:
        for file in files:
            os.close(file)
    return [DeviceArray(content, device, freed_on=stream) for content in contents]


def _one(results):
    if isinstance(results[0], Error):
        raise results[0]
    return results[0]


def number_of(device):
    """Of "cuda" or "cuda:1"; None for "cpu"."""
    kind, colon, number = str(device).partition(":")
    if kind == "cpu" and not colon:
        return None
    if kind == "cuda" and (not colon or number.isdecimal()):
        return int(number or 0)
    raise Error(Status.INVALID_OPTION, f"device is {str(device)!r}; it may be 'cpu', 'cuda' or 'cuda:' and a number")


class _StreamNumber(int):
    """A cudaStream_t, and the object that it goes with."""

    def __new__(cls, number, owner):
        made = super().__new__(cls, number)
        made.owner = owner
        return made


def stream_number(stream):
    """A cudaStream_t: a number, or an object with __cuda_stream__ or `ptr` or `cuda_stream` (cupy, torch). None is the default stream."""
    if stream is None:
        return 0
    if hasattr(stream, "__cuda_stream__"):
        return _StreamNumber(stream.__cuda_stream__()[1], stream)
    for name in ("ptr", "cuda_stream"):
        if hasattr(stream, name):
            return _StreamNumber(getattr(stream, name), stream)
    try:
        return operator.index(stream)
    except TypeError:
        raise TypeError("stream is a number, or an object with __cuda_stream__, ptr (cupy) or cuda_stream (torch), "
                        f"not {type(stream).__name__}") from None


def _has_buffer(data):
    # CuPy's arrays have the buffer protocol and refuse it.
    if not isinstance(data, (bytes, bytearray, memoryview)) and hasattr(data, "__cuda_array_interface__"):
        return False
    try:
        memoryview(data).release()
        return True
    except TypeError:
        return False
    except (BufferError, ValueError):  # numpy's, for elements that the protocol has no letter for
        return True


def is_on_device(data):
    """Whether an object is an array in a CUDA device's memory."""
    if isinstance(data, DeviceArray):
        return True
    if _has_buffer(data):
        return False
    if hasattr(data, "__dlpack_device__"):
        return int(data.__dlpack_device__()[0]) in (_CUDA, _CUDA_MANAGED)
    return hasattr(data, "__cuda_array_interface__")


class _Given:
    """An argument on a device: its place, and the stream for the call's work. This stream waits for the array."""

    def __init__(self, array, stream, writable=False):
        self.packed = None
        interface = None
        if isinstance(array, DeviceArray):
            self.address, self.nbytes, self.device, self.packed = array._address, array.nbytes, array.device, array._packed
            made_on = array._stream
        elif hasattr(array, "__dlpack_device__") and not writable:
            kind, self.device = array.__dlpack_device__()
            self.device = int(self.device)
            # What gives it sees to the order.
            wanted = stream_number(stream)
            self.address, self.nbytes, _, _, self._keep = _tensor(array.__dlpack__(stream=int(wanted) or _LEGACY_STREAM))
            made_on = None
        else:
            interface = getattr(array, "__cuda_array_interface__", None)
            if interface is None:
                raise TypeError("expected an array in a device's memory (__cuda_array_interface__; DLPack, but for `out`), not "
                                f"{type(array).__name__}")
            if writable and interface["data"][1]:
                raise BufferError("`out` is read-only")
            self.address, self.nbytes = interface["data"][0] or 0, _bytes_of(interface)
            self.device = _core.device_of(self.address) if self.nbytes else 0
            made_on = interface.get("stream")
        self.stream = (made_on or 0) if stream is None else stream_number(stream)
        if made_on is not None and made_on != self.stream:
            _core.device_order(made_on, self.device, self.stream)
        self._array = array


def to_numpy(array):
    """The numpy array of an array in a device's memory. Waits for the stream that it is made on."""
    import numpy

    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(f"{type(array).__name__} has no __cuda_array_interface__, which says what its elements are; pass an array of the host's memory")
    given = _Given(array, None)
    content = _core.device_download(given.address, given.nbytes, given.device, given.stream) if given.nbytes else b""
    return numpy.frombuffer(content, interface["typestr"]).reshape(interface["shape"])


def _bytes_of(interface):
    """The size of an array in C order, as __cuda_array_interface__ describes it."""
    size = int(interface["typestr"][2:])
    shape, strides = interface["shape"], interface.get("strides")
    if 0 in shape:
        return 0
    for extent, stride in zip(reversed(shape), reversed(strides or (None,) * len(shape))):
        if stride is not None and extent > 1 and stride != size:
            raise BufferError("the array's bytes are not one piece of memory in C order; pass a copy that is")
        size *= extent
    return size


def _batch_of(objs, stream):
    """(the module for batches, what is given, where to work) for arrays on one device."""
    from . import _device_batch as batch

    given = []
    for number, one in enumerate(objs):
        if not is_on_device(one):
            raise TypeError(f"item {number} is in the host's memory, but the first one in a device's; use two calls")
        given.append(_Given(one, stream))
    run = batch.Run(given[0].device, given[0].stream)
    for number, one in enumerate(given):
        if one.device != run.device:
            raise Error(Status.INVALID_OPTION, f"item {number} is on device {one.device}, but the first one on {run.device}; use two calls")
        if one.stream != run.stream:  # each array's own, since the call names none
            _core.device_order(one.stream, run.device, run.stream)
    return batch, given, run


def _put(result, out, stream):
    """Copies a call's result into the caller's `out`; returns how many bytes it fills."""
    if not is_on_device(out):
        with memoryview(out) as view, view.cast("B") as room:
            _check_room(result.nbytes, room.nbytes)
            room[:result.nbytes] = result.tobytes() if isinstance(result, DeviceArray) else result
        return len(result)
    target = _Given(out, result._stream if stream is None else stream, writable=True)
    _check_room(result.nbytes, target.nbytes)
    if target.device != result.device:
        raise Error(Status.INVALID_OPTION, f"out is on device {target.device}, but the result on {result.device}")
    if result._stream is not None and result._stream != target.stream:
        _core.device_order(result._stream, target.device, target.stream)
    _core.device_copy(result._address, result.nbytes, target.address, target.device, target.stream)
    return result.nbytes


def _check_room(needed, room):
    if needed > room:
        raise Error(Status.OUTPUT_TOO_SMALL, f"out has {room} bytes, but {needed} are needed")


def _tensor(tensor):
    """(address, bytes, DLPack device type, device, owner) of a tensor, or of its capsule."""
    try:
        return _core.dlpack_span(tensor)
    except TypeError:
        raise BufferError("the tensor's bytes are not one piece of memory in C order; pass a copy that is") from None


def _host_array(data, call):
    """A tensor in host memory, as a buffer."""
    if not hasattr(data, "__dlpack__"):
        advice = ""
        if isinstance(data, str):
            advice = "; x.encode() gives the bytes of text, and hemstitch.open() opens a path"
        elif isinstance(data, os.PathLike) or hasattr(data, "read"):
            advice = "; hemstitch.open() opens a path or a file object"
        raise TypeError("expected an object with the buffer protocol (bytes, memoryview, a numpy array), DLPack or "
                        f"__cuda_array_interface__, not {type(data).__name__}{advice}")
    address, size, device_type, _, keep = _tensor(data)
    if device_type not in (_CPU, _CUDA_HOST):
        raise Error(Status.DEVICE_UNAVAILABLE, f"{call}() takes tensors of the host's memory and of CUDA devices; this one is on neither")
    import ctypes

    buffer = (ctypes.c_ubyte * size).from_address(address) if size else (ctypes.c_ubyte * 0)()
    buffer._keep = keep
    return buffer
