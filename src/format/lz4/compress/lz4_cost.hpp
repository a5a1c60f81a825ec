// What literals and matches cost in an LZ4 block: whole bytes, so the model is exact except for one thing.
//
// A literal is a byte. A match brings a token, an offset of two bytes and the extension bytes of its length.
// The extension bytes of *literal runs* are priced 0: they depend on how many literals came before, which a
// cost from here on cannot know, and they are one byte in a run of 15 to 269. Lengths tried beside the full
// one: one to three bytes less, since a following match may begin there, and 18, the longest that needs no
// extension byte.
#pragma once

#include <cstdint>

#include "core/cost_model.hpp"
#include "core/host_device.hpp"
#include "core/match.hpp"
#include "format/lz4/block/lz4_token.hpp"

namespace hemstitch {

struct Lz4CostModel {
  static constexpr std::uint32_t kUnitsPerByte = 8 * kCostUnitsPerBit;
  static constexpr unsigned kShorterLengthCount = 3;

  HEMSTITCH_HOST_DEVICE constexpr std::uint32_t literal_cost() const { return kUnitsPerByte; }
  HEMSTITCH_HOST_DEVICE constexpr std::uint32_t match_cost(std::uint32_t length) const {
    // lz4_extension_bytes(length - kLz4MinMatchBytes) without a branch or a division, since a device needs it for five lengths a
    // position: x / 255 is x * 32897 >> 23 as long as x < 66052.
    static_assert(kMaxRecordLength - kLz4MinMatchBytes + 255 - kLz4NibbleMax < 66052);
    const std::uint32_t extension_bytes = (length - kLz4MinMatchBytes + 255 - kLz4NibbleMax) * 32897 >> 23;
    return (1 + kLz4OffsetBytes + extension_bytes) * kUnitsPerByte;
  }

  HEMSTITCH_HOST_DEVICE constexpr unsigned tried_length_count() const { return 1 + kShorterLengthCount + 1; }
  HEMSTITCH_HOST_DEVICE constexpr std::uint32_t tried_length(std::uint32_t full_length,
                                                             unsigned index) const {
    if (index <= kShorterLengthCount) return full_length > index ? full_length - index : 0;
    return full_length > kLz4LongestInToken ? kLz4LongestInToken : 0;
  }
};

}  // namespace hemstitch
