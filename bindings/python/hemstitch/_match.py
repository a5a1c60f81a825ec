"""Match finding without an encoder, for users with their own encoder and for studying finders."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Iterable, Union

from . import _core

if TYPE_CHECKING:
    from typing_extensions import Buffer

#: numpy's dtype of a match: `length` bytes at `position` that also stand `offset` bytes earlier.
MATCH = [("position", "<u8"), ("offset", "<u4"), ("length", "<u4")]
_STRUCT = struct.Struct("<QII")


class Matcher(_core.Matcher):
    """Finds matches in buffers. Keywords: finder, parse, preset, backend ("reference", "cuda", "webgpu"), device, and the numbers of
    FinderParameters in match.hpp (min_match_len, window_size, ..). Any number of threads may use one Matcher."""

    def __init__(self, **parameters: Union[str, int, bool, None]) -> None:
        super().__init__(**parameters)
        self._named = parameters

    def __repr__(self) -> str:
        return f"hemstitch.Matcher({', '.join(f'{name}={value!r}' for name, value in self._named.items())})"

    def find(self, data: Buffer) -> Any:
        """The matches that the parse chose, in order, as a numpy array of MATCH. The bytes between them are literals. Without numpy: a list of
        tuples (position, offset, length)."""
        return self.find_many([data])[0]

    def find_many(self, blocks: Iterable[Buffer]) -> list[Any]:
        """An array for each block, all of them in one call."""
        return [list(_STRUCT.iter_unpack(found)) if isinstance(found, memoryview) else found.view(MATCH) for found in self.find_in_blocks(blocks)]

    def candidates(self, data: Buffer, history_bytes: int = 0) -> Any:
        """For each byte after the history: offset << 16 | length of its best match, or 0, as a numpy array of uint32, or a memoryview
        without numpy."""
        return self.find_candidates(data, history_bytes)


def evaluate(data: Buffer, **parameters: Union[str, int, bool, None]) -> dict[str, Any]:
    """How well a finder does on `data`: matches, bytes in matches and in literals, and the parse's estimate of the total cost in bits
    (literal_cost for a literal, match_fixed_cost for a match). Keywords are Matcher's."""
    matcher = Matcher(**parameters)
    found = matcher.find(data)
    with memoryview(data) as view:
        size = view.nbytes
    matched = sum(length for _, _, length in found) if isinstance(found, list) else int(found["length"].sum())
    bits = (size - matched) * matcher.parameters["literal_cost"] + len(found) * matcher.parameters["match_fixed_cost"]
    return {
        "bytes": size,
        "matches": len(found),
        "matched_bytes": matched,
        "literal_bytes": size - matched,
        "bits": bits,
        "ratio": size * 8 / bits if bits else None,
    }


def finder_names() -> list[str]:
    """Names that Matcher(finder=..) takes."""
    return _core.finder_names()


def parse_names() -> list[str]:
    """Names that Matcher(parse=..) takes."""
    return _core.parse_names()


def preset_names() -> list[str]:
    """Names that Matcher(preset=..) takes."""
    return _core.finder_preset_names()
