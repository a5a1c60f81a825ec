#include "format/zstd/stream/zstd_symbols.hpp"

#include <algorithm>

namespace hemstitch {

bool copy_zstd_symbols(const ZstdDecodedBlock& block, ZstdBlockType type, const ZstdOffsets& offsets,
                       std::uint32_t begin, std::uint64_t window_bytes, std::uint32_t* symbols) {
  const auto symbol = [](std::byte byte) { return static_cast<std::uint32_t>(byte); };
  if (type == ZstdBlockType::kRle) {
    std::fill_n(symbols, block.content_bytes, symbol(block.literals[0]));
    return true;
  }
  std::uint32_t at = 0;
  auto literal = block.literals.begin();
  for (const ZstdShortSequence& sequence : block.sequences) {
    for (std::uint32_t i = 0; i < sequence.literals; ++i) symbols[at++] = symbol(*literal++);
    const std::int64_t offset = offsets.resolved(sequence.offset);
    if (offset <= 0 || offset > std::int64_t{begin} + at || static_cast<std::uint64_t>(offset) > window_bytes)
      return false;
    for (std::uint32_t i = 0; i < sequence.match; ++i, ++at)
      symbols[at] = offset <= at ? symbols[at - offset]
                                 : kZstdMark | static_cast<std::uint32_t>(std::int64_t{begin} + at - offset);
  }
  while (literal != block.literals.end()) symbols[at++] = symbol(*literal++);
  return true;
}

void resolve_zstd_symbols(std::span<std::uint32_t> symbols, std::span<const std::byte> history,
                          std::byte* content) {
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    std::uint32_t symbol = symbols[i];
    while ((symbol & kZstdMark) != 0) {
      const std::size_t place = symbol & ~kZstdMark;
      symbol = place < history.size() ? static_cast<std::uint32_t>(history[place])
                                      : symbols[place - history.size()];
    }
    symbols[i] = symbol;
    content[i] = static_cast<std::byte>(symbol);
  }
}

}  // namespace hemstitch
