#include "engine/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <string>

#include "core/advice.hpp"
#include "engine/choice/auto_choice.hpp"
#include "engine/cpu/cpu_backend.hpp"
#include "engine/cuda/cuda_backend.hpp"
#include "engine/part_backend.hpp"
#include "engine/reference/reference_backend.hpp"
#include "engine/webgpu/webgpu_backend.hpp"
#include "format/formats.hpp"
#include "gpu/device_names.hpp"
#include "gpu/device_parts.hpp"

namespace hemstitch {

BackendRegistry::BackendRegistry() {
  backends_.push_back(make_cpu_backend());
  backends_.push_back(make_reference_backend());
  for (const DevicePart part : kDeviceParts) {
    const auto make = part == DevicePart::kCuda ? make_cuda_backend : make_webgpu_backend;
    if (is_linked_in(part))
      backends_.push_back(make());
    else if (is_there(part))
      backends_.push_back(make_part_backend(part_name(part), [part, make](std::string& reason) {
        reason = part_failure(part);
        return reason.empty() ? make() : nullptr;
      }));
  }
}

BackendRegistry& BackendRegistry::instance() {
  static BackendRegistry registry;
  return registry;
}

std::vector<AbsentBackend> BackendRegistry::absent_backends() {
  std::vector<AbsentBackend> absent;
  for (const DevicePart part : kDeviceParts)
    if (!is_there(part))
      absent.push_back({part_name(part),
                        part == DevicePart::kCuda ? current_advice.cuda_build : current_advice.webgpu_build});
  return absent;
}

void BackendRegistry::add(std::unique_ptr<Backend> backend) { backends_.push_back(std::move(backend)); }

const Backend& BackendRegistry::find_usable(std::string_view name, std::string_view device) const {
  std::string names;
  for (const auto& backend : backends_) {
    if (backend->name() == name) {
      if (!device.empty() && !backend->has_devices())
        throw Error(Status::kInvalidOption,
                    fmt::format("device is '{}', but backend '{}' has no devices", device, name));
      if (const auto reason = backend->unavailable_reason(wanted_device(device)))
        throw Error(Status::kDeviceUnavailable, fmt::format("backend '{}': {}", name, *reason));
      if (const auto reason = backend->no_engine_reason())
        throw Error(Status::kDeviceUnavailable, fmt::format("backend '{}': {}", name, *reason));
      return *backend;
    }
    names += fmt::format(", {}", backend->name());
  }
  for (const AbsentBackend& absent : absent_backends())
    if (absent.name == name)
      throw Error(Status::kDeviceUnavailable,
                  fmt::format("backend '{}' is not in this build: {}", name, absent.remedy));
  throw Error(Status::kUnknownBackend,
              fmt::format("there is no backend '{}'; choose one of: auto{}", name, names));
}

namespace {
constexpr std::string_view kAuto = "auto", kReproducible = "reproducible";

std::string_view requested_or_forced(std::string_view requested) {
  const char* forced = std::getenv("HEMSTITCH_BACKEND");
  return requested == kAuto && forced != nullptr && *forced != '\0' ? std::string_view(forced) : requested;
}
}  // namespace

const Backend& BackendRegistry::choose(std::string_view requested, std::string_view device,
                                       const Workload& work, std::string* reason) const {
  std::string name(requested_or_forced(requested));
  if (leaves_choice(requested)) {
    const Choosers choosers = name == kAuto ? Choosers::kAuto : Choosers::kReproducible;
    // Device names belong to a backend, so a caller who names a device must name the backend too.
    BackendChoice choice{std::string(processor_of(choosers)), {}, {}};
    if (device.empty()) choice = choose_for(*this, choosers, wanted_device({}), work);
    name = choice.backend;
    if (reason != nullptr) *reason = choice.reason;
  }
  const Backend& chosen = find_usable(name, device);
  if (chosen.takes(work)) return chosen;
  std::vector<std::string_view> others;
  for (const auto& backend : backends_)
    if (backend->takes(work)) others.push_back(backend->name());
  const auto verb = work.direction == Direction::kCompress ? "compress to" : "restore";
  throw Error(Status::kInvalidOption,
              fmt::format("backend '{}' does not {} {}; {}", chosen.name(), verb,
                          FormatTable::instance().of(*work.format).title(),
                          others.empty() ? "none in this build does"
                                         : fmt::format("those that do: {}", fmt::join(others, ", "))));
}

std::optional<std::string> BackendRegistry::choice_at_hand(std::string_view requested,
                                                           std::string_view device,
                                                           const Workload& work) const {
  const std::string_view name = requested_or_forced(requested);
  if (!leaves_choice(requested)) return std::string(name);
  const Choosers choosers = name == kAuto ? Choosers::kAuto : Choosers::kReproducible;
  if (!device.empty()) return std::string(processor_of(choosers));
  const std::optional<BackendChoice> choice = choose_at_hand(*this, choosers, wanted_device({}), work);
  return choice ? std::optional(choice->backend) : std::nullopt;
}

bool BackendRegistry::leaves_choice(std::string_view requested) const {
  const std::string_view name = requested_or_forced(requested);
  return name == kAuto || name == kReproducible;
}

const Backend& BackendRegistry::fallback_for(const Backend& chosen, std::string_view requested,
                                             const Workload& work) const {
  if (requested_or_forced(requested) == kAuto)
    if (const Backend& cpu = find_usable("cpu"); cpu.takes(work)) return cpu;
  const Backend& own = find_usable(chosen.fallback_name());
  return own.takes(work) ? own : chosen;
}

}  // namespace hemstitch
