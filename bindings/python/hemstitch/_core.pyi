"""
Hemstitch's C++ library; use the names that the package `hemstitch` gives.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

from numpy.typing import NDArray

from hemstitch._errors import Error as Error


version: str = '0.1.0'

def status_text(status: int) -> str: ...

def suffixes() -> list[tuple[str, str]]:
    """
    The suffixes of compressed files, each with the name of its format; of two formats with one suffix the usual one is first.
    """

def compress(data: object | None, *, format: str = 'lz4', level: int | None = None, backend: str = 'auto', threads: int = 0, block_bytes: int = 0, content_checksum: bool = False, dictionary: object | None = None, seekable_bytes: int = 0, window_log: int = 0, out: object | None = None, stream: object | None = None, progress: object | None = None) -> object:
    """
    Compresses an object's bytes into one frame. Returns bytes, or how many bytes of `out`, a writable buffer, the frame fills; for an array on a CUDA device a DeviceArray, made there on `stream`.

    format: lz4, gzip, bgzf, zlib, deflate or zstd. level: 1 to 12, zstd -7 to 22, None for the format's default. backend: auto, reproducible, cpu, reference, cuda or webgpu. threads: 0 for one per core. block_bytes: for LZ4, 64K, 256K, 1M or 4M; 0 for the default. dictionary: bytes that the content may refer to (LZ4, zlib, Zstandard); restore() needs the same. seekable_bytes: for zstd, how much content each frame of a seekable file has, 64 KB to 64 MB; 0 for one frame. window_log: for zstd, a window of 2^N bytes, 10 to 31, and a search for long matches in it; 0 for the usual window. progress(input_bytes, output_bytes) is called after each piece; an exception in it ends the call. Raises hemstitch.Error.
    """

def restore(data: object | None, *, format: str = 'auto', backend: str = 'auto', threads: int = 0, dictionary: object | None = None, window_log: int = 0, device: object | None = None, out: object | None = None, stream: object | None = None, progress: object | None = None, return_used_bytes: bool = False) -> object:
    """
    Restores all frames of an object's bytes. Returns bytes, how many bytes of `out` they fill, or with device='cuda' a DeviceArray.

    format 'auto' recognises lz4, gzip, bgzf and zstd by their first bytes; zlib and deflate must be named. window_log: zstd's windows of more than 128 MB are refused unless this, N of 2^N bytes, allows them. With return_used_bytes the result is a pair: what is said above, and where the last frame ends; what follows there is no error then. Raises hemstitch.Error, which says where the data is damaged.
    """

def restored_size(data: object) -> int:
    """
    The size of the result of restore(), found without writing it (LZ4, gzip, BGZF).
    """

def compress_bound(size: int, format: str = 'lz4') -> int:
    """The most bytes that compress() returns for `size` bytes."""

def restore_ranges(data: object, ranges: Sequence[tuple[int, int]], *, backend: str = 'auto', threads: int = 0, index: object | None = None, return_used_bytes: bool = False) -> object: ...

class RangeReader:
    def __init__(self, data: object, *, format: str = 'auto', backend: str = 'auto', threads: int = 0, index: object | None = None) -> None: ...

    def read(self, begin: int, end: int) -> bytes: ...

    @property
    def size(self) -> int: ...

def make_index(data: object, *, threads: int = 0) -> bytes:
    """
    Makes a .gzidx of gzip data, as indexed_gzip and rapidgzip read and write it: places where open(.., index=..) and restore_ranges(.., index=..) can begin. Restores all of the data.
    """

def compress_many(objects: Iterable, *, format: str = 'lz4', level: int | None = None, backend: str = 'auto', threads: int = 0, block_bytes: int = 0, content_checksum: bool = False, dictionary: object | None = None, seekable_bytes: int = 0, window_log: int = 0) -> list: ...

def restore_many(objects: Iterable, *, format: str = 'auto', backend: str = 'auto', threads: int = 0, dictionary: object | None = None, window_log: int = 0) -> list: ...

def compress_lz4_blocks(objects: Iterable, *, level: int | None = None, acceleration: int = 0, threads: int = 0) -> list: ...

def restore_lz4_blocks(objects: Iterable, sizes: Sequence[int], *, backend: str = 'auto', threads: int = 0) -> list: ...

def restore_lz4_blocks_into(objects: Iterable, outputs: Iterable, *, backend: str = 'auto', threads: int = 0) -> list: ...

def restore_chunks(objects: Iterable, outputs: Iterable, container: str, *, format: str = 'lz4', element_bytes: int = 1, threads: int = 0) -> list: ...

def compress_chunks(objects: Iterable, container: str, *, format: str = 'lz4', filter: str = 'none', element_bytes: int = 1, block_bytes: int = 0, level: int | None = None, acceleration: int = 0, threads: int = 0) -> list: ...

def chunk_layout(object: object, container: str, *, format: str = 'lz4', element_bytes: int = 1) -> tuple: ...

def shuffle(objects: Iterable, element_bytes: int, back: bool) -> list: ...

def bitshuffle(objects: Iterable, element_bytes: int, block_bytes: int, back: bool) -> list: ...

class CompressStream:
    def __init__(self, *, format: str = 'lz4', level: int | None = None, backend: str = 'auto', threads: int = 0, block_bytes: int = 0, content_checksum: bool = False, dictionary: object | None = None, seekable_bytes: int = 0, window_log: int = 0) -> None: ...

    def write(self, data: object, begin: int = 0, size: int = 9223372036854775807) -> bytes: ...

    def flush(self) -> bytes: ...

    def finish(self) -> bytes: ...

class RestoreStream:
    def __init__(self, *, format: str = 'auto', backend: str = 'auto', threads: int = 0, dictionary: object | None = None, window_log: int = 0) -> None: ...

    def give(self, data: object) -> None: ...

    def read_into(self, room: object) -> int: ...

    def read_all(self, more: Callable) -> bytes: ...

    @property
    def ended(self) -> bool: ...

    @property
    def has_threads(self) -> bool: ...

class DeviceContent:
    @property
    def address(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def restored_on_device(self) -> bool: ...

def load(paths: Sequence[str], *, device: int = 0, threads: int = 0, verify_checksums: bool = True, stream: int = 0) -> list[DeviceContent]: ...

def save(address: int, bytes: int, path: str, *, format: str = 'lz4', level: int | None = None, block_bytes: int = 0, threads: int = 0, stream: int = 0) -> int: ...

def dlpack_span(array: Annotated[NDArray, dict(order='C', writable=False)]) -> tuple: ...

def dlpack_capsule(address: int, shape: Sequence[int], code: int, bits: int, device: int, owner: object) -> object: ...

def device_memory(bytes: int, device: int, stream: int) -> DeviceContent: ...

def device_of(address: int) -> int: ...

def device_upload(objects: Iterable, places: Sequence[int], address: int, device: int) -> None: ...

def device_download(address: int, bytes: int, device: int, stream: int) -> bytes: ...

def device_copy(source: int, bytes: int, target: int, device: int, stream: int) -> None: ...

def device_order(before: int, device: int, stream: int) -> None: ...

def device_blocks_bound(format: str, block_bytes: int) -> int: ...

def device_blocks_compress(format: str, count: int, blocks: int, block_bytes: int, max_block_bytes: int, total_block_bytes: int, level: int, outputs: int, capacities: int, output_bytes: int, statuses: int, device: int, stream: int) -> None: ...

def device_blocks_restore(format: str, count: int, blocks: int, block_bytes: int, max_block_bytes: int, outputs: int, capacities: int, max_output_bytes: int, output_bytes: int, statuses: int, device: int, stream: int) -> None: ...

def device_frame_bound(content_bytes: int, block_bytes: int) -> int: ...

def device_frame_compress(content: int, content_bytes: int, block_bytes: int, level: int, output: int, capacity: int, output_bytes: int, status: int, device: int, stream: int) -> None: ...

def device_frame_restore(data: int, bytes: int, begin: object, output: int, capacity: int, output_bytes: int, status: int, device: int, stream: int) -> None: ...

def device_unshuffle(count: int, sources: int, sizes: int, targets: int, element_bytes: int, device: int, stream: int) -> None: ...

def device_bitunshuffle(count: int, sources: int, sizes: int, targets: int, element_bytes: int, block_bytes: int, device: int, stream: int) -> None: ...

def device_scatter(count: int, source: int, offsets: int, sizes: int, targets: int, device: int, stream: int) -> None: ...

class SearchMatch:
    """The place of a pattern in a line, and its size."""

    @property
    def position(self) -> int: ...

    @property
    def bytes(self) -> int: ...

class SearchedLine:
    """A selected line, or one beside it."""

    @property
    def number(self) -> int:
        """From 1."""

    @property
    def byte(self) -> int:
        """The place of its first byte in the text."""

    @property
    def text(self) -> bytes:
        """Without the line's end."""

    @property
    def selected(self) -> bool: ...

    @property
    def matches(self) -> list[SearchMatch]: ...

