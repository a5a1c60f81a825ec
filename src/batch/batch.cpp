// The batch interface: options are checked and put into the words of the stages; batch_device.hpp does the rest.
#include "hemstitch/batch.h"

#include <fmt/format.h>

#include "batch/batch_device.hpp"
#include "core/c_call.hpp"
#include "core/status.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "match/common/parameter_check.hpp"
#include "parse/parse_room.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kMostHistoryBytes = 65536;

const hemstitch_batch& checked(const hemstitch_batch* batch) {
  needed(batch, "batch");
  check_parameter("batch", "max_history_bytes", batch->max_history_bytes, 0, kMostHistoryBytes);
  if (batch->count != 0) needed(batch->input_bytes, "input_bytes");
  return *batch;
}

int checked_level(int level) {
  if (level < kMinLevel || level > kMaxLevel)
    throw Error(Status::kInvalidOption,
                fmt::format("level is {}, must be {}..{}", level, kMinLevel, kMaxLevel));
  return level;
}

AnyFinder finder_of(const hemstitch_find_options* options) {
  needed(options, "options");
  check_parameter("batch", "stitch", options->stitch, 0, 1);
  switch (options->finder) {
    case HEMSTITCH_FINDER_HASH_STEP:
      return HashStepParameters{.hash_bits = options->hash_bits,
                                .group_positions = options->group_positions,
                                .cap_bytes = options->cap_bytes,
                                .stitch = options->stitch != 0};
    case HEMSTITCH_FINDER_HASH_CHAIN:
      return HashChainParameters{.hash_bits = options->hash_bits,
                                 .depth = options->depth,
                                 .cap_bytes = options->cap_bytes,
                                 .window_bytes = options->window_bytes,
                                 .stitch = options->stitch != 0,
                                 .stitch_reach = options->stitch_reach};
  }
  throw Error(Status::kInvalidOption,
              fmt::format("batch: finder {} is none of the finders", options->finder));
}

// The numbers of the interface are those of the rows.
template <hemstitch_parse kParse, typename Parse>
constexpr bool kIsAt = std::is_same_v<std::variant_alternative_t<kParse, Lz4Parse>, Parse>;
static_assert(kIsAt<HEMSTITCH_PARSE_GREEDY, GreedyParse> && kIsAt<HEMSTITCH_PARSE_LAZY, LazyParse> &&
              kIsAt<HEMSTITCH_PARSE_OPTIMAL, OptimalParse<Lz4CostModel>> &&
              kIsAt<HEMSTITCH_PARSE_OPTIMAL_EXACT, OptimalExactParse<Lz4CostModel>>);

template <typename Costs>
AnyParse<Costs> parse_with(const hemstitch_parse_options& options, const Costs& costs) {
  AnyParse<Costs> parse = parse_of_row(static_cast<std::size_t>(options.parse), costs);
  if (auto* lazy = std::get_if<LazyParse>(&parse)) lazy->skip = options.lazy_skip;
  return parse;
}

BatchParse parse_of(const hemstitch_parse_options* options) {
  needed(options, "options");
  check_parameter("batch", "parse", static_cast<std::uint32_t>(options->parse), HEMSTITCH_PARSE_GREEDY,
                  HEMSTITCH_PARSE_OPTIMAL_EXACT);
  check_parameter("batch", "costs", static_cast<std::uint32_t>(options->costs), HEMSTITCH_COSTS_FLAT,
                  HEMSTITCH_COSTS_LZ4);
  const bool lz4 = options->costs == HEMSTITCH_COSTS_LZ4;
  check_parameter("batch", "min_match_bytes", options->min_match_bytes, lz4 ? kLz4MinMatchBytes : 1,
                  kMaxRecordLength);
  check_parameter("batch", "max_match_bytes", options->max_match_bytes, options->min_match_bytes,
                  kUnlimitedLength);
  const BlockPlan plan{options->min_match_bytes, options->max_match_bytes, options->max_offset,
                       options->last_match_start_gap, options->last_match_end_gap};
  if (lz4) return {parse_with(*options, Lz4CostModel{}), plan};
  constexpr std::uint32_t kMostBits = 4096;
  check_parameter("batch", "literal_bits", options->literal_bits, 1, kMostBits);
  check_parameter("batch", "match_bits", options->match_bits, 1, kMostBits);
  FullLengthCostModel flat;
  flat.literal_cost_bits = options->literal_bits;
  flat.match_fixed_cost_bits = options->match_bits;
  return {parse_with(*options, flat), plan};
}

}  // namespace
}  // namespace hemstitch

using hemstitch::guarded;

