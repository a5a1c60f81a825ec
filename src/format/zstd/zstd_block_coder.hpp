// Whole frames of Zstandard in memory, by libzstd.
#pragma once

#include <memory>

#include "format/block_coder.hpp"

namespace hemstitch {

std::unique_ptr<BlockCoder> make_zstd_block_coder();

}  // namespace hemstitch
