// Which table the codes of a block's sequences get: the smallest of the predefined one, that of a single code, and one of the block's own
// (RFC 8878, section 3.1.1.3.2.1), in this order where sizes are equal.
//
// A size is what all codes take on average (zstd_log2.hpp), and the bytes of the description. Tables of blocks before are never repeated, so
// that all blocks can be written, and read, at once; that costs 0.02 %.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/zstd/block/zstd_symbols.hpp"
#include "format/zstd/restore/zstd_tables.hpp"

namespace hemstitch {

struct ZstdTableChoice {
  ZstdTableMode mode = ZstdTableMode::kPredefined;
  std::vector<std::byte> description;
  ZstdTable table;
};

// `counts` has how often each code occurs. If none does, the table is the predefined one.
ZstdTableChoice choose_zstd_table(const ZstdCodeKind& kind, std::span<const std::uint32_t> counts);

}  // namespace hemstitch
