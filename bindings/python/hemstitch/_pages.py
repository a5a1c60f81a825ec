"""Pages that are kept compressed in memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Optional, Union, overload

from . import _core

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ._options import Backend, Path


class PageStore:
    """Pages by number, compressed in memory, as in pages.hpp: put, get and discard each, or many at once.

    page_bytes: the size of every page, a power of two from 4096 to 65536.
    page_count: numbers are below it, at most 2**32; 0 for any numbers of up to 64 bits.
    budget_bytes: limits all memory of the store; a page that finds no room is hemstitch.Error with Status.MEMORY_LIMIT. 0 for no limit.
    checksums: each page has one, which get() verifies.
    lock_memory: keep the pages out of swap.
    prefault: take the whole budget from the system at once.
    level: 1 to 12; None for 1.
    backend, device, threads: of put_many() and get_many().

    Any number of threads may use one store at once, and the GIL is free meanwhile. A page is put, replaced and read as a whole. A child of
    fork() cannot use its parent's stores.
    """

    def __init__(self, *, page_bytes: int = 4096, page_count: int = 0, budget_bytes: int = 0, checksums: bool = False, lock_memory: bool = False,
                 prefault: bool = False, level: Optional[int] = None, backend: Backend = "auto", device: str = "", threads: int = 0) -> None:
        self._store = _core.PageStore(page_bytes=page_bytes, page_count=page_count, budget_bytes=budget_bytes, checksums=checksums,
                                      lock_memory=lock_memory, prefault=prefault, level=level, backend=backend, device=device, threads=threads)

    def __repr__(self) -> str:
        kept = self._store.statistics()
        return f"<hemstitch.PageStore: {kept['pages']} pages of {self.page_bytes} bytes in {kept['memory_bytes']} bytes>"

    @property
    def page_bytes(self) -> int:
        """The size of every page."""
        return self._store.page_bytes

    def __len__(self) -> int:
        return int(self._store.statistics()["pages"])

    def __contains__(self, number: int) -> bool:
        return self._store.contains(number)

    def put(self, number: int, page: Buffer) -> None:
        """Keeps a page of page_bytes bytes, in the place of an older one of that number. After an error the older one is there."""
        self._store.put(number, page)

    @overload
    def get(self, number: int) -> Optional[bytes]: ...
    @overload
    def get(self, number: int, *, out: Buffer) -> bool: ...
    def get(self, number: int, *, out: Any = None) -> Union[bytes, bool, None]:
        """The page, or None if there is none. With `out`, a writable buffer of page_bytes bytes: whether there was one, which is then in it."""
        return self._store.get(number) if out is None else self._store.get_into(number, out)

    def discard(self, number: int) -> bool:
        """Drops a page; whether there was one."""
        return self._store.discard(number)

    def discard_range(self, first: int, count: int) -> int:
        """Drops the pages with `count` numbers from `first` on; how many there were."""
        return self._store.discard_range(first, count)

    def put_many(self, numbers: Iterable[int], pages: Buffer) -> None:
        """Keeps many pages, one after the other in `pages`, compressed as one batch."""
        self._store.put_many(list(numbers), pages)

    @overload
    def get_many(self, numbers: Iterable[int]) -> bytes: ...
    @overload
    def get_many(self, numbers: Iterable[int], *, out: Buffer) -> int: ...
    def get_many(self, numbers: Iterable[int], *, out: Any = None) -> Union[bytes, int]:
        """Many pages, one after the other; of those that are missing, zeros. With `out`, a writable buffer: how many pages there were."""
        return self._store.get_many(list(numbers)) if out is None else self._store.get_many_into(list(numbers), out)

    def numbers(self) -> list[int]:
        """Those of all pages, in ascending order."""
        return self._store.numbers()

    def statistics(self) -> dict[str, int]:
        """What the store holds and has done; pages.hpp explains each word."""
        return self._store.statistics()

    def compact(self) -> None:
        """Moves pages together now, and gives memory back to the system."""
        self._store.compact()

    def save(self, path: Path) -> None:
        """Writes all pages to a file, which any LZ4 tool restores. It gets its name when it is complete and on the disk."""
        self._store.save(os.fsdecode(path))

    def load(self, path: Path) -> None:
        """Puts the pages of such a file."""
        self._store.load(os.fsdecode(path))
