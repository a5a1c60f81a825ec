#include "cli/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "cli/bench/bench_spans.hpp"
#include "cli/bench/sample_data.hpp"
#include "cli/units.hpp"
#include "core/options.hpp"
#include "engine/registry.hpp"

namespace hemstitch::cli {
namespace {

// With less data, a device is not busy. For a slow level on the processor, far less is enough.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kLeastBytesPerCore = std::size_t{1} << 20;
constexpr std::size_t kLeastDeviceBytes = std::size_t{16} << 20;
constexpr std::size_t kGrowth = 4;
constexpr double kLeastSeconds =
    0.1;  // for a round trip, so that the clock and the start of threads hardly matter
constexpr std::size_t kStartBytes = 4096;

double gbps(std::size_t bytes, double seconds) { return static_cast<double>(bytes) / seconds / kGiga; }

class Calibration {
 public:
  Calibration(std::string device) : device_(std::move(device)) {
    const std::vector<std::byte> once = make_sample_data();
    while (data_.size() < kMostBytes) data_.insert(data_.end(), once.begin(), once.end());
  }

  KeptFigures run() {
    KeptFigures kept;
    kept.cores = resolve_threads(0);
    kept.host = default_host_figures(kept.cores);
    // Measures devices first, while their drivers are not started yet.
    for (const auto& backend : BackendRegistry::instance().backends())
      if (backend->chosen_by_auto()) add_device(*backend, kept);
    kept.rows.push_back(processor(kept.cores));
    const FileRates files = measure_file_rates(data_);
    kept.host.read_gbps = files.read_gbps;
    kept.host.write_gbps = files.write_gbps;
    kept.host.copy_gbps = files.copy_gbps;
    return kept;
  }

 private:
  Figures measure_round_trip(const Backend& backend, int level, std::size_t bytes, double seconds) const {
    CompressOptions compress;
    RestoreOptions restore;
    compress.backend = restore.backend = backend.name();
    if (backend.has_devices()) compress.device = restore.device = device_;
    compress.level = level;
    compress.content_bytes = bytes;
    return measure(BenchSpan::kMemory, std::span(data_).first(bytes), compress, restore, seconds);
  }

  // Takes more data, from `bytes` on, until a round trip takes long enough.
  void add_rates(const Backend& backend, std::size_t bytes, BackendFigures& figures) const {
    for (std::size_t i = 0; i < kFigureLevels.size(); ++i) {
      std::size_t tried = bytes;
      Figures round_trip = measure_round_trip(backend, kFigureLevels[i], tried, 0);
      while (tried < kMostBytes && round_trip.compress.seconds < kLeastSeconds) {
        tried = std::min(kMostBytes, tried * kGrowth);
        round_trip = measure_round_trip(backend, kFigureLevels[i], tried, kLeastSeconds);
      }
      figures.compress[i] = gbps(tried, round_trip.compress.seconds);
      if (i == 0) figures.restore = gbps(tried, round_trip.restore.seconds);
    }
  }

  KeptFigures::Row processor(unsigned cores) const {
    const Backend& backend = BackendRegistry::instance().find_usable("cpu");
    KeptFigures::Row row{"cpu", "", *default_figures({.backend = "cpu"})};
    add_rates(backend, std::min(kMostBytes, cores * kLeastBytesPerCore), row.figures);
    return row;
  }

  // If a part of the start happens in the first large run (mostly pinning memory), it counts as start, since
  // it is paid once. Rates are those of later runs, with all transfers.
  void add_device(const Backend& backend, KeptFigures& kept) const {
    const auto begin = std::chrono::steady_clock::now();
    if (backend.unavailable_reason(device_) || backend.facts(device_).kind != BackendKind::kDevice) return;
    measure_round_trip(backend, kMinLevel, kStartBytes, 0);
    const double start = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const Figures first = measure_round_trip(backend, kMinLevel, kMostBytes, 0);

    KeptFigures::Row row{std::string(backend.name()), backend.facts(device_).device, {}};
    add_rates(backend, kLeastDeviceBytes, row.figures);
    const double later = static_cast<double>(kMostBytes) / kGiga / row.figures.compress.front();
    row.figures.start_seconds = start + std::max(0.0, first.compress.seconds - later);
    row.figures.overlap = kDeviceOverlap;
    kept.rows.push_back(std::move(row));
  }

  // The overlap with reading and writing files, which is not measured; the default figures have the same
  // value.
  static constexpr double kDeviceOverlap = 0.6;

  std::string device_;
  std::vector<std::byte> data_;
};

}  // namespace

KeptFigures calibrate(const std::string& device) { return Calibration(device).run(); }

}  // namespace hemstitch::cli
