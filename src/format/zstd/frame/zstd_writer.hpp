// Writes frames of Zstandard: one header, the blocks of all parts, an empty last block, the content's checksum.
#pragma once

#include <memory>

#include "format/frame_writer.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

std::unique_ptr<FrameWriter> make_zstd_writer(const CompressOptions& options);

}  // namespace hemstitch
