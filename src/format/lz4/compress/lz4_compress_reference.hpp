// Compresses one LZ4 block with the twins: find, parse, encode. Every GPU backend must write the same bytes.
#pragma once

#include <cstddef>
#include <span>

#include "format/lz4/compress/lz4_encode.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "match/common/finder.hpp"

namespace hemstitch {

EncodedBlock compress_lz4_block_reference(const FinderInput& input, const Lz4Level& level,
                                          std::span<std::byte> output);

}  // namespace hemstitch
