// What `auto` takes on this machine for a piece of work, and what --reproducible takes: select_backend() (hemstitch/choice.hpp) over the
// backends there are. The size decides first, by figures that no device has to be asked for: a driver is started only where the
// best device that figures are known of would pay off.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/choice/kept_figures.hpp"
#include "engine/registry.hpp"

namespace hemstitch {

// Who writes whose bytes: any backend of this machine, or those that write the bytes of `reference`.
enum class Choosers { kAuto, kReproducible };

std::string_view processor_of(Choosers choosers);

// `device` as wanted_device() gives it. The choice's backend is one that can be used here.
BackendChoice choose_for(const BackendRegistry& registry, Choosers choosers, std::string_view device,
                         const Workload& work);

// The same where no device has to be asked that takes its time to start; else nothing.
std::optional<BackendChoice> choose_at_hand(const BackendRegistry& registry, Choosers choosers,
                                            std::string_view device, const Workload& work);

// Everything that `auto` chooses among here, with its facts: starts the drivers.
struct ChoiceTable {
  bool is_measured = false;  // by --calibrate, and not the defaults
  HostFigures host;
  std::vector<BackendCandidate> candidates;
};
ChoiceTable choice_table(const BackendRegistry& registry, Choosers choosers, std::string_view device,
                         const std::optional<KeptFigures>& kept);

}  // namespace hemstitch
