// hemstitch backends: which backends this build has, and why some of them cannot be used.
#include <fmt/format.h>

#include <cstdio>

#include "cli/bench/recorded_run.hpp"
#include "cli/calibrate.hpp"
#include "cli/choice_report.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/options/option_table.hpp"
#include "cli/options/option_values.hpp"
#include "engine/registry.hpp"
#include "gpu/device_names.hpp"

namespace hemstitch::cli {

namespace {

struct BackendsRequest {
  bool json = false, calibrate = false, help = false;
  int verbosity = 0;
};

void add_options(OptionTable& table, BackendsRequest& request) {
  table.flag("--json", request.json, "as JSON");
  table
      .flag(
          "-v,--verbose", [&request] { ++request.verbosity; },
          "show also how full each kernel keeps a GPU, and the device memory of a batch")
      .shown_as("-vv");
  table.flag("--calibrate", request.calibrate,
             "first measure the figures by which auto chooses, and keep them");
  table.help_flag("-h,--help");
}

BackendsRequest read_request(std::span<const std::string> words) {
  BackendsRequest request;
  OptionTable table;
  add_options(table, request);
  const std::vector<std::string> files = table.read(words);
  request.help = table.help_asked();
  if (!files.empty())
    throw UsageError(fmt::format("backends takes no files, and was given '{}'", files.front()));
  if (const auto name = environment("HEMSTITCH_BACKEND")) check_backend_name("HEMSTITCH_BACKEND", *name);
  return request;
}

void measure(bool as_json) {
  const std::string path = keep_figures(calibrate(wanted_device({})));
  if (!as_json) fmt::print("measured, and kept in {}\n", path);
}

void list_backends(bool as_json, bool with_details) {
  const BackendRegistry& registry = BackendRegistry::instance();
  const std::string device = wanted_device({});
  Json list = Json::array();
  for (const auto& backend : registry.backends()) {
    const std::optional<std::string> reason = backend->unavailable_reason(device);
    const std::optional<std::string> part = backend->no_engine_reason();
    const std::string state = reason ? "not here" : part ? "in part" : "usable";
    if (as_json) {
      Json entry{{"name", backend->name()},
                 {"usable", state == "usable"},
                 {"state", state},
                 {"description", backend->description(device)}};
      if (reason || part) entry["reason"] = reason ? *reason : *part;
      if (with_details) entry["details"] = backend->details(device);
      list.push_back(entry);
    } else {
      fmt::print("{:<10} {:<9} {}\n", backend->name(), state, backend->description(device));
      if (reason || part) fmt::print("{:<20} {}\n", "", reason ? *reason : *part);
      if (with_details)
        for (const std::string& line : backend->details(device)) fmt::print("{:<20} {}\n", "", line);
    }
  }
  for (const AbsentBackend& absent : BackendRegistry::absent_backends()) {
    constexpr const char* kState = "not built";
    if (as_json)
      list.push_back(
          {{"name", absent.name}, {"usable", false}, {"state", kState}, {"reason", absent.remedy}});
    else
      fmt::print("{:<10} {:<9} {}\n", absent.name, kState, absent.remedy);
  }
  const ChoiceTable choice = choice_table(registry, Choosers::kAuto, device, load_figures());
  if (!as_json)
    for (const std::string& line : choice_lines(choice)) fmt::print("{}\n", line);
  if (!as_json && with_details)
    for (const std::string& line : rule_lines(choice)) fmt::print("{}\n", line);
  // HEMSTITCH_BACKEND may name a backend that cannot start here; then the list is needed most.
  Json automatic;
  std::string hindrance;
  try {
    automatic = registry.choose("auto").name();
  } catch (const Error& error) {
    hindrance = error.what();
  }
  if (as_json)
    fmt::print("{}\n",
               Json{{"backends", list}, {"choice", choice_json(choice)}, {"auto", automatic}}.dump(2));
  else if (hindrance.empty())
    fmt::print("auto picks {}{}\n", automatic.get<std::string>(),
               has_device_to_choose(choice) ? " for other files and for pipes" : "");
  else
    fmt::print("auto cannot start: {}\n", hindrance);
}

}  // namespace

int run_backends(std::span<const std::string> words) {
  const BackendsRequest request = read_request(words);
  if (request.help) {
    print_command_help("backends");
    return 0;
  }
  if (request.calibrate) measure(request.json);
  list_backends(request.json, request.verbosity > 1);
  return 0;
}

std::string backends_options_help(const OptionTable* above) {
  return help_of_options<BackendsRequest>(above, add_options);
}

}  // namespace hemstitch::cli
