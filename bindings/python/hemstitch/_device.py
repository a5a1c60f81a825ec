"""Objects without the buffer protocol: tensors of other libraries, in the host's memory and in a CUDA device's."""

from __future__ import annotations

import os
import tempfile

from . import _core
from ._errors import Error, Status

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13  # DLPack's DLDeviceType


class DeviceArray:
    """Bytes in the memory of a CUDA device, for cupy.asarray(), torch.as_tensor(), numba and whatever else takes DLPack or
    __cuda_array_interface__. They share the memory, which lives as long as the last of them. The bytes are there already, for every stream."""

    def __init__(self, content, device):
        self._content, self.device = content, device

    @property
    def nbytes(self):
        return self._content.bytes

    def __len__(self):
        return self._content.bytes

    @property
    def restored_on_device(self):
        """False where the processor restored it, and it was uploaded (linked blocks, an ordinary .gz)."""
        return self._content.restored_on_device

    @property
    def __cuda_array_interface__(self):
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self._content.address, False), "strides": None, "version": 3}

    def __dlpack_device__(self):
        return _CUDA, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or (dl_device is not None and tuple(dl_device) != (_CUDA, self.device)):
            raise BufferError("the array is shared as it is, on its device")
        return _core.dlpack_capsule(self._content.address, self.nbytes, self.device, self._content)


def load(path, device="cuda", *, threads=0, verify_checksums=True, stream=None):
    """What a compressed file holds (LZ4, gzip, BGZF): a DeviceArray, made on the device where blocks are independent; bytes for device="cpu".
    `stream`, a number or an object with __cuda_stream__, is where the memory is freed once the array goes."""
    return load_many([path], device, threads=threads, verify_checksums=verify_checksums, stream=stream)[0]


def load_many(paths, device="cuda", *, threads=0, verify_checksums=True, stream=None):
    """The same of many files in one run: small ones are brought to the device together. All of them, or the error of the first that fails."""
    number = _device_number(device)
    paths = [os.fspath(path) for path in paths]
    if number is None:
        contents = []
        for path in paths:
            with open(path, "rb") as file:
                contents.append(file.read())
        return [_core.restore(content, threads=threads) for content in contents]
    contents = _core.load(paths, device=number, threads=threads, verify_checksums=verify_checksums, stream=_stream_number(stream))
    return [DeviceArray(content, number) for content in contents]


def save(array, path, *, level=None, block_bytes=0, threads=0, stream=None):
    """Compresses an array's bytes into a file, one LZ4 frame, and returns the file's size. A device's array is compressed there, as it is
    when the work given to `stream` so far is over. The file appears under its name when it is complete."""
    path = os.fspath(path)
    if not _has_buffer(array):
        address, size, device_type, _keep = _span(array)
        if device_type in (_CUDA, _CUDA_MANAGED):
            return _core.save(address, size, path, level=level, block_bytes=block_bytes, threads=threads,
                              stream=_stream_number(stream, array))
    packed = _core.compress(array, level=level, block_bytes=block_bytes, threads=threads)
    number, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))
    try:
        with open(number, "wb") as file:
            file.write(packed)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return len(packed)


def compress(data, *, stream=None, **options):
    """What hemstitch.compress() does with an object that has no buffer."""
    return _core.compress(_host_array(data, "compress"), **options)


def restore(data, *, device=None, stream=None, **options):
    """What hemstitch.restore() does where a device is named, or the object has no buffer."""
    number = None if device is None else _device_number(device)
    if not _has_buffer(data):
        data = _host_array(data, "restore")
    if number is None:
        return _core.restore(data, **options)
    if options.pop("out") is not None:
        raise Error(Status.INVALID_OPTION, "out and device exclude each other")
    if options["format"] not in ("auto", "lz4", "gzip", "bgzf"):
        raise Error(Status.INVALID_OPTION, f"format is {options['format']!r}; a device is given lz4, gzip and bgzf")
    # The way of files, which reads by many threads into memory that the device copies from.
    file = os.memfd_create("hemstitch")
    try:
        with memoryview(data) as view, view.cast("B") as rest:
            at = 0
            while at < len(rest):
                at += os.write(file, rest[at:])
        return load(f"/proc/self/fd/{file}", f"cuda:{number}", threads=options["threads"], stream=stream)
    finally:
        os.close(file)


def _device_number(device):
    """Of "cuda" or "cuda:1"; None for "cpu"."""
    kind, colon, number = str(device).partition(":")
    if kind == "cpu" and not colon:
        return None
    if kind == "cuda" and (not colon or number.isdecimal()):
        return int(number or 0)
    raise Error(Status.INVALID_OPTION, f"device is {str(device)!r}; it may be 'cpu', 'cuda' or 'cuda:' and a number")


def _stream_number(stream, array=None):
    """A cudaStream_t: a number, an object with __cuda_stream__ or `ptr` or `cuda_stream` (cupy, torch); or what the array says."""
    if stream is None:
        interface = getattr(array, "__cuda_array_interface__", None)
        return (interface or {}).get("stream") or 0
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("ptr", "cuda_stream"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    return int(stream)


def _has_buffer(data):
    try:
        memoryview(data).release()
        return True
    except TypeError:
        return False
    except BufferError:
        return True


def _span(data):
    """(address, bytes, DLPack's device type, what keeps them) of an object in C order."""
    interface = getattr(data, "__cuda_array_interface__", None)
    if interface is not None:
        size = int(interface["typestr"][2:])
        strides = interface.get("strides")
        for extent, stride in zip(reversed(interface["shape"]), reversed(strides or ())):
            if extent > 1 and stride != size:
                raise BufferError("the array's bytes are not one piece of memory in C order; pass a copy that is")
            size *= extent
        if not strides:
            for extent in interface["shape"]:
                size *= extent
        return interface["data"][0] or 0, size, _CUDA, data
    if not hasattr(data, "__dlpack__"):
        raise TypeError("expected an object with the buffer protocol (bytes, memoryview, a numpy array), DLPack or "
                        f"__cuda_array_interface__, not {type(data).__name__}")
    try:
        address, size, device_type, _, keep = _core.dlpack_span(data)
    except TypeError:
        raise BufferError("the tensor's bytes are not one piece of memory in C order; pass a copy that is") from None
    return address, size, device_type, keep


def _host_array(data, call):
    """A tensor in the host's memory, as a buffer."""
    address, size, device_type, keep = _span(data)
    if device_type not in (_CPU, _CUDA_HOST):
        raise Error(Status.DEVICE_UNAVAILABLE,
                    f"{call}() takes host memory; save() compresses a device's to a file, and load() or restore(.., device='cuda') "
                    "restore to it")
    import ctypes

    buffer = (ctypes.c_ubyte * size).from_address(address) if size else (ctypes.c_ubyte * 0)()
    buffer._keep = keep
    return buffer
