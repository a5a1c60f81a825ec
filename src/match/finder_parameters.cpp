#include "match/finder_parameters.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "core/match.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

void require(bool holds, std::string_view field, std::uint64_t value, const std::string& limits) {
  if (!holds)
    throw Error(Status::kInvalidOption, fmt::format("{} is {}, but must be {}", field, value, limits));
}

struct Preset {
  std::string_view name;
  FinderParameters parameters;
};

// The first four are the table "Scaling Parameters" of founding document 000 (docs/founding.md), the last one is the
// kernel of founding document 001.
constexpr std::array kPresets = {
    Preset{"4k", {.window_size = 256, .stride = 64, .near_range = 64}},
    Preset{"16k", {.window_size = 256, .stride = 256, .near_range = 64}},
    Preset{"32k", {.window_size = 512, .stride = 512, .near_range = 64}},
    Preset{"32k-gaps", {.window_size = 256, .stride = 512, .near_range = 64}},
    Preset{"near-1k",
           {.min_match_len = 3,
            .window_size = 512,
            .stride = 512,
            .near_range = 1024,
            .band_origin = 1024,
            .good_match_len = 128}},
};

}  // namespace

void check_finder_parameters(Finder finder, const FinderParameters& p) {
  require(finder >= Finder::kBruteForce && finder <= Finder::kWindowIndex, "finder",
          static_cast<std::uint64_t>(finder), "one of the finders");
  require(p.max_match_len <= kMaxRecordLength, "max_match_len", p.max_match_len,
          fmt::format("at most {}", kMaxRecordLength));
  require(p.min_match_len >= kMinMatchLenFloor && p.min_match_len <= p.max_match_len, "min_match_len",
          p.min_match_len, fmt::format("{} to max_match_len ({})", kMinMatchLenFloor, p.max_match_len));
  require(p.window_size >= 1 && p.window_size <= kMaxRecordOffset, "window_size", p.window_size,
          fmt::format("1 to {}", kMaxRecordOffset));
  require(p.literal_cost >= 1 && p.literal_cost <= kMaxCostBits, "literal_cost", p.literal_cost,
          fmt::format("1 to {} bits", kMaxCostBits));
  require(p.match_fixed_cost >= 1 && p.match_fixed_cost <= kMaxCostBits, "match_fixed_cost",
          p.match_fixed_cost, fmt::format("1 to {} bits", kMaxCostBits));

  const bool scans = finder == Finder::kCoopStitch || finder == Finder::kLazyScan;
  if (scans) {
    require(p.near_range <= kMaxRecordOffset, "near_range", p.near_range,
            fmt::format("at most {}", kMaxRecordOffset));
    require(
        p.good_match_len == 0 || (p.good_match_len >= p.min_match_len && p.good_match_len <= p.max_match_len),
        "good_match_len", p.good_match_len,
        fmt::format("0 or min_match_len to max_match_len ({} to {})", p.min_match_len, p.max_match_len));
  }
  if (finder == Finder::kLazyScan) require(p.far_step >= 1, "far_step", p.far_step, "at least 1");
  if (finder == Finder::kCoopStitch) {
    require(p.stride >= 1, "stride", p.stride, "at least 1");
    require(p.top_k >= 1 && p.top_k <= kMaxTopK, "top_k", p.top_k, fmt::format("1 to {}", kMaxTopK));
    require(p.top_k_policy == TopKPolicy::kLongest || p.top_k_policy == TopKPolicy::kLongestPerBucket,
            "top_k_policy", static_cast<std::uint64_t>(p.top_k_policy), "one of the policies");
    const std::uint64_t last_band = std::uint64_t{p.stride} * (kCoopGroupPositions - 1);
    require(last_band + p.window_size <= kMaxRecordOffset, "stride", p.stride,
            fmt::format("small enough that {} * stride + window_size ({}) stays within {}",
                        kCoopGroupPositions - 1, p.window_size, kMaxRecordOffset));
    require(p.band_origin + last_band + p.window_size <= kMaxRecordOffset, "band_origin", p.band_origin,
            fmt::format("at most {}, so that the last band ends within {}",
                        kMaxRecordOffset - last_band - p.window_size, kMaxRecordOffset));
  }
}

std::vector<std::string_view> finder_preset_names() {
  std::vector<std::string_view> names;
  for (const Preset& preset : kPresets) names.push_back(preset.name);
  return names;
}

FinderParameters finder_preset(std::string_view name) {
  for (const Preset& preset : kPresets)
    if (preset.name == name) return preset.parameters;
  throw Error(Status::kInvalidOption,
              fmt::format("preset '{}' is none of: {}", name, fmt::join(finder_preset_names(), ", ")));
}

}  // namespace hemstitch
