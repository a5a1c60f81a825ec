#include <fmt/format.h>

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
  bitshuffle_reference(source, element_bytes, block_bytes, target);
}

void bitunshuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                        std::size_t block_bytes, std::span<std::byte> target) {
  check_bit_buffers("bitunshuffle", source, element_bytes, block_bytes, target);
  bitunshuffle_reference(source, element_bytes, block_bytes, target);
}

}  // namespace hemstitch
