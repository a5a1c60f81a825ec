#include "format/lz4/compress/lz4_compress_reference.hpp"

#include "format/lz4/compress/lz4_cost.hpp"
#include "match/finders.hpp"
#include "parse/lazy/lazy.hpp"
#include "parse/optimal/optimal_reference.hpp"

namespace hemstitch {
EncodedBlock compress_lz4_block_reference(const FinderInput& input, const Lz4Level& level,
                                          std::span<std::byte> output) {
  const MatchRecords records = find_reference(level.finder, input).records;
  const ParseInput parse_input{records, lz4_block_plan()};
  const std::vector<Sequence> sequences =
      level.parse == Lz4Parse::kLazy ? parse_lazy(parse_input) : parse_optimal(parse_input, Lz4CostModel{});
  return encode_lz4_block(input.data.subspan(input.history_bytes), sequences, output);
}

}  // namespace hemstitch
