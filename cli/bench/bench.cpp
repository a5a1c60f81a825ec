// hemstitch bench: compresses and restores each file again and again, and reports the fastest run of each.
// Every round trip is compared with the original byte by byte.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/bench_request.hpp"
#include "cli/bench/bench_spans.hpp"
#include "cli/bench/compare.hpp"
#include "cli/bench/recorded_run.hpp"
#include "cli/bench/sample_data.hpp"
#include "cli/commands.hpp"
#include "cli/files/files.hpp"
#include "cli/help.hpp"
#include "cli/messages.hpp"
#include "cli/request.hpp"
#include "cli/units.hpp"
#include "core/options.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "gpu/device_names.hpp"

namespace hemstitch::cli {
namespace {

constexpr int kDefaultLevels[] = {1, 3, 6, 9, 12};
// In recorded runs, the peer of rows that end in a new file.
constexpr const char* kFloor = "floor: as many threads fill a new file, the fastest way";

struct Data {
  std::string name;
  std::vector<std::byte> bytes;
};

// The name of the machine: the backend's device, if it has one of its own, and the processor.
std::string machine_name(const Backend& backend, const std::string& wanted) {
  const std::string device = backend.device_name(wanted_device(wanted));
  return device.empty() ? processor_name() : fmt::format("{}; {}", device, processor_name());
}

// Repeats the data up to `bytes`.
void repeat_to(std::vector<std::byte>& data, std::uint64_t bytes) {
  const std::size_t once = data.size();
  if (bytes <= once) return;
  data.resize(static_cast<std::size_t>(bytes));
  for (std::size_t at = once; at < data.size(); at += once)
    std::copy_n(data.begin(), std::min(once, data.size() - at), data.begin() + at);
}

// A row of the results, to be printed or recorded.
struct Row {
  const char* what;
  Timed time;
  std::optional<double> floor_seconds;
  bool restores = false;
};

std::vector<Row> rows_of(const Figures& figures) {
  if (!figures.files) return {{"compress", figures.compress, {}}, {"restore", figures.restore, {}, true}};
  return {{"compress", figures.compress, figures.files->compress_floor_seconds},
          {"compress to /dev/null", figures.files->compress_to_null, {}},
          {"restore", figures.restore, figures.files->restore_floor_seconds, true},
          {"test", figures.files->test, {}, true}};
}

class Report {
 public:
  Report(const BenchRequest& request, const Backend& backend, std::string restored_by,
         const std::string& command_line, std::optional<double> start_seconds)
      : request_(request),
        backend_(backend.name()),
        restored_by_(std::move(restored_by)),
        threads_(resolve_threads(request.compress.threads)),
        start_seconds_(start_seconds),
        run_(begin_recorded_run(machine_name(backend, request.compress.device), command_line)) {
    if (start_seconds_)
      run_["rows"].push_back(
          {{"what", "start"}, {"backend", backend_}, {"seconds", *start_seconds_}, {"verified", true}});
  }

  void add_data(const Data& data) {
    if (request_.json)
      run_["files"].push_back(describe_data(data.name, data.bytes));
    else if (!std::exchange(has_head_, true))
      print_head();
  }

  void add(const Data& data, int level, const Figures& figures) {
    if (request_.json)
      for (const Row& row : rows_of(figures)) record(row, data, level, figures);
    else if (figures.files)
      for (const Row& row : rows_of(figures)) print(row, data, level, figures);
    else
      fmt::print("{:>5} {:>12} {:>12} {:>8.3f} {:>14.3f} {:>14.3f}  {}\n", level, data.bytes.size(),
                 figures.compressed_bytes, ratio(data, figures), gbps(data, figures.compress.seconds),
                 gbps(data, figures.restore.seconds), shown_name(data.name));
    std::fflush(stdout);
  }

  void finish() const {
    if (request_.json) fmt::print("{}\n", run_.dump(2, ' ', false, Json::error_handler_t::replace));
  }

 private:
  static double gbps(const Data& data, double seconds) {
    return static_cast<double>(data.bytes.size()) / seconds / kGiga;
  }
  static double ratio(const Data& data, const Figures& figures) {
    return static_cast<double>(data.bytes.size()) / static_cast<double>(figures.compressed_bytes);
  }
  static double cpu_seconds_per_gb(const Data& data, const Timed& time) {
    return time.cpu_seconds / static_cast<double>(data.bytes.size()) * kGiga;
  }

  void print_head() const {
    fmt::print("{}\nbackend {}{}, blocks of {}K{}{}\n", run_["device"].get<std::string>(), backend_,
               restored_by_ == backend_ ? "" : fmt::format(", restored by {}", restored_by_),
               request_.compress.block_bytes / 1024,
               request_.span == BenchSpan::kMemory ? "" : fmt::format(", span {}", span_name(request_.span)),
               start_seconds_ ? fmt::format(", started in {:.1f} ms", 1e3 * *start_seconds_) : "");
    if (request_.span == BenchSpan::kFile)
      fmt::print("{:<21} {:>5} {:>12} {:>12} {:>8} {:>8} {:>11} {:>9} {:>9}  {}\n", "what", "level", "bytes",
                 "compressed", "ratio", "GB/s", "floor GB/s", "of floor", "CPU s/GB", "file");
    else
      fmt::print("{:>5} {:>12} {:>12} {:>8} {:>14} {:>14}  {}\n", "level", "bytes", "compressed", "ratio",
                 "compress GB/s", "restore GB/s", "file");
  }

