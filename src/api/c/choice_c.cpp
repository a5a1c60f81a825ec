// Implements choice.h with choice.hpp.
#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "api/c/c_options.hpp"
#include "core/messages.hpp"
#include "format/formats.hpp"
#include "hemstitch/choice.h"
#include "hemstitch/choice.hpp"

namespace hemstitch {
namespace {

static_assert(HEMSTITCH_BACKEND_SOFTWARE == static_cast<int>(BackendKind::kSoftware));
static_assert(HEMSTITCH_DIRECTION_RESTORE == static_cast<int>(Direction::kRestore));
static_assert(std::size(kFigureLevels) == std::size(hemstitch_backend_figures{}.compress));

template <class Structure>
Structure needed_sized(const Structure* given, std::string_view name) {
  return sized(needed(given, name), name);
}

template <class Number>
Number in_range(Number value, Number last, std::string_view name) {
  if (value < 0 || value > last) throw Error(Status::kInvalidOption, out_of_range(name, value, 0, last));
  return value;
}

BackendFacts facts_of(const hemstitch_backend_facts* given) {
  const auto all = needed_sized(given, "facts");
  return {.backend = needed(all.backend, "facts.backend"),
          .kind = static_cast<BackendKind>(
              in_range<std::int32_t>(all.kind, HEMSTITCH_BACKEND_SOFTWARE, "facts.kind")),
          .device = all.device != nullptr ? all.device : "",
          .units = all.units,
          .memory_gbps = all.memory_gbps,
          .bus_gbps = all.bus_gbps,
          .is_started = all.is_started != 0};
}

BackendFigures figures_of(const hemstitch_backend_figures* given) {
  const auto all = needed_sized(given, "figures");
  BackendFigures figures{.start_seconds = all.start_seconds,
                         .pin_seconds = all.pin_seconds,
                         .pinned_bytes = all.pinned_bytes,
                         .restore = all.restore,
                         .bus_gbps = all.bus_gbps,
                         .overlap = all.overlap};
  std::copy(std::begin(all.compress), std::end(all.compress), figures.compress.begin());
  return figures;
}

HostFigures host_of(const hemstitch_host_figures* given) {
  const auto all = needed_sized(given, "host");
  return {.read_gbps = all.read_gbps,
          .write_gbps = all.write_gbps,
          .copy_gbps = all.copy_gbps,
          .to_device_gbps = all.to_device_gbps,
          .from_device_gbps = all.from_device_gbps};
}

DataPlace place_of(std::int32_t place, std::string_view name) {
  constexpr DataPlace kPlaces[] = {DataPlace::kMemory, DataPlace::kFile, DataPlace::kDevice,
                                   DataPlace::kNowhere};
  return kPlaces[in_range<std::int32_t>(place, HEMSTITCH_DATA_NOWHERE, name)];
}

Workload workload_of(const hemstitch_workload* given) {
  const auto all = needed_sized(given, "work");
  Workload work;
  work.direction = static_cast<Direction>(
      in_range<std::int32_t>(all.direction, HEMSTITCH_DIRECTION_RESTORE, "work.direction"));
  if (const int format = number_of(all.format); format != HEMSTITCH_FORMAT_DEFAULT)
    work.format = static_cast<Format>(format);
  if (all.level != 0) {
    const FormatRow* const row = FormatTable::instance().row(work.format.value_or(kDefaultFormat));
    const LevelRange levels = row != nullptr ? row->format->levels() : LevelRange();
    if (all.level < levels.least || all.level > levels.most)
      throw Error(Status::kInvalidOption, out_of_range("work.level", all.level, levels.least, levels.most));
    work.level = all.level;
  }
  if (all.content_bytes != 0) work.content_bytes = all.content_bytes;
  if (all.compressed_bytes != 0) work.compressed_bytes = all.compressed_bytes;
  work.linked_blocks = all.linked_blocks != 0;
  work.from = place_of(all.from, "work.from");
  work.to = place_of(all.to, "work.to");
  work.threads = all.threads;
  work.pages = all.pages != 0;
  return work;
}

std::vector<BackendCandidate> candidates_of(const hemstitch_backend_candidate* candidates,
                                            std::size_t count) {
  need_for(count, candidates, "candidates");
  std::vector<BackendCandidate> made;
  for (const hemstitch_backend_candidate& one : std::span(candidates, count)) {
    BackendCandidate candidate{facts_of(one.facts), {}};
    if (one.figures != nullptr) candidate.figures = figures_of(one.figures);
    made.push_back(std::move(candidate));
  }
  return made;
}

}  // namespace
}  // namespace hemstitch

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_default_figures(const hemstitch_backend_facts* facts, hemstitch_format format,
                                           hemstitch_backend_figures* figures, int* known) {
  return guarded([&] {
    needed(known, "known");
    sized_bytes(needed(figures, "figures"), "figures");
    const int number = number_of(format);
    const auto found = default_figures(
        facts_of(facts), number == HEMSTITCH_FORMAT_DEFAULT ? Format::kLz4 : static_cast<Format>(number));
    hemstitch_backend_figures made{};
    if (found) {
      made.start_seconds = found->start_seconds;
      made.pin_seconds = found->pin_seconds;
      made.pinned_bytes = found->pinned_bytes;
      std::copy(found->compress.begin(), found->compress.end(), std::begin(made.compress));
      made.restore = found->restore;
      made.bus_gbps = found->bus_gbps;
      made.overlap = found->overlap;
    }
    fill_sized(figures, made, "figures");
    *known = found.has_value();
  });
}

