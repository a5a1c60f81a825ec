#include "hemstitch/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/choice/choice_figures.hpp"
#include "format/formats.hpp"

namespace hemstitch {
namespace {

using namespace choice_figures;

constexpr double kGiga = 1e9;

struct Sizes {
  double content = 0, compressed = 0;  // GB
};

// The most content that a header can truthfully claim for a compressed byte.
double most_ratio(const Workload& work) {
  const FormatRow* const row = FormatTable::instance().row(work.format.value_or(kDefaultFormat));
  return row != nullptr ? static_cast<double>(row->format->most_content_of_byte()) : kAssumedRatio;
}

std::optional<Sizes> sizes_of(const Workload& work) {
  const auto gigabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / kGiga; };
  if (work.content_bytes && work.compressed_bytes) {
    // If there are more compressed bytes than content, the file has several frames, and this is the content
    // of the first.
    const double content = gigabytes(*work.content_bytes), compressed = gigabytes(*work.compressed_bytes);
    if (compressed > content) return Sizes{compressed * kAssumedRatio, compressed};
    return Sizes{std::min(content, compressed * most_ratio(work)), compressed};
  }
  if (work.content_bytes)
    return Sizes{gigabytes(*work.content_bytes), gigabytes(*work.content_bytes) / kAssumedRatio};
  if (work.compressed_bytes)
    return Sizes{gigabytes(*work.compressed_bytes) * kAssumedRatio, gigabytes(*work.compressed_bytes)};
  return std::nullopt;
}

// Between two measured levels, the rate falls by the same factor from each level to the next.
double compress_gbps(const BackendFigures& figures, int level) {
  const auto above = std::ranges::lower_bound(kFigureLevels, level);
  if (above == kFigureLevels.end()) return figures.compress.back();
  const auto i = static_cast<std::size_t>(above - kFigureLevels.begin());
  if (*above == level || i == 0) return figures.compress[i];
  const double way = double(level - kFigureLevels[i - 1]) / (kFigureLevels[i] - kFigureLevels[i - 1]);
  return figures.compress[i - 1] * std::pow(figures.compress[i] / figures.compress[i - 1], way);
}

BackendFigures scaled(BackendFigures figures, const FormatRates& rates, double compress, double restore) {
  for (std::size_t i = 0; i < rates.compress.size(); ++i) figures.compress[i] = rates.compress[i] * compress;
  figures.restore = rates.restore * restore;
  return figures;
}

double share(double have, double measured) { return have > 0 ? have / measured : 1; }

// The seconds of a kernel's rate, as a call of PageBatch takes them; a device's call is part of its start.
double pages_seconds(const BackendFacts& facts, double seconds, bool compressing) {
  const bool on_processor = facts.kind == BackendKind::kProcessor;
  const PageFigures& pages = on_processor ? kCpuPages : kDevicePages;
  seconds /= compressing ? pages.compress : pages.restore;
  if (!on_processor) return seconds;
  const double cores = facts.units > 0 ? facts.units : kCpuCores;
  return std::min(seconds * std::pow(cores, kCoresExponent),
                  seconds + (compressing ? pages.compress_call : pages.restore_call));
}

std::string seconds_text(double seconds) { return fmt::format("{:.2g} s", seconds); }

}  // namespace

std::optional<BackendFigures> default_figures(const BackendFacts& facts, Format format) {
  const FormatRow* const row = FormatTable::instance().row(format);
  const std::optional<FormatFigures> rates = row != nullptr ? row->format->figures() : std::nullopt;
  if (!rates) return std::nullopt;
  if (facts.backend == "cpu" || facts.backend == "reference") {
    const bool is_cpu = facts.backend == "cpu";
    const double factor = std::pow(share(facts.units, is_cpu ? kCpuCores : kReferenceCores), kCoresExponent);
    return is_cpu ? scaled(kCpu, rates->cpu, factor, factor)
                  : scaled(kReference, rates->reference, factor, factor);
  }
  if (facts.backend != "cuda") return std::nullopt;
  const double units = share(facts.units, kCudaMultiprocessors);
  BackendFigures figures =
      scaled(kCuda, rates->cuda, units, std::min(units, share(facts.memory_gbps, kCudaMemoryGbps)));
  if (facts.bus_gbps > 0) figures.bus_gbps = facts.bus_gbps;
  return figures;
}

HostFigures default_host_figures(unsigned cores) {
  const double factor = std::pow(share(cores, kCpuCores), kCoresExponent);
  return {.read_gbps = kReadGbps * factor,
          .write_gbps = kWriteGbps,
          .copy_gbps = kCopyGbps * factor,
          .to_device_gbps = kUnpinnedGbps,
          .from_device_gbps = kUnpinnedGbps};
}

std::string_view StageSeconds::longest() const {
  const std::pair<double, std::string_view> stages[] = {{start, "start"},       {read, "read"},
                                                        {upload, "upload"},     {kernel, "kernel"},
                                                        {download, "download"}, {write, "write"}};
  return std::ranges::max_element(stages, {}, [](const auto& stage) { return stage.first; })->second;
}

