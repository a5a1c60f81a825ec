"""Fixed strings in texts and files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Literal, Optional, TypedDict, Union

from . import _core
from ._core import SearchedLine, SearchedText, SearchMatch
from ._options import Backend, Path, shows

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

Patterns = Union[str, bytes, Iterable[Union[str, bytes]]]
_DEFAULTS = dict(ignore_case=False, whole_words=False, whole_lines=False, invert=False, most_lines=None, wanted="lines", binary="told", before=0, after=0,
                 matches=False, decompress=False, backend="auto", threads=0)


class SearchOptions(TypedDict, total=False):
    """What a search can be told: Searcher says what each means."""

    ignore_case: bool
    whole_words: bool
    whole_lines: bool
    invert: bool
    most_lines: Optional[int]
    wanted: Literal["lines", "count", "whether"]
    binary: Literal["told", "text", "no-match"]
    before: int
    after: int
    matches: bool
    decompress: bool
    backend: Backend
    threads: int


class Searcher:
    """Fixed strings to look for, ready for many texts and any number of threads. `patterns` is text or bytes, or a list of them.

    ignore_case, whole_words, whole_lines, invert: as grep's -i, -w, -x and -v.
    most_lines: lines after which a text is left, as -m.
    wanted: "lines", "count" (of lines), or "whether" there is one.
    binary: of a text with zero bytes "told" says that lines match, "text" gives them, "no-match" finds none.
    before, after: how many lines around each selected one are given, as -B and -A.
    matches: each line tells the places of the patterns in it.
    decompress: compressed files are searched for what they hold."""

    @shows(_DEFAULTS)
    def __init__(self, patterns: Patterns, **options: Unpack[SearchOptions]) -> None:
        self._searcher = _core.Searcher(patterns, **options)

    def search_files(self, paths: Iterable[Path]) -> list[SearchedText]:
        """A SearchedText for each path; its `error` says why a file cannot be read."""
        return self._searcher.search_files(paths)

    def search(self, text: Buffer) -> SearchedText:
        """Searches one text in memory for lines."""
        return self._searcher.search(text)

    def find(self, text: Buffer) -> tuple[Any, Any]:
        """The places of patterns in a text, and their lengths: two numpy arrays, or memoryviews without numpy."""
        return self._searcher.find(text)


@shows(_DEFAULTS)
def search(patterns: Patterns, paths: Union[Path, Iterable[Path]], **options: Unpack[SearchOptions]) -> list[SearchedText]:
    """Finds in files what grep -F finds. Returns a SearchedText for each path. `patterns` and options are those of Searcher."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    return Searcher(patterns, **options).search_files(paths)
