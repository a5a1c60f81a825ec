// Writes frames of Zstandard: one header, the blocks of all parts, an empty last block, the content's checksum. Or
// seekable files: a frame for each part, and the seek table (zstd_places.hpp).
#pragma once

#include <memory>

#include "format/frame_writer.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// For what libzstd compresses.
std::unique_ptr<FrameWriter> make_zstd_writer(const CompressOptions& options);
// For our own bytes, whose matches may reach back by all of a window (zstd_levels.hpp).
std::unique_ptr<FrameWriter> make_zstd_own_writer(const CompressOptions& options);

}  // namespace hemstitch
