// LZ4 blocks on the processor.
#pragma once

#include <memory>

#include "format/codec.hpp"

namespace hemstitch {

// liblz4 compresses: its fast compressor at levels 1 and 2, its HC compressor at levels 3 to 12.
std::unique_ptr<Codec> make_lz4_codec();
// The twins. `acceleration` is without effect here: level 1 is the fastest.
std::unique_ptr<Codec> make_lz4_reference_codec();

}  // namespace hemstitch
