#include "format/lz4/compress/lz4_compress_reference.hpp"

#include "parse/optimal/optimal_reference.hpp"
#include "parse/parses.hpp"

namespace hemstitch {
EncodedBlock compress_lz4_block_reference(const FinderInput& input, const Lz4Level& level,
                                          std::span<std::byte> output) {
  const std::vector<Sequence> sequences =
      find_and_parse_reference(level.finder, level.parse, input, lz4_block_plan());
  return encode_lz4_block(input.data.subspan(input.history_bytes), sequences, output);
}

}  // namespace hemstitch
