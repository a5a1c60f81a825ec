// Which adapter a run uses, or why none can be used. The decision takes plain facts, so it is tested without
// an adapter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hemstitch::webgpu {

// In the order of preference. Software is a driver that runs shaders on the processor: for tests, never
// chosen by `auto`.
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
  std::size_t index = 0;  // of the chosen adapter, if there is no reason
  std::string reason;     // why none can be used, and how to fix it
};

// If `wanted` is empty, the first adapter of the best kind is chosen, otherwise the first one that it names
// (devices_meant()).
AdapterChoice choose_adapter(const std::vector<AdapterFacts>& adapters, std::string_view wanted);

}  // namespace hemstitch::webgpu
