// Content whose window is not known yet. Who enters a stream in the middle lacks the 32 KB before that place,
// which matches repeat. So content is restored to symbols of 16 bits: a byte, or a marker, which names a byte
// of the window. Matches repeat both alike. Once the window is known, markers become bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

// A marker is this plus the place in the window; the oldest byte has place 0.
inline constexpr std::uint16_t kDeflateMarker = 0x8000;
static_assert(kDeflateWindowBytes == kDeflateMarker);

// A window of markers only, for content that is restored without a window.
void write_markers(std::span<std::uint16_t> window);

// Whether there is no marker among them.
bool all_bytes(std::span<const std::uint16_t> symbols);
// The oldest place in the window that a marker names; kDeflateWindowBytes if there is no marker.
std::uint32_t oldest_marker(std::span<const std::uint16_t> symbols);

// Turns symbols into bytes. `window` is the last part of the window, at most 32 KB; no marker may be older.
// `bytes` has room for as many as there are symbols, and may begin where these do.
void resolve_markers(const std::uint16_t* symbols, std::size_t count, std::span<const std::byte> window,
                     std::byte* bytes);

}  // namespace hemstitch
