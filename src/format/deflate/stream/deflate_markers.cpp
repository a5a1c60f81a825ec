#include "format/deflate/stream/deflate_markers.hpp"

#include <algorithm>
#include <cstring>

namespace hemstitch {

void write_markers(std::span<std::uint16_t> window) {
  for (std::size_t i = 0; i < window.size(); ++i)
    window[i] = static_cast<std::uint16_t>(kDeflateMarker | (kDeflateWindowBytes - window.size() + i));
}

// From the end on, where markers are rarer the longer the content: those that find one find it soon, or nowhere.
bool all_bytes(std::span<const std::uint16_t> symbols) {
  constexpr std::size_t kAtOnce = 1024;
  while (!symbols.empty()) {
    const auto last = symbols.last(std::min(symbols.size(), kAtOnce));
    std::uint16_t any = 0;
    for (const std::uint16_t symbol : last) any = static_cast<std::uint16_t>(any | symbol);
    if ((any & kDeflateMarker) != 0) return false;
    symbols = symbols.first(symbols.size() - last.size());
  }
  return true;
}

std::uint32_t oldest_marker(std::span<const std::uint16_t> symbols) {
  std::uint32_t oldest = kDeflateWindowBytes;
  for (const std::uint16_t symbol : symbols)
    oldest = std::min(
        oldest, (symbol & kDeflateMarker) != 0 ? symbol & (kDeflateWindowBytes - 1) : kDeflateWindowBytes);
  return oldest;
}

void resolve_markers(const std::uint16_t* symbols, std::size_t count, std::span<const std::byte> window,
                     std::byte* bytes) {
  // Bytes may be written over symbols that were read: through memcpy, since those are other objects.
  const auto* const read = reinterpret_cast<const std::byte*>(symbols);
  const std::size_t unknown = kDeflateWindowBytes - window.size();
  const auto resolved = [&](std::uint16_t symbol) {
    return (symbol & kDeflateMarker) != 0 ? window[(symbol & (kDeflateWindowBytes - 1)) - unknown]
                                          : static_cast<std::byte>(symbol);
  };
  constexpr std::size_t kAtOnce = 16;
  std::size_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    std::uint16_t some[kAtOnce];
    std::memcpy(some, read + 2 * i, sizeof some);
    std::uint16_t any = 0;
    for (const std::uint16_t symbol : some) any = static_cast<std::uint16_t>(any | symbol);
    if ((any & kDeflateMarker) == 0) {
      std::byte narrow[kAtOnce];
      for (std::size_t j = 0; j < kAtOnce; ++j) narrow[j] = static_cast<std::byte>(some[j]);
      std::memcpy(bytes + i, narrow, sizeof narrow);
    } else {
      for (std::size_t j = 0; j < kAtOnce; ++j) bytes[i + j] = resolved(some[j]);
    }
  }
  for (; i < count; ++i) {
    std::uint16_t symbol;
    std::memcpy(&symbol, read + 2 * i, sizeof symbol);
    bytes[i] = resolved(symbol);
  }
}

}  // namespace hemstitch
