// Zstandard (RFC 8878).
#pragma once

#include <memory>

#include "format/format.hpp"

namespace hemstitch {

std::unique_ptr<FrameFormat> make_zstd_format();

}  // namespace hemstitch
