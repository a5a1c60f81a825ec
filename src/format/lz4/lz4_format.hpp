// LZ4 as a format of the table: frames and legacy frames read, frames written.
#pragma once

#include <memory>

#include "format/format.hpp"

namespace hemstitch {

std::unique_ptr<FrameFormat> make_lz4_format();

}  // namespace hemstitch
