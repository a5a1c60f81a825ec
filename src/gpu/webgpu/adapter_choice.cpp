#include "gpu/webgpu/adapter_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/device_names.hpp"

namespace hemstitch::webgpu {
namespace {

std::string list_of(const std::vector<AdapterFacts>& adapters) {
  std::string list;
  for (std::size_t i = 0; i < adapters.size(); ++i)
    list +=
        fmt::format("{}{}: {} ({})", i == 0 ? "" : ", ", i, adapters[i].name, kind_text(adapters[i].kind));
  return list;
}

}  // namespace

std::string_view kind_text(AdapterKind kind) {
  switch (kind) {
    case AdapterKind::kDiscrete:
      return "discrete GPU";
    case AdapterKind::kIntegrated:
      return "integrated GPU";
    case AdapterKind::kOther:
      return "GPU";
    case AdapterKind::kSoftware:
      return "software";
  }
  return "GPU";
}

AdapterChoice choose_adapter(const std::vector<AdapterFacts>& adapters, std::string_view wanted) {
  if (adapters.empty())
    return {0,
            "no driver shows a GPU; install the Vulkan driver of your GPU (or, for tests on the processor, "
            "Debian's "
            "mesa-vulkan-drivers)"};
  if (wanted.empty() || wanted == kAllDevices) {
    const auto best =
        std::min_element(adapters.begin(), adapters.end(),
                         [](const AdapterFacts& a, const AdapterFacts& b) { return a.kind < b.kind; });
    return {static_cast<std::size_t>(best - adapters.begin()), {}};
  }
  std::vector<std::string> names;
  names.reserve(adapters.size());
  for (const AdapterFacts& adapter : adapters) names.push_back(adapter.name);
  const std::vector<std::size_t> meant = devices_meant(wanted, names);
  if (!meant.empty()) return {meant.front(), {}};
  return {0, fmt::format("no adapter '{}'; this machine has {}", wanted, list_of(adapters))};
}

}  // namespace hemstitch::webgpu
