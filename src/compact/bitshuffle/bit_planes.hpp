// One block of bitshuffle on the processor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hemstitch {

// `count` elements, a multiple of 8, to planes of their bits, and back. The two do not overlap.
void split_bit_planes(const std::byte* elements, std::uint32_t element_bytes, std::size_t count,
                      std::byte* planes);
void join_bit_planes(const std::byte* planes, std::uint32_t element_bytes, std::size_t count,
                     std::byte* elements);

}  // namespace hemstitch
