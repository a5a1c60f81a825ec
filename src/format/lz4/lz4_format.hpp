// LZ4 as a format of the table: reads frames and legacy frames, writes frames.
#pragma once

#include <memory>

#include "format/format.hpp"

namespace hemstitch {

std::unique_ptr<FrameFormat> make_lz4_format();

}  // namespace hemstitch
