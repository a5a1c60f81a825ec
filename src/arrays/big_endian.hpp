// Big-endian numbers of 1 to 8 bytes, as HDF5's filters and msgpack have them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hemstitch {

constexpr std::uint64_t load_big_endian(const std::byte* at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<std::uint64_t>(at[i]);
  return value;
}

}  // namespace hemstitch
