// What the readers of gzip and zlib share.
#pragma once

#include <cstddef>

namespace hemstitch {

// The one method of compression that RFC 1950 and RFC 1952 know.
inline constexpr unsigned kDeflateMethod = 8;

// A stream's content and data travel in pieces of so much: they stay in a core's cache, and handing one over costs nothing beside it.
inline constexpr std::size_t kDeflatePieceBytes = std::size_t{256} << 10;

}  // namespace hemstitch
