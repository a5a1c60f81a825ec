// Which backend `auto` and --reproducible pick on this machine for a piece of work: select_backend()
// (hemstitch/choice.hpp) over the available backends. The size decides first, with known figures and without
// querying a device. A driver is started only if the best device with known figures would pay off.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/choice/kept_figures.hpp"
#include "engine/registry.hpp"

namespace hemstitch {

// Which backends take part: all of this machine, or only those that write the bytes of `reference`.
enum class Choosers { kAuto, kReproducible };

std::string_view processor_of(Choosers choosers);

// `device` as wanted_device() returns it. The backend of the choice can be used here.
BackendChoice choose_for(const BackendRegistry& registry, Choosers choosers, std::string_view device,
                         const Workload& work);

// The same, if no device that takes long to start has to be queried; otherwise nothing.
std::optional<BackendChoice> choose_at_hand(const BackendRegistry& registry, Choosers choosers,
                                            std::string_view device, const Workload& work);

// All candidates of `auto` on this machine, with their facts. Starts the drivers.
struct ChoiceTable {
  bool is_measured = false;  // by --calibrate; otherwise the defaults
  HostFigures host;
  std::vector<BackendCandidate> candidates;
};
ChoiceTable choice_table(const BackendRegistry& registry, Choosers choosers, std::string_view device,
                         const std::optional<KeptFigures>& kept);

}  // namespace hemstitch
