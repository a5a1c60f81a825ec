#include "format/lz4/block/lz4_block_size.hpp"

namespace hemstitch {
namespace {

// Adds the extension of a length: bytes up to and including the first that is not 255. False if the block
// ends inside it.
bool add_extension(std::span<const std::byte> block, std::size_t& at, std::uint64_t& length) {
  while (at < block.size()) {
    const auto byte = static_cast<std::uint8_t>(block[at++]);
    length += byte;
    if (byte != 255) return true;
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> lz4_block_restored_bytes(std::span<const std::byte> block) {
  constexpr std::uint64_t kExtended = 15;
  constexpr std::uint64_t kMinMatch = 4;
  constexpr std::size_t kOffsetBytes = 2;
  std::uint64_t restored = 0;
  std::size_t at = 0;
  while (at < block.size()) {
    const auto token = static_cast<std::uint8_t>(block[at++]);

    std::uint64_t literals = token >> 4;
    if (literals == kExtended && !add_extension(block, at, literals)) return std::nullopt;
    if (literals > block.size() - at) return std::nullopt;
    at += literals;
    restored += literals;
    if (at == block.size()) return restored;  // the last sequence has no match

    if (block.size() - at < kOffsetBytes) return std::nullopt;
    at += kOffsetBytes;
    std::uint64_t match = token & 15;
    if (match == kExtended && !add_extension(block, at, match)) return std::nullopt;
    restored += match + kMinMatch;
  }
  return std::nullopt;  // empty, or ended after a match
}

}  // namespace hemstitch
