// Any bytes through every finder, with any parameters that it accepts, every parse, and the LZ4 encoder.
// Finders that are defined position by position must find what their definition says. Records must be true,
// and parses must cover the block. Our decoder and liblz4 must restore what is encoded.
#include <lz4.h>

#include "format/lz4/compress/lz4_cost.hpp"
#include "format/lz4/compress/lz4_encode.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"
#include "lz4_differences.hpp"
#include "match/common/hash_word.hpp"
#include "match/finders.hpp"
#include "match/stitch/stitch.hpp"
#include "parse/choose_matches.hpp"
#include "parse/optimal/optimal_reference.hpp"
#include "parse/parses.hpp"
#include "unit/finder_definition.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using hemstitch::testing::GuardedBuffer;

namespace {

// Longer data is not compared with the definitions, which look at everything before each position.
constexpr std::size_t kMostDefinedBytes = 600;

MatchRecords find_hashed(FuzzedDataProvider& input, const FinderInput& data, unsigned finder) {
  const bool defined = data.data.size() <= kMostDefinedBytes;
  const unsigned hash_bits = input.ConsumeIntegralInRange(kMinHashBits, kMaxHashBits);
  const auto cap_bytes = input.ConsumeIntegralInRange<std::uint32_t>(4, 300);
  const bool stitch = input.ConsumeBool();
  if (finder == 0) {
    const HashChainParameters parameters{
        .hash_bits = hash_bits,
        .depth = input.ConsumeIntegralInRange<std::uint32_t>(1, 70),
        .cap_bytes = cap_bytes,
        .window_bytes =
            input.ConsumeBool() ? kMaxRecordOffset : input.ConsumeIntegralInRange<std::uint32_t>(1, 300),
        .stitch = stitch,
        .stitch_reach = input.ConsumeIntegralInRange<std::uint32_t>(1, kMostStitchReach),
        .hash_bytes = input.ConsumeIntegralInRange<std::uint32_t>(kHashedBytes, kMostHashedBytes),
        .few_values_hash_bytes = input.ConsumeBool() ? 7u : 0u};
    MatchRecords records = find_hash_chain(data, parameters);
    if (defined) require(records == testing::hash_chain_by_definition(data, parameters));
    return records;
  }
  const FinderInput alone{data.data.subspan(data.history_bytes), 0};  // this finder uses no history
  MatchRecords records = find_hash_pairs(alone, {hash_bits});
  if (defined) require(records == testing::hash_pairs_by_definition(alone, hash_bits));
  return records;
}

MatchRecords find_scanned(FuzzedDataProvider& input, const FinderInput& data, Finder finder) {
  FinderParameters parameters;
  parameters.min_match_len = input.ConsumeIntegralInRange<std::uint32_t>(3, 12);
  parameters.max_match_len = input.ConsumeIntegralInRange<std::uint32_t>(parameters.min_match_len, 600);
  parameters.window_size = input.ConsumeIntegralInRange<std::uint32_t>(1, 1000);
  parameters.stride = input.ConsumeIntegralInRange<std::uint32_t>(1, 1000);
  parameters.near_range = input.ConsumeIntegralInRange<std::uint32_t>(0, 300);
  parameters.band_origin = input.ConsumeIntegralInRange<std::uint32_t>(0, 300);
  parameters.top_k = input.ConsumeIntegralInRange<std::uint32_t>(1, kMaxTopK);
  parameters.top_k_policy = input.ConsumeBool() ? TopKPolicy::kLongest : TopKPolicy::kLongestPerBucket;
  parameters.stitch = input.ConsumeBool();
  if (input.ConsumeBool())
    parameters.good_match_len =
        input.ConsumeIntegralInRange<std::uint32_t>(parameters.min_match_len, parameters.max_match_len);
  parameters.far_step = input.ConsumeIntegralInRange<std::uint32_t>(1, 100);
  // The parameters above are always valid.
  MatchRecords records = find_reference(checked_finder(row_of(finder), parameters), data).records;
  // Compares with an exhaustive finder: no finder may find longer matches in its window, and the index must
  // find equally long ones outside of runs.
  if (finder == Finder::kWindowIndex) {
    const MatchRecords best = find_reference(data, BruteForceParameters::from(parameters)).records;
    for (std::size_t i = 0; i < records.size(); ++i)
      require(records[i] == best[i] ||
              (record_offset(records[i]) >= 1 && record_offset(records[i]) <= kRunOffsets));
  }
  std::uint64_t end = 0;
  for (const PositionedMatch& match : choose_matches(records, parameters)) {
    require(match.position >= end && match.length >= parameters.min_match_len &&
            match.length <= parameters.max_match_len);
    end = match.position + match.length;
    require(end <= data.block_bytes());
  }
  return records;
}

std::vector<Sequence> parse(FuzzedDataProvider& input, const MatchRecords& records) {
  const ParseInput parse_input{records, lz4_block_plan()};
  constexpr std::size_t kRows = std::variant_size_v<Lz4Parse>;
  Lz4Parse chosen = parse_of_row(input.ConsumeIntegralInRange<std::size_t>(0, kRows - 1), Lz4CostModel{});
  if (auto* lazy = std::get_if<LazyParse>(&chosen))
    lazy->skip = input.ConsumeIntegralInRange<std::uint32_t>(0, 64);
  std::vector<Sequence> sequences = parse_reference(chosen, parse_input);
  // No other parse may be cheaper than the exact one.
  if (std::holds_alternative<OptimalExactParse<Lz4CostModel>>(chosen))
    for (std::size_t row = 0; row < kRows; ++row) {
      const auto other = parse_reference(parse_of_row(row, Lz4CostModel{}), parse_input);
      require(parse_cost(std::span<const Sequence>(sequences), Lz4CostModel{}) <=
              parse_cost(std::span<const Sequence>(other), Lz4CostModel{}));
    }
  return sequences;
}

void require_restores(std::span<const std::byte> block, std::span<const std::byte> history,
                      std::span<const std::byte> encoded) {
  GuardedBuffer input(encoded), before(history), output(block.size());
  const DecodedBlock decoded = restore_lz4_block_reference(input.bytes(), before.bytes(), output.bytes());
  require(decoded.status == Status::kOk && decoded.bytes == block.size());
  require(std::equal(block.begin(), block.end(), output.bytes().begin()));
  const int written = LZ4_decompress_safe_usingDict(
      reinterpret_cast<const char*>(input.bytes().data()), reinterpret_cast<char*>(output.bytes().data()),
      static_cast<int>(encoded.size()), static_cast<int>(block.size()),
      reinterpret_cast<const char*>(before.bytes().data()), static_cast<int>(history.size()));
  require(written == static_cast<int>(block.size()));
  require(std::equal(block.begin(), block.end(), output.bytes().begin()));
  const testing::Lz4BlockFacts facts = testing::lz4_block_facts(encoded);
  require(facts.adds_up && facts.keeps_end_rules && !facts.has_zero_offset);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* raw, std::size_t size) {
  FuzzedDataProvider input(raw, size);
  const unsigned finder = input.ConsumeIntegralInRange(0, 5);
  const std::size_t history = input.ConsumeIntegralInRange<std::size_t>(0, 1000);
  // The data is the whole input. The choices above are taken from its last bytes.
  GuardedBuffer data(std::span(reinterpret_cast<const std::byte*>(raw), size));
  const FinderInput finder_input{data.bytes(), std::min(history, size)};

  const MatchRecords records = finder < 2
                                   ? find_hashed(input, finder_input, finder)
                                   : find_scanned(input, finder_input, static_cast<Finder>(finder - 2));
  const bool without_history = finder == 1;
  const FinderInput found_in{
      without_history ? finder_input.data.subspan(finder_input.history_bytes) : finder_input.data,
      without_history ? 0 : finder_input.history_bytes};
  require(records.size() == found_in.block_bytes());
  require(testing::first_false_match(found_in, records).empty());
  require(!first_wrong_record(found_in, records));

  const std::vector<Sequence> sequences = parse(input, records);
  const auto block = found_in.data.subspan(found_in.history_bytes);
  Bytes encoded(block.size() + block.size() / 255 + 16);
  const EncodedBlock done = encode_lz4_block(block, sequences, encoded);
  require(done.status == Status::kOk && done.bytes <= encoded.size());
  encoded.resize(done.bytes);
  require_restores(block, found_in.data.first(found_in.history_bytes), encoded);

  // Encodes into exactly the room that it needs, and into a byte less.
  GuardedBuffer exact(done.bytes), less(done.bytes - 1);
  require(encode_lz4_block(block, sequences, exact.bytes()).status == Status::kOk);
  require(std::equal(encoded.begin(), encoded.end(), exact.bytes().begin()));
  require(encode_lz4_block(block, sequences, less.bytes()).status == Status::kOutputTooSmall);
  return 0;
}
