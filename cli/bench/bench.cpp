// hemstitch bench: compresses and restores each file, again and again, and tells the fastest run of each. Every round
// trip is compared with the original byte for byte.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/bench/bench_spans.hpp"
#include "cli/bench/recorded_run.hpp"
#include "cli/bench/sample_data.hpp"
#include "cli/commands.hpp"
#include "cli/files/files.hpp"
#include "cli/messages.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "gpu/device_names.hpp"

namespace hemstitch::cli {
namespace {

constexpr int kDefaultLevels[] = {1, 3, 6, 9, 12};
constexpr double kGiga = 1e9;

struct Data {
  std::string name;
  std::vector<std::byte> bytes;
};

// The machine: the backend's device, where it has one of its own, and the processor.
std::string machine_name(const Backend& backend, const std::string& wanted) {
  const std::string device = backend.device_name(wanted_device(wanted));
  return device.empty() ? processor_name() : fmt::format("{}; {}", device, processor_name());
}

// Over and over, up to `bytes`.
void repeat_to(std::vector<std::byte>& data, std::uint64_t bytes) {
  const std::size_t once = data.size();
  if (bytes <= once) return;
  data.resize(static_cast<std::size_t>(bytes));
  for (std::size_t at = once; at < data.size(); ++at) data[at] = data[at - once];
}

class Report {
 public:
  Report(const Request& request, const Backend& backend, const std::string& command_line)
      : request_(request),
        backend_(backend.name()),
        run_(begin_recorded_run(machine_name(backend, request.compress.device), command_line)) {}

  void add_data(const Data& data) {
    if (request_.json)
      run_["files"].push_back(describe_data(data.name, data.bytes));
    else if (!std::exchange(has_head_, true))
      print_head();
  }

  void add(const Data& data, int level, const Figures& figures) {
    const auto bytes = static_cast<double>(data.bytes.size());
    const double ratio = bytes / static_cast<double>(figures.compressed_bytes);
    const double compress_gbps = bytes / figures.compress_seconds / kGiga;
    const double restore_gbps = bytes / figures.restore_seconds / kGiga;
    if (request_.json) {
      add_row("compress", data, level, ratio, compress_gbps);
      add_row("restore", data, level, ratio, restore_gbps);
    } else {
      fmt::print("{:>5} {:>12} {:>12} {:>8.3f} {:>14.3f} {:>14.3f}  {}\n", level, data.bytes.size(),
                 figures.compressed_bytes, ratio, compress_gbps, restore_gbps, shown_name(data.name));
      std::fflush(stdout);
    }
  }

  void finish() const {
    if (request_.json) fmt::print("{}\n", run_.dump(2, ' ', false, Json::error_handler_t::replace));
  }

 private:
  void print_head() const {
    fmt::print("{}\nbackend {}, blocks of {}K{}\n", run_["device"].get<std::string>(), backend_,
               request_.compress.block_bytes / 1024,
               request_.span == BenchSpan::kMemory ? "" : fmt::format(", span {}", span_name(request_.span)));
    fmt::print("{:>5} {:>12} {:>12} {:>8} {:>14} {:>14}  {}\n", "level", "bytes", "compressed", "ratio",
               "compress GB/s", "restore GB/s", "file");
  }

  void add_row(const char* what, const Data& data, int level, double ratio, double gbps) {
    run_["rows"].push_back(
        {{"what", what},
         {"backend", backend_},
         {"format", std::string(FormatTable::instance().of(request_.compress.format).name())},
         {"level", level},
         {"block_bytes", request_.compress.block_bytes},
         {"file", data.name},
         {"bytes", data.bytes.size()},
         {"ratio", ratio},
         {"gbps", gbps},
         {"span", span_name(request_.span)},
         {"verified", true}});
  }

  const Request& request_;
  std::string backend_;
  Json run_;
  bool has_head_ = false;
};

std::string name_without_folder(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Minutes may pass before a file's turn comes.
void require_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    if (path != kStandardStream && access(path.c_str(), R_OK) != 0)
      throw ToolError(
          fmt::format("{}: {}", shown_name(path), tool_error_from_errno("cannot be opened").what()));
}

}  // namespace

int run_bench(const Request& request, const std::string& command_line) {
  const Backend& backend =
      BackendRegistry::instance().choose(request.compress.backend, request.compress.device);
  if ((request.span == BenchSpan::kKernel || request.span == BenchSpan::kPinned) && backend.name() != "cuda")
    throw ToolError(fmt::format("--span {} is of backend cuda, and this is {} (see --backend)",
                                span_name(request.span), backend.name()));
  require_files(request.files);
  // One backend for all rows: where it is ours to choose, not by the size of each.
  RestoreOptions restore = request.restore;
  restore.backend = backend.name();
  std::vector<int> levels = request.levels;
  if (levels.empty()) levels.assign(std::begin(kDefaultLevels), std::end(kDefaultLevels));

  Report report(request, backend, command_line);
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
    repeat_to(data.bytes, request.repeat_to_bytes);
    report.add_data(data);
    for (const int level : levels) {
      CompressOptions options = request.compress;
      options.level = level;
      options.backend = backend.name();
      options.content_bytes = data.bytes.size();
      report.add(data, level, measure(request.span, data.bytes, options, restore, request.seconds));
    }
  }
  report.finish();
  return 0;
}

}  // namespace hemstitch::cli
