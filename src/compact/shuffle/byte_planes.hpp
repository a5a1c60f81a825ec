// Elements to planes of their bytes and back on the processor, for shuffle and as the first step of bitshuffle.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hemstitch {

// Byte k of element i goes from elements[i * element_bytes + k] to planes[k * plane_step + i], for `count` elements;
// join_planes() goes back. Nothing else is read or written. The two do not overlap.
void split_planes(const std::byte* elements, std::uint32_t element_bytes, std::size_t count,
                  std::byte* planes, std::size_t plane_step);
void join_planes(const std::byte* planes, std::size_t plane_step, std::uint32_t element_bytes,
                 std::size_t count, std::byte* elements);

// The same as plain loops, their twins.
void split_planes_reference(const std::byte* elements, std::uint32_t element_bytes, std::size_t count,
                            std::byte* planes, std::size_t plane_step);
void join_planes_reference(const std::byte* planes, std::size_t plane_step, std::uint32_t element_bytes,
                           std::size_t count, std::byte* elements);

}  // namespace hemstitch
