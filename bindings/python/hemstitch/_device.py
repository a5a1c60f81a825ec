"""Buffers without the buffer protocol: tensors of other libraries on the host, and device memory."""

from __future__ import annotations

from . import _core
from ._errors import Error, Status

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13  # of DLPack's DLDeviceType


def _device_type(data):
    if hasattr(data, "__dlpack_device__"):
        return int(data.__dlpack_device__()[0])
    if hasattr(data, "__cuda_array_interface__"):
        return _CUDA
    raise TypeError("expected an object with the buffer protocol (bytes, memoryview, a numpy array), DLPack or "
                    f"__cuda_array_interface__, not {type(data).__name__}")


def _host_view(data):
    """Another library's tensor in the host's memory, as a buffer."""
    import numpy

    array = numpy.from_dlpack(data)
    if not array.flags.c_contiguous:
        raise BufferError("the tensor's elements are not one piece of memory in C order; pass a copy that is: x.contiguous()")
    return array


def _refuse():
    raise Error(Status.DEVICE_UNAVAILABLE,
                "device memory needs a build with CUDA: build the package where nvcc is "
                "(pip install . -C cmake.define.HEMSTITCH_CUDA=ON)")


def compress(data, *, stream=None, **options):
    if _device_type(data) in (_CPU, _CUDA_HOST):
        return _core.compress(_host_view(data), **options)
    _refuse()


def restore(data, *, device=None, stream=None, **options):
    if device is not None and str(device).split(":")[0] not in ("cpu", "cuda"):
        raise Error(Status.INVALID_OPTION, f"device is {device!r}; it may be 'cpu', 'cuda' or 'cuda:N'")
    on_host = isinstance(data, (bytes, bytearray, memoryview)) or not hasattr(data, "__dlpack_device__") or \
        _device_type(data) in (_CPU, _CUDA_HOST)
    if on_host and (device is None or str(device) == "cpu"):
        if not _has_buffer(data):
            _device_type(data)  # throws for what is neither
            data = _host_view(data)
        return _core.restore(data, **options)
    _refuse()


def _has_buffer(data):
    try:
        memoryview(data).release()
        return True
    except TypeError:
        return False
    except BufferError:
        return True
