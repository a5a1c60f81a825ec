// Skippable frames, which may stand before and between frames.
#pragma once

#include "core/bytes.hpp"
#include "format/skippable_frame.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// `kind`, up to 15, is the last digit of the magic number.
inline Bytes skippable_frame(std::size_t bytes, std::uint32_t kind = 5) {
  Bytes frame(kSkippableMagicBytes + kSkippableSizeBytes + bytes, std::byte{0xEE});
  store_le32(frame.data(), kSkippableMagic + kind);
  store_le32(frame.data() + kSkippableMagicBytes, static_cast<std::uint32_t>(bytes));
  return frame;
}

}  // namespace hemstitch::testing
