// The bytes of one LZ4 sequence, each on its own: for encoders that write many sequences at once.
//
//   token, extension of the literal count, literals, offset (2), extension of the match length
//
// The last sequence of a block ends after its literals. lz4_encode_reference.cpp writes the same bytes in order.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "core/sequence.hpp"
#include "format/lz4/block/lz4_token.hpp"

namespace hemstitch {

// Whether `next` only continues the match of `before`, the sequence ahead of it, and so is written as part of it
// (lz4_encode.hpp, "Joining"). The last sequence, which has no offset, never does.
HEMSTITCH_HOST_DEVICE constexpr bool goes_on(const Sequence& next, std::uint32_t offset_before) {
  return next.literal_count == 0 && next.offset == offset_before && next.match_length != 0;
}

// `match_length` is 0 for the last sequence.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t lz4_token(std::uint32_t literal_count,
                                                        std::uint32_t match_length) {
  const std::uint32_t length_code = match_length == 0 ? 0 : match_length - kLz4MinMatchBytes;
  const std::uint32_t high = literal_count < kLz4NibbleMax ? literal_count : kLz4NibbleMax;
  const std::uint32_t low = length_code < kLz4NibbleMax ? length_code : kLz4NibbleMax;
  return high << 4 | low;
}

// Calls put(i, byte) for the bytes before the literals; i counts from 0. Returns how many there are.
template <class Put>
HEMSTITCH_HOST_DEVICE std::uint32_t put_lz4_head(std::uint32_t literal_count, std::uint32_t match_length,
                                                 const Put& put) {
  put(0u, lz4_token(literal_count, match_length));
  const std::uint32_t extension_bytes = lz4_extension_bytes(literal_count);
  std::uint32_t rest = literal_count - kLz4NibbleMax;
  for (std::uint32_t i = 1; i <= extension_bytes; ++i, rest -= 255) put(i, rest < 255 ? rest : 255u);
  return 1 + extension_bytes;
}

// The same for the bytes after the literals.
template <class Put>
HEMSTITCH_HOST_DEVICE std::uint32_t put_lz4_tail(std::uint32_t offset, std::uint32_t match_length,
                                                 const Put& put) {
  if (match_length == 0) return 0;
  put(0u, offset & 0xFF);
  put(1u, offset >> 8);
  const std::uint32_t length_code = match_length - kLz4MinMatchBytes;
  const std::uint32_t extension_bytes = lz4_extension_bytes(length_code);
  std::uint32_t rest = length_code - kLz4NibbleMax;
  for (std::uint32_t i = 0; i < extension_bytes; ++i, rest -= 255)
    put(kLz4OffsetBytes + i, rest < 255 ? rest : 255u);
  return kLz4OffsetBytes + extension_bytes;
}

}  // namespace hemstitch