class SearchedText:
    """What was found in one text."""

    @property
    def count(self) -> int:
        """The number of selected lines."""

    @property
    def lines(self) -> list[SearchedLine]: ...

    @property
    def in_binary(self) -> bool:
        """A selected line is in the binary part; it is not in `lines`."""

    @property
    def error(self) -> str:
        """Why a file was not searched completely; empty if it was."""

class Searcher:
    """
    Fixed strings to look for, ready for many texts and any number of threads.
    """

    def __init__(self, patterns: object, *, ignore_case: bool = False, whole_words: bool = False, whole_lines: bool = False, invert: bool = False, most_lines: int | None = None, wanted: str = 'lines', binary: str = 'told', before: int = 0, after: int = 0, matches: bool = False, decompress: bool = False, backend: str = 'auto', threads: int = 0) -> None: ...

    def search_files(self, paths: Iterable) -> list[SearchedText]:
        """
        A SearchedText for each path; its `error` says why a file cannot be read.
        """

    def search(self, text: object) -> SearchedText:
        """Searches one text in memory for lines."""

    def find(self, text: object) -> tuple:
        """
        The places of patterns in a text, and their lengths: two numpy arrays, or memoryviews without numpy.
        """

def finder_names() -> list[str]: ...

def parse_names() -> list[str]: ...

def finder_preset_names() -> list[str]: ...

class Matcher:
    def __init__(self, *, finder: str = 'coop_stitch', parse: str = 'optimal', preset: str | None = None, backend: str = 'reference', device: str = '', **parameters) -> None: ...

    def find_in_blocks(self, blocks: Iterable) -> list: ...

    def find_candidates(self, data: object, history_bytes: int = 0) -> object: ...

    @property
    def parameters(self) -> dict: ...
