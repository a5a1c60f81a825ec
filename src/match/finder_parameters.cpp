#include "match/finder_parameters.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "core/match.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

struct Preset {
  std::string_view name;
  FinderParameters parameters;
};

// The first four are from the table "Scaling Parameters" of founding document 000 (docs/founding.md). The
// last one is the kernel of founding document 001.
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

void require_parameter(bool holds, std::string_view field, std::uint64_t value, const std::string& limits) {
  if (!holds)
    throw Error(Status::kInvalidOption, fmt::format("{} is {}, but must be {}", field, value, limits));
}

void check_common_parameters(const FinderParameters& p) {
  require_parameter(p.max_match_len <= kMaxRecordLength, "max_match_len", p.max_match_len,
                    fmt::format("at most {}", kMaxRecordLength));
  require_parameter(p.min_match_len >= kMinMatchLenFloor && p.min_match_len <= p.max_match_len,
                    "min_match_len", p.min_match_len,
                    fmt::format("{} to max_match_len ({})", kMinMatchLenFloor, p.max_match_len));
  require_parameter(p.window_size >= 1 && p.window_size <= kMaxRecordOffset, "window_size", p.window_size,
                    fmt::format("1 to {}", kMaxRecordOffset));
  require_parameter(p.literal_cost >= 1 && p.literal_cost <= kMaxCostBits, "literal_cost", p.literal_cost,
                    fmt::format("1 to {} bits", kMaxCostBits));
  require_parameter(p.match_fixed_cost >= 1 && p.match_fixed_cost <= kMaxCostBits, "match_fixed_cost",
                    p.match_fixed_cost, fmt::format("1 to {} bits", kMaxCostBits));
}

void check_scan_parameters(const FinderParameters& p) {
  require_parameter(p.near_range <= kMaxRecordOffset, "near_range", p.near_range,
                    fmt::format("at most {}", kMaxRecordOffset));
  require_parameter(
      p.good_match_len == 0 || (p.good_match_len >= p.min_match_len && p.good_match_len <= p.max_match_len),
      "good_match_len", p.good_match_len,
      fmt::format("0 or min_match_len to max_match_len ({} to {})", p.min_match_len, p.max_match_len));
}

std::vector<std::string_view> finder_preset_names() {
  std::vector<std::string_view> names;
  for (const Preset& preset : kPresets) names.push_back(preset.name);
  return names;
}

FinderParameters finder_preset(std::string_view name) {
  for (const Preset& preset : kPresets)
    if (preset.name == name) return preset.parameters;
  throw Error(Status::kInvalidOption, fmt::format("there is no preset '{}'; choose one of: {}", name,
                                                  fmt::join(finder_preset_names(), ", ")));
}

}  // namespace hemstitch
