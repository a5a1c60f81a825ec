// Writes frames of Zstandard: one header, the blocks of all parts, an empty last block, the content's checksum. Or
// seekable files: a frame for each part, and the seek table (zstd_places.hpp).
#pragma once

#include <memory>

#include "format/frame_writer.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

std::unique_ptr<FrameWriter> make_zstd_writer(const CompressOptions& options);

}  // namespace hemstitch
