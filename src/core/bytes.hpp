// Little-endian integers at any alignment, as all our formats store them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t load_le32(const std::byte* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

HEMSTITCH_HOST_DEVICE constexpr std::uint64_t load_le64(const std::byte* bytes) {
  return load_le32(bytes) | static_cast<std::uint64_t>(load_le32(bytes + 4)) << 32;
}

HEMSTITCH_HOST_DEVICE constexpr void store_le32(std::byte* bytes, std::uint32_t value) {
  for (int i = 0; i < 4; i++) bytes[i] = static_cast<std::byte>(value >> (8 * i));
}

HEMSTITCH_HOST_DEVICE constexpr void store_le64(std::byte* bytes, std::uint64_t value) {
  store_le32(bytes, static_cast<std::uint32_t>(value));
  store_le32(bytes + 4, static_cast<std::uint32_t>(value >> 32));
}

}  // namespace hemstitch
