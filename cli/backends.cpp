// hemstitch backends: what this build can run on, and what keeps it from the rest.
#include <fmt/format.h>

#include <cstdio>

#include "cli/bench/recorded_run.hpp"
#include "cli/calibrate.hpp"
#include "cli/choice_report.hpp"
#include "cli/commands.hpp"
#include "engine/registry.hpp"
#include "gpu/device_names.hpp"

namespace hemstitch::cli {

int run_backends(const Request& request) {
  const BackendRegistry& registry = BackendRegistry::instance();
  const std::string device = wanted_device({});
  if (request.calibrate) {
    const std::string path = keep_figures(calibrate(device));
    if (!request.json) fmt::print("measured, and kept in {}\n", path);
  }
  Json list = Json::array();
  for (const auto& backend : registry.backends()) {
    const std::optional<std::string> reason = backend->unavailable_reason(device);
    const std::optional<std::string> part = backend->no_engine_reason();
    const std::string state = reason ? "not here" : part ? "in part" : "usable";
    if (request.json) {
      Json entry{{"name", backend->name()},
                 {"usable", state == "usable"},
                 {"state", state},
                 {"description", backend->description(device)}};
      if (reason || part) entry["reason"] = reason ? *reason : *part;
      if (request.very_verbose) entry["details"] = backend->details(device);
      list.push_back(entry);
    } else {
      fmt::print("{:<10} {:<9} {}\n", backend->name(), state, backend->description(device));
      if (reason || part) fmt::print("{:<20} {}\n", "", reason ? *reason : *part);
      if (request.very_verbose)
        for (const std::string& line : backend->details(device)) fmt::print("{:<20} {}\n", "", line);
    }
  }
  for (const AbsentBackend& absent : BackendRegistry::absent_backends()) {
    constexpr const char* kState = "not built";
    if (request.json)
      list.push_back(
          {{"name", absent.name}, {"usable", false}, {"state", kState}, {"reason", absent.remedy}});
    else
      fmt::print("{:<10} {:<9} {}\n", absent.name, kState, absent.remedy);
  }
  const ChoiceTable choice = choice_table(registry, Choosers::kAuto, device, load_figures());
  if (!request.json)
    for (const std::string& line : choice_lines(choice)) fmt::print("{}\n", line);
  // HEMSTITCH_BACKEND may force one that cannot start here; the list is wanted most then.
  Json automatic;
  std::string hindrance;
  try {
    automatic = registry.choose("auto").name();
  } catch (const Error& error) {
    hindrance = error.what();
  }
  if (request.json)
    fmt::print("{}\n",
               Json{{"backends", list}, {"choice", choice_json(choice)}, {"auto", automatic}}.dump(2));
  else if (hindrance.empty())
    fmt::print("auto takes {}{}\n", automatic.get<std::string>(),
               has_device_to_choose(choice) ? " for other files and for pipes" : "");
  else
    fmt::print("auto cannot start: {}\n", hindrance);
  return 0;
}

}  // namespace hemstitch::cli
