// Writes legacy frames of LZ4 (CompressOptions::legacy).
#pragma once

#include <memory>

#include "format/frame_writer.hpp"

namespace hemstitch {

std::unique_ptr<FrameWriter> make_lz4_legacy_writer();

}  // namespace hemstitch
