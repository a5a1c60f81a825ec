// Content whose window is not known yet. Whoever enters a stream in its middle lacks the 32 KB before that place, which matches repeat. So
// content is restored to symbols of 16 bits: a byte, or a marker, which says which byte of the window stands here. Matches repeat both
// alike. Once the window is known, markers become bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

// A marker is this and the place in the window, of which the oldest byte is 0.
inline constexpr std::uint16_t kDeflateMarker = 0x8000;
static_assert(kDeflateWindowBytes == kDeflateMarker);

// A window of markers alone, as it stands before content that is restored without one.
void write_markers(std::span<std::uint16_t> window);

// Whether none of them is a marker.
bool all_bytes(std::span<const std::uint16_t> symbols);
// The oldest place in the window that one of them means; kDeflateWindowBytes where there is no marker.
std::uint32_t oldest_marker(std::span<const std::uint16_t> symbols);

// The bytes of the symbols. `window` is the last part of the window, of at most 32 KB; no marker is older than that. `bytes` has as much room as
// there are symbols, and may begin where these do.
void resolve_markers(const std::uint16_t* symbols, std::size_t count, std::span<const std::byte> window,
                     std::byte* bytes);

}  // namespace hemstitch
