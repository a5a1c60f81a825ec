// Where the members of a BGZF file begin, in the file and in the content: the index that bgzip writes beside
// a file (.gzi).
//
//   .gzi:  how many members but the first, 8 bytes | for each: where it begins in the file, 8 bytes | and in the content, 8 bytes
//
// Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/source.hpp"

namespace hemstitch {

struct BgzfPlace {
  std::uint64_t at = 0;          // in the file
  std::uint64_t content_at = 0;  // in the content
};

// Without the first member, whose places are 0 and 0. Nothing if these bytes are not such an index: the size
// is wrong, or places are out of order.
std::optional<std::vector<BgzfPlace>> read_gzi(std::span<const std::byte> bytes);

// How much content the next `bytes` bytes of a source hold; they must begin and end at members. Throws Error
// as FrameReader does, and kRangeOutsideContent if no member begins after them.
std::uint64_t bgzf_content_bytes(Source& source, std::uint64_t bytes);

}  // namespace hemstitch
