#include "engine/choice/auto_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/options.hpp"
#include "engine/choice/choice_figures.hpp"
#include "format/formats.hpp"

namespace hemstitch {
namespace {

using namespace choice_figures;

// No device is faster for so few bytes, and predicting takes longer than compressing them.
constexpr std::uint64_t kNeverDevicesBytes = 8192;

// Read once in a process.
const std::optional<KeptFigures>& kept_figures() {
  static const std::optional<KeptFigures> kept = load_figures();
  return kept;
}

// The kept figures, if they were measured on a machine with as many cores as this one: several machines may
// share a home folder.
const KeptFigures* of_this_machine(const std::optional<KeptFigures>& kept) {
  return kept && kept->cores == resolve_threads(0) ? &*kept : nullptr;
}

unsigned cores_of(const Workload& work) {
  return std::min(resolve_threads(work.threads), resolve_threads(0));
}

HostFigures host_figures(const KeptFigures* kept, unsigned cores) {
  if (kept == nullptr) return default_host_figures(cores);
  const double part = std::pow(double(cores) / kept->cores, kCoresExponent);
  HostFigures host = kept->host;
  host.read_gbps *= part;
  host.copy_gbps *= part;
  return host;
}

Format format_of(const Workload& work) { return work.format.value_or(kDefaultFormat); }

// The kept figures were measured with the default format. For another one they are scaled by the ratio of its
// rates to that one's.
std::optional<BackendFigures> kept_figures_for(const KeptFigures::Row& row, const BackendFacts& facts,
                                               Format format) {
  if (format == kDefaultFormat) return row.figures;
  const std::optional<BackendFigures> measured = default_figures(facts, kDefaultFormat),
                                      wanted = default_figures(facts, format);
  if (!measured || !wanted) return std::nullopt;
  BackendFigures figures = row.figures;
  for (std::size_t i = 0; i < figures.compress.size(); ++i)
    figures.compress[i] *= wanted->compress[i] / measured->compress[i];
  figures.restore *= wanted->restore / measured->restore;
  return figures;
}

BackendCandidate processor_candidate(Choosers choosers, const KeptFigures* kept, unsigned cores,
                                     Format format) {
  BackendCandidate candidate;
  candidate.facts = {
      .backend = std::string(processor_of(choosers)), .kind = BackendKind::kProcessor, .units = cores};
  candidate.figures = default_figures(candidate.facts, format);
  if (const KeptFigures::Row* row = kept != nullptr ? kept->of(candidate.facts.backend) : nullptr) {
    candidate.figures = kept_figures_for(*row, candidate.facts, format);
    if (!candidate.figures) return candidate;
    const double part = std::pow(double(cores) / kept->cores, kCoresExponent);
    for (double& rate : candidate.figures->compress) rate *= part;
    candidate.figures->restore *= part;
  }
  return candidate;
}

// All but whether it takes the format, for which a part would be loaded (engine/part_backend.hpp).
bool may_be_candidate(const Backend& backend, Choosers choosers, const Workload& work) {
  const bool is_stream = work.format && work.direction == Direction::kRestore &&
                         FormatTable::instance().of(*work.format).writes_streams();
  const bool is_short = work.compressed_bytes.value_or(0) < kLeastStreamBytes;
  return backend.chosen_by_auto() && (!is_stream || (backend.restores_streams() && !is_short)) &&
         (choosers == Choosers::kAuto || backend.fallback_name() == processor_of(choosers));
}

bool is_candidate(const Backend& backend, Choosers choosers, const Workload& work) {
  return backend.takes(work) && may_be_candidate(backend, choosers, work);
}

// Does not query the device: assumes the device that the figures were measured on.
BackendCandidate best_candidate(const Backend& backend, const KeptFigures* kept, Format format) {
  BackendCandidate candidate;
  candidate.facts = {.backend = std::string(backend.name()),
                     .kind = BackendKind::kDevice,
                     .is_started = backend.is_started()};
  const KeptFigures::Row* const row = kept != nullptr ? kept->of(backend.name()) : nullptr;
  candidate.figures = row != nullptr ? kept_figures_for(*row, candidate.facts, format)
                                     : backend.figures(candidate.facts, format);
  return candidate;
}

BackendCandidate device_candidate(const Backend& backend, std::string_view device, const KeptFigures* kept,
                                  Format format) {
  BackendCandidate candidate;
  candidate.facts = backend.facts(device);
  candidate.facts.is_started = backend.is_started();
  const KeptFigures::Row* const row = kept != nullptr ? kept->of(backend.name()) : nullptr;
  candidate.figures = row != nullptr && row->device == candidate.facts.device
                          ? kept_figures_for(*row, candidate.facts, format)
                          : backend.figures(candidate.facts, format);
  return candidate;
}

}  // namespace

std::string_view processor_of(Choosers choosers) { return choosers == Choosers::kAuto ? "cpu" : "reference"; }

namespace {

std::optional<BackendChoice> choose_among(const BackendRegistry& registry, Choosers choosers,
                                          std::string_view device, const Workload& work,
                                          bool starts_drivers) {
  const std::string_view processor = processor_of(choosers);
  if (!registry.find_usable(processor).takes(work))
    for (const auto& backend : registry.backends())
      if (is_candidate(*backend, choosers, work) && !backend->unavailable_reason(device))
        return BackendChoice{
            std::string(backend->name()), fmt::format("{} does not support the format", processor), {}};
  if (work.content_bytes.value_or(work.compressed_bytes.value_or(UINT64_MAX)) <= kNeverDevicesBytes)
    return BackendChoice{std::string(processor), "too small for a device", {}};
  const unsigned cores = cores_of(work);
  const Format format = format_of(work);
  if (!work.content_bytes && !work.compressed_bytes)
    return select_backend(std::vector{processor_candidate(choosers, nullptr, cores, format)},
                          default_host_figures(cores), work);
  const KeptFigures* const kept = of_this_machine(kept_figures());
  const HostFigures host = host_figures(kept, cores);
  std::vector<BackendCandidate> candidates = {processor_candidate(choosers, kept, cores, format)};
  std::optional<BackendChoice> at_best;
  for (const auto& backend : registry.backends()) {
    if (!may_be_candidate(*backend, choosers, work)) continue;
    const BackendCandidate best = best_candidate(*backend, kept, format);
    BackendChoice choice = select_backend(std::vector{candidates.front(), best}, host, work);
    const bool may_pay = choice.backend == backend->name();
    if (may_pay && !is_candidate(*backend, choosers, work)) continue;
    if (best.figures && (!at_best || may_pay)) {
      at_best = std::move(choice);
      at_best->reason += " at best";  // whether there is such a device was not checked
    }
    if (may_pay && !starts_drivers && !backend->starts_at_once()) return std::nullopt;
    if (may_pay && !backend->unavailable_reason(device))
      candidates.push_back(device_candidate(*backend, device, kept, format));
  }
  if (candidates.size() == 1 && at_best && at_best->backend == candidates.front().facts.backend)
    return *at_best;
  return select_backend(candidates, host, work);
}

}  // namespace

BackendChoice choose_for(const BackendRegistry& registry, Choosers choosers, std::string_view device,
                         const Workload& work) {
  return *choose_among(registry, choosers, device, work, true);
}

std::optional<BackendChoice> choose_at_hand(const BackendRegistry& registry, Choosers choosers,
                                            std::string_view device, const Workload& work) {
  return choose_among(registry, choosers, device, work, false);
}

ChoiceTable choice_table(const BackendRegistry& registry, Choosers choosers, std::string_view device,
                         const std::optional<KeptFigures>& kept_on_disk) {
  const KeptFigures* const kept = of_this_machine(kept_on_disk);
  const unsigned cores = resolve_threads(0);
  ChoiceTable table{kept != nullptr,
                    host_figures(kept, cores),
                    {processor_candidate(choosers, kept, cores, kDefaultFormat)}};
  for (const auto& backend : registry.backends())
    if (is_candidate(*backend, choosers, {}) && !backend->unavailable_reason(device))
      table.candidates.push_back(device_candidate(*backend, device, kept, kDefaultFormat));
  return table;
}

}  // namespace hemstitch
