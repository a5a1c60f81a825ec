// Whole streams of zlib in memory (RFC 1950), without dictionaries.
#pragma once

#include <memory>

#include "format/block_coder.hpp"

namespace hemstitch {

std::unique_ptr<BlockCoder> make_zlib_block_coder();

}  // namespace hemstitch
