// The batch interface: checks options and turns them into what the stages take; batch_device.hpp does the
// rest.
#include "hemstitch/batch.h"

#include <fmt/format.h>

#include <iterator>

#include "batch/batch_checks.hpp"
#include "batch/batch_device.hpp"
#include "batch/find_options.hpp"
#include "core/c_call.hpp"
#include "core/status.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "match/common/parameter_check.hpp"
#include "match/finders.hpp"
#include "parse/parse_room.hpp"

namespace hemstitch {
namespace {

const hemstitch_batch& checked(const hemstitch_batch* batch) {
  needed(batch, "batch");
  check_parameter("batch", "max_history_bytes", batch->max_history_bytes, 0, kMostBatchHistoryBytes);
  if (batch->count != 0) needed(batch->input_bytes, "input_bytes");
  return *batch;
}

// Checks the limits of finders that search a window, under the names that the fields have here.
void check_window_options(const FinderRow& row, const hemstitch_find_options& options) {
  check_parameter("batch", "max_match_bytes", options.max_match_bytes, kMinMatchLenFloor, kMaxRecordLength);
  check_parameter("batch", "min_match_bytes", options.min_match_bytes, kMinMatchLenFloor,
                  options.max_match_bytes);
  check_parameter("batch", "window_bytes", options.window_bytes, 1, kMaxRecordOffset);
  if (row.reads("near_range"))
    check_parameter("batch", "near_range", options.near_range, 0, kMaxRecordOffset);
  if (row.reads("good_match_len") && options.good_match_bytes != 0)
    check_parameter("batch", "good_match_bytes", options.good_match_bytes, options.min_match_bytes,
                    options.max_match_bytes);
  if (row.reads("far_step")) check_parameter("batch", "far_step", options.far_step, 1, 0xFFFFFFFFu);
  if (row.reads("stride")) {
    constexpr std::uint32_t kBands = kCoopGroupPositions - 1;  // after the first
    const std::uint32_t room = kMaxRecordOffset - options.window_bytes;
    check_parameter("batch", "stride", options.stride, 1, room / kBands);
    check_parameter("batch", "band_origin", options.band_origin, 0, room - kBands * options.stride);
    check_parameter("batch", "top_k", options.top_k, 1, kMaxTopK);
    check_parameter("batch", "top_k_policy", static_cast<std::uint32_t>(options.top_k_policy),
                    HEMSTITCH_TOP_K_LONGEST, HEMSTITCH_TOP_K_LONGEST_PER_BUCKET);
  }
}

AnyFinder finder_of(const hemstitch_find_options* options) {
  needed(options, "options");
  check_parameter("batch", "stitch", options->stitch, 0, 1);
  if (options->finder == HEMSTITCH_FINDER_HASH_PAIRS)
    throw Error(Status::kInvalidOption, "batch: no device runs hash_pairs; use match.h");
  const FinderRow& row = row_of_finder(options->finder);
  if (!row.reads("hash_bits")) check_window_options(row, *options);
  AnyFinder finder = row.with(parameters_of(*options));
  std::visit([](const auto& own) { check_parameters(own); }, finder);
  return finder;
}

// The interface numbers the parses as the rows do.
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
    options->hash_bytes = chain.hash_bytes;
    options->few_values_hash_bytes = chain.few_values_hash_bytes;
  });
}

hemstitch_status hemstitch_find_options_for_finder(int32_t finder, hemstitch_find_options* options) {
  return guarded([&] {
    hemstitch::needed(options, "options");
    *options = hemstitch::options_for(finder, hemstitch::row_of_finder(finder).defaults());
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
    constexpr std::size_t kAnyBlockBytes = 65536;  // every block size has the same parse at a level
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
