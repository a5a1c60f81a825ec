"""The keywords that many calls share, for type checkers, for inspect.signature() and for people."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any, Callable, Literal, Optional, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from typing_extensions import Buffer
else:
    Buffer = Any

CompressFormat = Literal["lz4", "gzip", "bgzf", "zlib", "deflate", "zstd"]
RestoreFormat = Literal["auto", "lz4", "gzip", "bgzf", "zlib", "deflate", "zstd"]
Backend = Literal["auto", "reproducible", "cpu", "reference", "cuda", "webgpu"]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Progress = Callable[[int, int], object]


class CompressOptions(TypedDict, total=False):
    """What compressing can be told: hemstitch.compress() says what each means."""

    format: Optional[CompressFormat]
    level: Optional[int]
    backend: Backend
    threads: int
    block_bytes: int
    acceleration: int
    linked_blocks: bool
    block_checksums: bool
    content_checksum: bool
    verify: bool
    dictionary: Optional[Buffer]
    stored_name: Union[str, bytes, None]
    stored_time: Optional[int]
    seekable_bytes: int
    window_log: int
    stored: bool
    rsyncable: bool
    legacy: bool
    memory_limit_bytes: int


class RestoreOptions(TypedDict, total=False):
    """What restoring can be told: hemstitch.restore() says what each means."""

    format: Optional[RestoreFormat]
    backend: Backend
    threads: int
    verify_checksums: bool
    dictionary: Optional[Buffer]
    accept_any_dictionary_id: bool
    window_log: int
    memory_limit_bytes: int


COMPRESS_DEFAULTS = dict(format="lz4", level=None, backend="auto", threads=0, block_bytes=0, acceleration=0, linked_blocks=False,
                         block_checksums=True, content_checksum=False, verify=False, dictionary=None, stored_name=None, stored_time=None,
                         seekable_bytes=0, window_log=0, stored=False, rsyncable=False, legacy=False, memory_limit_bytes=0)
RESTORE_DEFAULTS = dict(format="auto", backend="auto", threads=0, verify_checksums=True, dictionary=None, accept_any_dictionary_id=False,
                        window_log=0, memory_limit_bytes=0)

_F = TypeVar("_F", bound=Callable[..., Any])


def shows(*defaults: dict[str, Any], **others: Any) -> Callable[[_F], _F]:
    """Has inspect.signature() show these keywords in the place of a function's **options; `others` have another default there."""

    def decorate(function: _F) -> _F:
        shown = inspect.signature(function)
        own = [one for one in shown.parameters.values() if one.kind is not one.VAR_KEYWORD]
        # What stands in none of the options has annotations of its own.
        options = {name: value for some in defaults for name, value in some.items()}
        options.update(others)
        keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in options.items()
                    if name not in shown.parameters]
        own.sort(key=lambda one: one.kind)
        first = [one for one in own if one.kind is not one.KEYWORD_ONLY]
        last = [one for one in own if one.kind is one.KEYWORD_ONLY]
        function.__signature__ = shown.replace(parameters=first + keywords + last)  # type: ignore[attr-defined]
        return function

    return decorate