std::optional<StageSeconds> predict(const BackendFacts& facts, const BackendFigures& figures,
                                    const HostFigures& host, const Workload& work) {
  const std::optional<Sizes> sizes = sizes_of(work);
  if (!sizes) return std::nullopt;
  const bool compressing = work.direction == Direction::kCompress;
  const double in = compressing ? sizes->content : sizes->compressed;
  const double out = compressing ? sizes->compressed : sizes->content;

  StageSeconds seconds;
  if (work.from == DataPlace::kFile) seconds.read = in / host.read_gbps;
  if (work.to == DataPlace::kFile) seconds.write = out / host.write_gbps;
  seconds.kernel = sizes->content / (compressing ? compress_gbps(figures, work.level) : figures.restore);
  const bool on_processor = facts.kind == BackendKind::kProcessor;
  if (work.pages) seconds.kernel = pages_seconds(facts, seconds.kernel, compressing);
  if (on_processor) {
    // Only data in device memory has to be transferred.
    if (work.from == DataPlace::kDevice) seconds.download = in / host.from_device_gbps;
    if (work.to == DataPlace::kDevice) seconds.upload = out / host.to_device_gbps;
  } else if (figures.bus_gbps > 0) {
    if (work.from != DataPlace::kDevice) seconds.upload = in / figures.bus_gbps;
    if (work.to != DataPlace::kDevice) seconds.download = out / figures.bus_gbps;
    // Memory that is not pinned is copied through pinned memory. The rates of pages contain that.
    if (work.from == DataPlace::kMemory && !work.pages) seconds.read = in / host.copy_gbps;
    if (work.to == DataPlace::kMemory && !work.pages) seconds.write = out / host.copy_gbps;
  }
  // A batch of pages is a call in a running process, so the processor starts nothing.
  if (!facts.is_started && !(work.pages && on_processor))
    seconds.start =
        figures.start_seconds + figures.pin_seconds * std::min(in + out, figures.pinned_bytes / kGiga);
  if (work.pages && !on_processor)
    seconds.start += compressing ? kDevicePages.compress_call : kDevicePages.restore_call;

  const double stages[] = {seconds.read, seconds.upload, seconds.kernel, seconds.download, seconds.write};
  double sum = 0;
  for (const double stage : stages) sum += stage;
  const double longest = *std::ranges::max_element(stages);
  seconds.total = seconds.start + longest + (1 - figures.overlap) * (sum - longest);
  return seconds;
}

BackendChoice select_backend(std::span<const BackendCandidate> candidates, const HostFigures& host,
                             const Workload& work) {
  const auto processor = std::ranges::find_if(
      candidates, [](const auto& candidate) { return candidate.facts.kind == BackendKind::kProcessor; });
  if (processor == candidates.end())
    throw Error(Status::kInvalidOption, "candidates has no processor, which runs when no device is faster");

  BackendChoice choice;
  for (const BackendCandidate& candidate : candidates) {
    BackendPrediction& prediction = choice.predictions.emplace_back();
    prediction.backend = candidate.facts.backend;
    if (candidate.facts.kind == BackendKind::kSoftware)
      prediction.why_not = "software";
    else if (!candidate.figures)
      prediction.why_not = "not measured";
    else if (candidate.facts.kind == BackendKind::kDevice && work.linked_blocks &&
             work.direction == Direction::kRestore)
      prediction.why_not = "restores linked blocks one after the other";
    else if (prediction.seconds = predict(candidate.facts, *candidate.figures, host, work);
             !prediction.seconds)
      prediction.why_not = "size not known";
  }

  const BackendPrediction& slow =
      choice.predictions[static_cast<std::size_t>(processor - candidates.begin())];
  const BackendPrediction* fastest = nullptr;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const BackendPrediction& prediction = choice.predictions[i];
    if (candidates[i].facts.kind == BackendKind::kDevice && prediction.seconds &&
        (fastest == nullptr || prediction.seconds->total < fastest->seconds->total))
      fastest = &prediction;
  }
  choice.backend = slow.backend;
  if (!sizes_of(work)) {
    choice.reason = "size not known";
  } else if (fastest == nullptr || !slow.seconds) {
    choice.reason = "no device to choose";
    for (const BackendPrediction& prediction : choice.predictions)
      if (!prediction.why_not.empty())
        choice.reason = fmt::format("{}: {}", prediction.backend, prediction.why_not);
  } else {
    const bool pays = fastest->seconds->total < (1 - kLeastGain) * slow.seconds->total;
    if (pays) choice.backend = fastest->backend;
    choice.reason = fmt::format("{} {}, {} {}", slow.backend, seconds_text(slow.seconds->total),
                                fastest->backend, seconds_text(fastest->seconds->total));
  }
  return choice;
}

std::optional<std::uint64_t> least_content_bytes(std::string_view backend,
                                                 std::span<const BackendCandidate> candidates,
                                                 const HostFigures& host, Workload work) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;
  const auto takes_it = [&](std::uint64_t bytes) {
    work.content_bytes = bytes;
    work.compressed_bytes.reset();
    return select_backend(candidates, host, work).backend == backend;
  };
  if (!takes_it(kMostBytes)) return std::nullopt;
  std::uint64_t too_little = 0, enough = kMostBytes;
  while (enough - too_little > 1) {
    const std::uint64_t middle = too_little + (enough - too_little) / 2;
    (takes_it(middle) ? enough : too_little) = middle;
  }
  return enough;
}

TransferRule transfer_rule(std::uint64_t content_bytes, double kernel_gbps, double bus_gbps) {
  const double bytes = static_cast<double>(content_bytes) / kGiga;
  TransferRule rule;
  rule.transfer_seconds = 2 * bytes / bus_gbps;
  rule.kernel_seconds = bytes / kernel_gbps;
  rule.least_kernel_seconds = kTransferFactor * rule.transfer_seconds;
  rule.is_satisfied = rule.kernel_seconds > rule.least_kernel_seconds;
  return rule;
}

}  // namespace hemstitch
