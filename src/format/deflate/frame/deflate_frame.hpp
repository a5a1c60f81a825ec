// What the readers of gzip and zlib share.
#pragma once

#include <cstddef>

namespace hemstitch {

// The only method of compression in RFC 1950 and RFC 1952.
inline constexpr unsigned kDeflateMethod = 8;

// The size of the pieces in which a stream's content and data are passed on: they fit into a core's cache,
// and passing one on costs almost nothing.
inline constexpr std::size_t kDeflatePieceBytes = std::size_t{256} << 10;

}  // namespace hemstitch