  void print(const Row& row, const Data& data, int level, const Figures& figures) const {
    const std::string floor = row.floor_seconds
                                  ? fmt::format("{:>11.3f} {:>8.0f}%", gbps(data, *row.floor_seconds),
                                                100 * *row.floor_seconds / row.time.seconds)
                                  : fmt::format("{:>21}", "");
    fmt::print("{:<21} {:>5} {:>12} {:>12} {:>8.3f} {:>8.3f} {} {:>9.3f}  {}\n", row.what, level,
               data.bytes.size(), figures.compressed_bytes, ratio(data, figures),
               gbps(data, row.time.seconds), floor, cpu_seconds_per_gb(data, row.time),
               shown_name(data.name));
  }

  void record(const Row& row, const Data& data, int level, const Figures& figures) {
    Json entry{{"what", row.what},
               {"backend", row.restores ? restored_by_ : backend_},
               {"format", std::string(FormatTable::instance().of(request_.compress.format).name())},
               {"level", level},
               {"block_bytes", request_.compress.block_bytes},
               {"file", data.name},
               {"bytes", data.bytes.size()},
               {"ratio", ratio(data, figures)},
               {"gbps", gbps(data, row.time.seconds)},
               {"span", span_name(request_.span)},
               {"verified", true}};
    if (runs_on_host()) {
      entry["threads"] = threads_;
      entry["cpu_seconds_per_gb"] = cpu_seconds_per_gb(data, row.time);
    }
    if (row.floor_seconds) {
      entry["peer"] = kFloor;
      entry["peer_gbps"] = gbps(data, *row.floor_seconds);
    }
    run_["rows"].push_back(std::move(entry));
  }

  bool runs_on_host() const { return start_seconds_.has_value(); }

  const BenchRequest& request_;
  std::string backend_, restored_by_;
  unsigned threads_;
  std::optional<double> start_seconds_;  // for spans that begin and end on the host
  Json run_;
  bool has_head_ = false;
};

std::string name_without_folder(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Checked first, since minutes may pass before it is a file's turn.
void require_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    if (path != kStandardStream && access(path.c_str(), R_OK) != 0)
      throw ToolError(
          fmt::format("{}: {}", shown_name(path), tool_error_from_errno("cannot be opened").what()));
}

// The processor restores what the backend cannot restore, since the output is always verified.
std::string restored_by(const Backend& backend, Format format) {
  const bool is_stream = FormatTable::instance().of(format).writes_streams();
  const bool restores = backend.supports(format, Direction::kRestore) &&
                        (!is_stream || !backend.has_devices() || backend.restores_streams());
  return std::string(restores ? backend.name() : "cpu");
}

void bench(const BenchRequest& request, const std::string& command_line) {
  const bool on_device = request.span == BenchSpan::kKernel || request.span == BenchSpan::kPinned;
  // Measured before all else, since any query to a device starts it.
  std::optional<double> start_seconds;
  RestoreOptions restore = request.restore;
  for (const auto& known : BackendRegistry::instance().backends())
    if (known->name() == restore.backend) restore.backend = restored_by(*known, request.compress.format);
  if (!on_device) start_seconds = seconds_to_start(request.compress, restore);
  const Backend& backend = BackendRegistry::instance().choose(
      request.compress.backend, request.compress.device, {.format = request.compress.format});
  if (on_device && backend.name() != "cuda")
    throw ToolError(fmt::format("--span {} works with backend cuda only, and this is {} (see --backend)",
                                span_name(request.span), backend.name()));
  require_files(request.files);
  // All rows use one backend; `auto` does not choose by the size of each.
  restore.backend = restored_by(backend, request.compress.format);
  std::vector<int> levels = request.levels;
  if (levels.empty()) levels.assign(std::begin(kDefaultLevels), std::end(kDefaultLevels));

  Report report(request, backend, restore.backend, command_line, start_seconds);
  const std::size_t data_count = std::max<std::size_t>(request.files.size(), 1);
  for (std::size_t i = 0; i < data_count; ++i) {
    Data data{kSampleName, {}};
    if (request.files.empty()) {
      data.bytes = make_sample_data();
    } else {
      data.name = name_without_folder(request.files[i]);
      try {
        data.bytes = read_whole_file(request.files[i]);
      } catch (const std::runtime_error& error) {
        throw ToolError(fmt::format("{}: {}", shown_name(request.files[i]), error.what()));
      }
      if (data.bytes.empty())
        throw ToolError(fmt::format("{}: empty, so nothing to time", shown_name(request.files[i])));
    }
    report.add_data(data);
    repeat_to(data.bytes, request.repeat_to_bytes);
    for (const int level : levels) {
      CompressOptions options = request.compress;
      options.level = level;
      options.backend = backend.name();
      options.content_bytes = data.bytes.size();
      report.add(data, level,
                 measure(request.span, data.bytes, options, restore, request.seconds, request.batches));
    }
  }
  report.finish();
}

}  // namespace

int run_bench(std::span<const std::string> words) {
  const BenchRequest request = read_bench_request(words);
  if (request.help) {
    print_command_help("bench");
    return 0;
  }
  if (request.compare) return compare_runs(request.files[0], request.files[1]);
  std::string command_line = "hemstitch bench";
  for (const std::string& word : words) command_line += ' ' + word;
  bench(request, command_line);
  return 0;
}

}  // namespace hemstitch::cli
