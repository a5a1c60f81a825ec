// Writes legacy frames of LZ4 (CompressOptions::legacy).
#pragma once

#include <memory>

#include "format/frame_writer.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// Throws kInvalidOption for options that such frames do not have.
std::unique_ptr<FrameWriter> make_lz4_legacy_writer(const CompressOptions& options);

}  // namespace hemstitch
