// Converts finders and their parameters from and to the C interface's.
#pragma once

#include <fmt/format.h>

#include <iterator>

#include "core/status.hpp"
#include "hemstitch/batch.h"
#include "match/finders.hpp"

namespace hemstitch {

// In the order of hemstitch_finder.
inline constexpr Finder kFindersOfC[] = {Finder::kHashChain,  Finder::kBruteForce,  Finder::kLazyScan,
                                         Finder::kCoopStitch, Finder::kWindowIndex, Finder::kHashPairs};
static_assert(HEMSTITCH_FINDER_HASH_PAIRS == std::size(kFindersOfC) - 1);
static_assert(HEMSTITCH_TOP_K_LONGEST == static_cast<int>(TopKPolicy::kLongest) &&
              HEMSTITCH_TOP_K_LONGEST_PER_BUCKET == static_cast<int>(TopKPolicy::kLongestPerBucket));

inline Finder finder_of_number(std::int32_t finder) {
  if (finder < 0 || static_cast<std::size_t>(finder) >= std::size(kFindersOfC))
    throw Error(Status::kInvalidOption, fmt::format("there is no finder {}", finder));
  return kFindersOfC[finder];
}

inline const FinderRow& row_of_finder(std::int32_t finder) { return row_of(finder_of_number(finder)); }

inline FinderParameters parameters_of(const hemstitch_find_options& options) {
  FinderParameters parameters;
  parameters.min_match_len = options.min_match_bytes;
  parameters.max_match_len = options.max_match_bytes;
  parameters.window_size = options.window_bytes;
  parameters.stride = options.stride;
  parameters.near_range = options.near_range;
  parameters.band_origin = options.band_origin;
  parameters.top_k = options.top_k;
  parameters.top_k_policy = static_cast<TopKPolicy>(options.top_k_policy);
  parameters.stitch = options.stitch != 0;
  parameters.good_match_len = options.good_match_bytes;
  parameters.far_step = options.far_step;
  parameters.hash_bits = options.hash_bits;
  parameters.cap_bytes = options.cap_bytes;
  parameters.depth = options.depth;
  parameters.stitch_reach = options.stitch_reach;
  parameters.hash_bytes = options.hash_bytes;
  parameters.few_values_hash_bytes = options.few_values_hash_bytes;
  return parameters;
}

inline hemstitch_find_options options_for(std::int32_t finder, const FinderParameters& parameters) {
  hemstitch_find_options options{};
  options.finder = finder;
  options.hash_bits = parameters.hash_bits;
  options.cap_bytes = parameters.cap_bytes;
  options.stitch = parameters.stitch ? 1 : 0;
  options.depth = parameters.depth;
  options.window_bytes = parameters.window_size;
  options.stitch_reach = parameters.stitch_reach;
  options.hash_bytes = parameters.hash_bytes;
  options.few_values_hash_bytes = parameters.few_values_hash_bytes;
  options.min_match_bytes = parameters.min_match_len;
  options.max_match_bytes = parameters.max_match_len;
  options.near_range = parameters.near_range;
  options.good_match_bytes = parameters.good_match_len;
  options.far_step = parameters.far_step;
  options.stride = parameters.stride;
  options.band_origin = parameters.band_origin;
  options.top_k = parameters.top_k;
  options.top_k_policy = static_cast<std::int32_t>(parameters.top_k_policy);
  return options;
}

}  // namespace hemstitch
