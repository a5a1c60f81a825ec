// The formats whose blocks are DEFLATE (RFC 1951): gzip (RFC 1952), BGZF (section 4.1 of the SAM specification), zlib
// (RFC 1950), and DEFLATE alone. docs/formats/deflate.md tells what is relied on.
#pragma once

#include <memory>
#include <vector>

#include "format/deflate/compress/deflate_end.hpp"
#include "format/format.hpp"

namespace hemstitch {

// Whether a format's blocks are DEFLATE.
constexpr bool is_deflate(Format format) {
  return format == Format::kGzip || format == Format::kBgzf || format == Format::kZlib ||
         format == Format::kDeflate;
}

// How the blocks of their frames end. Every block of BGZF is a member of its own; those of other formats are parts of one stream.
constexpr DeflateEnd deflate_end_of_blocks(Format format) {
  return format == Format::kBgzf ? DeflateEnd::kFinal : DeflateEnd::kFlush;
}

// In the order in which they are asked whether data is theirs.
std::vector<std::unique_ptr<FrameFormat>> make_deflate_formats();

}  // namespace hemstitch
