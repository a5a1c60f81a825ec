// The formats with DEFLATE blocks (RFC 1951): gzip (RFC 1952), BGZF (section 4.1 of the SAM specification),
// zlib (RFC 1950), and raw DEFLATE. docs/formats/deflate.md says what we rely on.
#pragma once

#include <memory>
#include <vector>

#include "format/deflate/compress/pack/deflate_end.hpp"
#include "format/format.hpp"

namespace hemstitch {

// Whether a format's blocks are DEFLATE.
constexpr bool is_deflate(Format format) {
  return format == Format::kGzip || format == Format::kBgzf || format == Format::kZlib ||
         format == Format::kDeflate;
}

// How the blocks of its frames end. Every block of BGZF is a member of its own; those of other formats are
// parts of one stream.
constexpr DeflateEnd deflate_end_of_blocks(Format format) {
  return format == Format::kBgzf ? DeflateEnd::kFinal : DeflateEnd::kFlush;
}

// In the order in which data is tested for them.
std::vector<std::unique_ptr<FrameFormat>> make_deflate_frame_formats();

}  // namespace hemstitch
