#include <algorithm>

#include "compact/bitshuffle/bitshuffle.hpp"

namespace hemstitch {
namespace {

// Calls visit(byte and bit among the elements, byte and bit among the planes) for every bit that moves.
template <class Visit>
void for_each_bit(std::size_t bytes, std::uint32_t element_bytes, std::size_t block_bytes,
                  const Visit& visit) {
  const std::size_t group_bytes = std::size_t{kBitshuffleElements} * element_bytes;
  const std::size_t moved = bytes / group_bytes * group_bytes;
  if (block_bytes == 0) block_bytes = moved;
  for (std::size_t block = 0; block < moved; block += block_bytes) {
    const std::size_t elements = std::min(block_bytes, moved - block) / element_bytes;
    for (std::size_t plane = 0; plane < std::size_t{8} * element_bytes; ++plane)
      for (std::size_t i = 0; i < elements; ++i)
        visit(block + i * element_bytes + plane / 8, plane % 8, block + plane * (elements / 8) + i / 8,
              i % 8);
  }
}

void copy_bit(std::span<const std::byte> from, std::size_t from_byte, std::size_t from_bit,
              std::span<std::byte> to, std::size_t to_byte, std::size_t to_bit) {
  to[to_byte] |= (from[from_byte] >> from_bit & std::byte{1}) << to_bit;
}

// Zeros where bits are put in, and the rest.
void begin(std::span<const std::byte> source, std::uint32_t element_bytes, std::span<std::byte> target) {
  const std::size_t left = source.size() % (std::size_t{kBitshuffleElements} * element_bytes);
  std::fill(target.begin(), target.end() - static_cast<std::ptrdiff_t>(left), std::byte{0});
  std::copy(source.end() - static_cast<std::ptrdiff_t>(left), source.end(),
            target.end() - static_cast<std::ptrdiff_t>(left));
}

}  // namespace

void bitshuffle_reference(std::span<const std::byte> source, std::uint32_t element_bytes,
                          std::size_t block_bytes, std::span<std::byte> target) {
  begin(source, element_bytes, target);
  for_each_bit(
      source.size(), element_bytes, block_bytes,
      [&](std::size_t element_byte, std::size_t element_bit, std::size_t plane_byte, std::size_t plane_bit) {
        copy_bit(source, element_byte, element_bit, target, plane_byte, plane_bit);
      });
}

void bitunshuffle_reference(std::span<const std::byte> source, std::uint32_t element_bytes,
                            std::size_t block_bytes, std::span<std::byte> target) {
  begin(source, element_bytes, target);
  for_each_bit(
      source.size(), element_bytes, block_bytes,
      [&](std::size_t element_byte, std::size_t element_bit, std::size_t plane_byte, std::size_t plane_bit) {
        copy_bit(source, plane_byte, plane_bit, target, element_byte, element_bit);
      });
}

}  // namespace hemstitch