extern "C" {

hemstitch_status hemstitch_find_options_for_level(int level, uint32_t block_bytes,
                                                  hemstitch_find_options* options) {
  return guarded([&] {
    hemstitch::needed(options, "options");
    const hemstitch::Lz4Level chosen =
        hemstitch::lz4_level(hemstitch::checked_level(level), block_bytes, hemstitch::kMaxRecordOffset);
    *options = {};
    const auto& chain = std::get<hemstitch::HashChainParameters>(chosen.finder);
    options->finder = HEMSTITCH_FINDER_HASH_CHAIN;
    options->hash_bits = chain.hash_bits;
    options->cap_bytes = chain.cap_bytes;
    options->stitch = chain.stitch;
    options->depth = chain.depth;
    options->window_bytes = chain.window_bytes;
    options->stitch_reach = chain.stitch_reach;
  });
}

hemstitch_status hemstitch_find_temp_bytes(const hemstitch_batch* batch,
                                           const hemstitch_find_options* options, size_t* temp_bytes) {
  return guarded([&] {
    hemstitch::needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::batch_find_temp_bytes(hemstitch::checked(batch), hemstitch::finder_of(options));
  });
}

hemstitch_status hemstitch_find_async(const hemstitch_batch* batch, const hemstitch_find_options* options,
                                      hemstitch_candidate* candidates, uint64_t* first,
                                      hemstitch_status* statuses, void* temp, size_t temp_bytes,
                                      hemstitch_stream stream) {
  return guarded([&] {
    const hemstitch_batch& given = hemstitch::checked(batch);
    if (given.count != 0) {
      hemstitch::needed(given.inputs, "inputs");
      hemstitch::needed(statuses, "statuses");
    }
    if (given.total_input_bytes != 0) hemstitch::needed(candidates, "candidates");
    hemstitch::needed(first, "first");
    hemstitch::batch_find_async(given, hemstitch::finder_of(options), candidates, first, statuses, temp,
                                temp_bytes, stream);
  });
}

hemstitch_status hemstitch_parse_options_for_level(int level, hemstitch_parse_options* options) {
  return guarded([&] {
    hemstitch::needed(options, "options");
    constexpr std::size_t kAnyBlockBytes = 65536;  // the parse of a level is that of every block size
    const hemstitch::Lz4Level chosen = hemstitch::lz4_level(hemstitch::checked_level(level), kAnyBlockBytes);
    const hemstitch::BlockPlan plan = hemstitch::lz4_block_plan();
    *options = {};
    options->parse = static_cast<int32_t>(chosen.parse.index());
    if (const auto* lazy = std::get_if<hemstitch::LazyParse>(&chosen.parse)) options->lazy_skip = lazy->skip;
    options->costs = HEMSTITCH_COSTS_LZ4;
    options->min_match_bytes = plan.min_match_length;
    options->max_match_bytes = plan.max_match_length;
    options->max_offset = plan.max_offset;
    options->last_match_start_gap = plan.last_match_start_gap;
    options->last_match_end_gap = plan.last_match_end_gap;
  });
}

hemstitch_status hemstitch_parse_capacity(const hemstitch_batch* batch,
                                          const hemstitch_parse_options* options, uint64_t* sequences) {
  return guarded([&] {
    hemstitch::needed(sequences, "sequences");
    const hemstitch_batch& given = hemstitch::checked(batch);
    *sequences =
        hemstitch::first_sequence(given.total_input_bytes, given.count, hemstitch::parse_of(options).plan);
  });
}

hemstitch_status hemstitch_parse_temp_bytes(const hemstitch_batch* batch,
                                            const hemstitch_parse_options* options, size_t* temp_bytes) {
  return guarded([&] {
    hemstitch::needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::batch_parse_temp_bytes(hemstitch::checked(batch), hemstitch::parse_of(options));
  });
}

hemstitch_status hemstitch_parse_async(const hemstitch_batch* batch, const hemstitch_parse_options* options,
                                       const hemstitch_candidate* candidates, hemstitch_sequence* sequences,
                                       uint64_t* first_sequences, uint32_t* sequence_counts, uint64_t* total,
                                       hemstitch_status* statuses, void* temp, size_t temp_bytes,
                                       hemstitch_stream stream) {
  return guarded([&] {
    const hemstitch_batch& given = hemstitch::checked(batch);
    if (given.count != 0) {
      hemstitch::needed(sequences, "sequences");
      hemstitch::needed(first_sequences, "first_sequences");
      hemstitch::needed(sequence_counts, "sequence_counts");
      hemstitch::needed(statuses, "statuses");
    }
    if (given.total_input_bytes != 0) hemstitch::needed(candidates, "candidates");
    hemstitch::needed(total, "total");
    hemstitch::batch_parse_async(given, hemstitch::parse_of(options), candidates,
                                 {sequences, first_sequences, sequence_counts, total}, statuses, temp,
                                 temp_bytes, stream);
  });
}

}  // extern "C"