hemstitch_status hemstitch_default_host_figures(unsigned cores, hemstitch_host_figures* figures) {
  return guarded([&] {
    const HostFigures made = default_host_figures(cores);
    fill_sized(figures,
               {.size = 0,
                .read_gbps = made.read_gbps,
                .write_gbps = made.write_gbps,
                .copy_gbps = made.copy_gbps,
                .to_device_gbps = made.to_device_gbps,
                .from_device_gbps = made.from_device_gbps},
               "figures");
  });
}

hemstitch_status hemstitch_predict(const hemstitch_backend_facts* facts,
                                   const hemstitch_backend_figures* figures,
                                   const hemstitch_host_figures* host, const hemstitch_workload* work,
                                   hemstitch_stage_seconds* seconds, int* known) {
  return guarded([&] {
    needed(known, "known");
    sized_bytes(needed(seconds, "seconds"), "seconds");
    const auto predicted = predict(facts_of(facts), figures_of(figures), host_of(host), workload_of(work));
    hemstitch_stage_seconds made{};
    if (predicted) {
      made.start = predicted->start;
      made.read = predicted->read;
      made.upload = predicted->upload;
      made.kernel = predicted->kernel;
      made.download = predicted->download;
      made.write = predicted->write;
      made.total = predicted->total;
      made.longest = predicted->longest().data();  // of a literal, so it ends with a zero
    }
    fill_sized(seconds, made, "seconds");
    *known = predicted.has_value();
  });
}

hemstitch_status hemstitch_select_backend(const hemstitch_backend_candidate* candidates, size_t count,
                                          const hemstitch_host_figures* host, const hemstitch_workload* work,
                                          size_t* chosen, char* reason, size_t reason_capacity) {
  return guarded([&] {
    needed(chosen, "chosen");
    need_for(reason_capacity, reason, "reason");
    const auto given = candidates_of(candidates, count);
    const BackendChoice choice = select_backend(given, host_of(host), workload_of(work));
    const auto found = std::ranges::find_if(
        given, [&](const BackendCandidate& one) { return one.facts.backend == choice.backend; });
    *chosen = static_cast<size_t>(found - given.begin());
    if (reason_capacity != 0)
      *std::copy_n(choice.reason.begin(), std::min(choice.reason.size(), reason_capacity - 1), reason) = '\0';
  });
}

hemstitch_status hemstitch_least_content_bytes(const char* backend,
                                               const hemstitch_backend_candidate* candidates, size_t count,
                                               const hemstitch_host_figures* host,
                                               const hemstitch_workload* work, uint64_t* least_bytes) {
  return guarded([&] {
    needed(least_bytes, "least_bytes");
    *least_bytes = least_content_bytes(needed(backend, "backend"), candidates_of(candidates, count),
                                       host_of(host), workload_of(work))
                       .value_or(UINT64_MAX);
  });
}

}  // extern "C"
