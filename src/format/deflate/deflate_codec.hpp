// DEFLATE blocks and streams on the processor.
#pragma once

#include <memory>

#include "format/codec.hpp"

namespace hemstitch {

// For one of the formats with DEFLATE blocks. The library of each level compresses
// (compress/deflate_compress_cpu.hpp), and our own decoder restores.
std::unique_ptr<Codec> make_deflate_codec(Format format);
// The twins. Its decoders have no points.
std::unique_ptr<Codec> make_deflate_reference_codec(Format format);

}  // namespace hemstitch
