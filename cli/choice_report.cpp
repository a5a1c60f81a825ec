#include "cli/choice_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace hemstitch::cli {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

// The cases of founding document 004: pages of 4 KB at 30 GB/s, over PCIe 4.
struct RuleCase {
  std::uint64_t pages;
  double kernel_gbps, bus_gbps;
};
constexpr RuleCase kDocumentCases[] = {{1000, 30, 25}, {5000, 30, 25}};

std::string size_text(const std::optional<std::uint64_t>& bytes) {
  if (!bytes) return "never";
  const auto size = static_cast<double>(*bytes);
  if (size < 1e6) return fmt::format("{:.2g} KB", size / 1e3);
  return size < 1e9 ? fmt::format("{:.0f} MB", size / 1e6) : fmt::format("{:.1f} GB", size / 1e9);
}

Workload file_work(Direction direction, int level) {
  return {.direction = direction, .level = level, .from = DataPlace::kFile, .to = DataPlace::kFile};
}

std::optional<std::uint64_t> least(const ChoiceTable& table, const BackendCandidate& device,
                                   Direction direction, int level) {
  return least_content_bytes(device.facts.backend, table.candidates, table.host, file_work(direction, level));
}

bool is_device(const BackendCandidate& candidate) {
  return candidate.facts.kind == BackendKind::kDevice && candidate.figures;
}

std::string rule_line(std::string_view what, const TransferRule& rule) {
  return fmt::format("  {}: kernel {:.2g} ms, needed {:.2g} ms: {}", what, rule.kernel_seconds * 1e3,
                     rule.least_kernel_seconds * 1e3, rule.is_satisfied ? "yes" : "no");
}

// Figures of kernels alone: figures that were measured here include the transfers.
std::optional<BackendFigures> kernel_figures(const BackendCandidate& candidate) {
  const auto figures = candidate.figures->bus_gbps > 0 ? candidate.figures : default_figures(candidate.facts);
  return figures && figures->bus_gbps > 0 ? figures : std::nullopt;
}

}  // namespace

bool has_device_to_choose(const ChoiceTable& table) {
  return std::any_of(table.candidates.begin(), table.candidates.end(), is_device);
}

std::vector<std::string> choice_lines(const ChoiceTable& table) {
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("figures of the choice, GB/s of content, {} (files: read {:.1f}, written {:.1f}):",
                  table.is_measured ? "measured here" : "by default; --calibrate measures this machine",
                  table.host.read_gbps, table.host.write_gbps));
  lines.push_back(fmt::format("  {:<10} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6}", "", "start",
                              "restore", "-1", "-3", "-6", "-9", "-12", "bus"));
  for (const BackendCandidate& candidate : table.candidates) {
    if (!candidate.figures) {
      lines.push_back(fmt::format("  {:<10} {}", candidate.facts.backend,
                                  candidate.facts.kind == BackendKind::kSoftware
                                      ? "software, never chosen"
                                      : "not measured, so not chosen (--calibrate)"));
      continue;
    }
    const BackendFigures& figures = *candidate.figures;
    std::string line = fmt::format("  {:<10} {:>5.2f} s {:>8.3g}", candidate.facts.backend,
                                   figures.start_seconds, figures.restore);
    for (const double rate : figures.compress) line += fmt::format(" {:>8.3g}", rate);
    if (candidate.facts.kind == BackendKind::kDevice)
      line += figures.bus_gbps > 0 ? fmt::format(" {:>6.3g}", figures.bus_gbps) : " within";
    lines.push_back(line);
  }
  for (const BackendCandidate& candidate : table.candidates) {
    if (!is_device(candidate)) continue;
    std::vector<std::string> sizes;
    sizes.reserve(kFigureLevels.size());
    for (const int level : kFigureLevels)
      sizes.push_back(
          fmt::format("-{} {}", level, size_text(least(table, candidate, Direction::kCompress, level))));
    lines.push_back(fmt::format("auto picks {} for files from: {}, restored {}", candidate.facts.backend,
                                fmt::join(sizes, ", "),
                                size_text(least(table, candidate, Direction::kRestore, 1))));
  }
  return lines;
}

std::vector<std::string> rule_lines(const ChoiceTable& table) {
  std::vector<std::string> lines;
  lines.emplace_back(
      "founding document 004's rule: a kernel must take over 5 times as long as its transfers");
  for (const RuleCase& one : kDocumentCases)
    lines.push_back(
        rule_line(fmt::format("its {} pages, {} GB/s over {}", one.pages, one.kernel_gbps, one.bus_gbps),
                  transfer_rule(one.pages * kPageBytes, one.kernel_gbps, one.bus_gbps)));
  for (const BackendCandidate& candidate : table.candidates) {
    if (!is_device(candidate)) continue;
    if (const auto figures = kernel_figures(candidate))
      for (const std::size_t i : {std::size_t{0}, kFigureLevels.size() - 1})
        lines.push_back(rule_line(fmt::format("1 GB on {}, -{}", candidate.facts.backend, kFigureLevels[i]),
                                  transfer_rule(1'000'000'000, figures->compress[i], figures->bus_gbps)));
  }
  lines.emplace_back(
      "  auto does not use this rule: slower kernels pass it, and it ignores the processor's speed");
  return lines;
}

Json choice_json(const ChoiceTable& table) {
  Json backends = Json::array();
  for (const BackendCandidate& candidate : table.candidates) {
    Json entry{{"name", candidate.facts.backend}, {"device", candidate.facts.device}};
    if (candidate.figures) {
      const BackendFigures& figures = *candidate.figures;
      entry["start_seconds"] = figures.start_seconds;
      for (std::size_t i = 0; i < kFigureLevels.size(); ++i)
        entry["compress_gbps"][std::to_string(kFigureLevels[i])] = figures.compress[i];
      entry["restore_gbps"] = figures.restore;
      entry["bus_gbps"] = figures.bus_gbps;
    }
    if (is_device(candidate)) {
      const auto bytes_or_null = [&](Direction direction, int level) {
        const auto bytes = least(table, candidate, direction, level);
        return bytes ? Json(*bytes) : Json();
      };
      for (const int level : kFigureLevels)
        entry["least_file_bytes"]["compress"][std::to_string(level)] =
            bytes_or_null(Direction::kCompress, level);
      entry["least_file_bytes"]["restore"] = bytes_or_null(Direction::kRestore, kMinLevel);
    }
    backends.push_back(entry);
  }
  return {{"measured", table.is_measured},
          {"read_gbps", table.host.read_gbps},
          {"write_gbps", table.host.write_gbps},
          {"backends", backends}};
}

}  // namespace hemstitch::cli
