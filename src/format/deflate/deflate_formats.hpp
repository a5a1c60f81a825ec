// The formats whose blocks are DEFLATE (RFC 1951): gzip (RFC 1952), BGZF (section 4.1 of the SAM specification), zlib
// (RFC 1950), and DEFLATE alone. docs/formats/deflate.md tells what is relied on.
#pragma once

#include <memory>
#include <vector>

#include "format/format.hpp"

namespace hemstitch {

// Whether a format's blocks are DEFLATE.
constexpr bool is_deflate(Format format) {
  return format == Format::kGzip || format == Format::kBgzf || format == Format::kZlib ||
         format == Format::kDeflate;
}

// In the order in which they are asked whether data is theirs.
std::vector<std::unique_ptr<FrameFormat>> make_deflate_formats();

}  // namespace hemstitch
