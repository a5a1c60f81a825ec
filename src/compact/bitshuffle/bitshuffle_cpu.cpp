#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compact/bitshuffle/bit_planes.hpp"
#include "compact/bitshuffle/bitshuffle.hpp"
#include "core/overlap.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

void check_bit_buffers(const char* function, std::span<const std::byte> source, std::uint32_t element_bytes,
                       std::size_t block_bytes, std::span<const std::byte> target) {
  check_bitshuffle_blocks(element_bytes, block_bytes);
  if (source.size() != target.size())
    throw Error(Status::kInvalidOption,
                fmt::format("{}: a source of {} bytes and a target of {}; give both the same size", function,
                            source.size(), target.size()));
  refuse_overlap(source, target, "the target", "the source");
}

// Calls move(where it is, how many elements) for every block, and copies the rest.
template <class Move>
void for_each_block(std::span<const std::byte> source, std::uint32_t element_bytes, std::size_t block_bytes,
                    std::span<std::byte> target, const Move& move) {
  const std::size_t left = source.size() % (std::size_t{kBitshuffleElements} * element_bytes);
  const std::size_t moved = source.size() - left;
  if (block_bytes == 0) block_bytes = moved;
  for (std::size_t at = 0; at < moved;) {
    const std::size_t bytes = std::min(block_bytes, moved - at);
    move(at, bytes / element_bytes);
    at += bytes;
  }
  if (left != 0) std::memcpy(target.data() + moved, source.data() + moved, left);
}

}  // namespace

void check_bitshuffle_blocks(std::uint32_t element_bytes, std::size_t block_bytes) {
  check_element_bytes(element_bytes);
  if (block_bytes % (std::size_t{kBitshuffleElements} * element_bytes) != 0)
    throw Error(
        Status::kInvalidOption,
        fmt::format("block_bytes is {}; give a multiple of {} elements, here {} bytes, or 0 for one block",
                    block_bytes, kBitshuffleElements, kBitshuffleElements * element_bytes));
}

void bitshuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes, std::size_t block_bytes,
                      std::span<std::byte> target) {
  check_bit_buffers("bitshuffle", source, element_bytes, block_bytes, target);
  for_each_block(source, element_bytes, block_bytes, target, [&](std::size_t at, std::size_t count) {
    split_bit_planes(source.data() + at, element_bytes, count, target.data() + at);
  });
}

void bitunshuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                        std::size_t block_bytes, std::span<std::byte> target) {
  check_bit_buffers("bitunshuffle", source, element_bytes, block_bytes, target);
  for_each_block(source, element_bytes, block_bytes, target, [&](std::size_t at, std::size_t count) {
    join_bit_planes(source.data() + at, element_bytes, count, target.data() + at);
  });
}

}  // namespace hemstitch
