// Which adapter a run uses, or why none can be used: a decision over plain facts, so that it is tested without one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hemstitch::webgpu {

// In the order of preference. Software is a driver that runs shaders on the processor: for tests, never chosen by `auto`.
enum class AdapterKind { kDiscrete, kIntegrated, kOther, kSoftware };

struct AdapterFacts {
  std::string name;
  std::string driver;  // its name and version, as it describes itself
  AdapterKind kind = AdapterKind::kOther;
  std::uint32_t subgroup_min = 0;
  std::uint32_t subgroup_max = 0;
};

// "discrete GPU" and so on.
std::string_view kind_text(AdapterKind kind);

struct AdapterChoice {
  std::size_t index = 0;  // into the adapters, where there is no reason
  std::string reason;     // why there is none, and what mends it
};

// `wanted` is empty (the first of the best kind) or says which is meant (devices_meant()), of which the first is taken.
AdapterChoice choose_adapter(const std::vector<AdapterFacts>& adapters, std::string_view wanted);

}  // namespace hemstitch::webgpu
