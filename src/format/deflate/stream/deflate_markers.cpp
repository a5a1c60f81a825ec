#include "format/deflate/stream/deflate_markers.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace hemstitch {

void write_markers(std::span<std::uint16_t> window) {
  for (std::size_t i = 0; i < window.size(); ++i)
    window[i] = static_cast<std::uint16_t>(kDeflateMarker | (kDeflateWindowBytes - window.size() + i));
}

// Goes from the end to the beginning. The longer the content, the rarer markers become towards its end: a
// test that finds one finds it soon.
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
  // Looks up what each symbol means, without a branch. In the lower half of the table, only the bytes are
  // used.
  std::array<std::byte, std::size_t{2} * kDeflateWindowBytes> meanings;
  for (unsigned byte = 0; byte < 256; ++byte) meanings[byte] = static_cast<std::byte>(byte);
  std::copy(window.begin(), window.end(), meanings.end() - static_cast<std::ptrdiff_t>(window.size()));
  // The bytes may overwrite symbols that were already read. memcpy is needed, since the two are different
  // objects.
  const auto* read = reinterpret_cast<const std::byte*>(symbols);
  constexpr std::size_t kAtOnce = 32;
  for (; count >= kAtOnce; count -= kAtOnce) {
    std::uint16_t some[kAtOnce];
    std::memcpy(some, read, sizeof some);
    std::byte narrow[kAtOnce];
    for (std::size_t j = 0; j < kAtOnce; ++j) narrow[j] = meanings[some[j]];
    std::memcpy(bytes, narrow, sizeof narrow);
    read += sizeof some;
    bytes += kAtOnce;
  }
  for (std::size_t i = 0; i < count % kAtOnce; ++i) {
    std::uint16_t symbol;
    std::memcpy(&symbol, read + sizeof symbol * i, sizeof symbol);
    bytes[i] = meanings[symbol];
  }
}

}  // namespace hemstitch
