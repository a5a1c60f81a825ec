// hemstitch bench: compresses and restores each file in memory, again and again, and tells the fastest run of
// each. Every round trip that is timed is compared with the original byte for byte.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>

#include "commands.hpp"
#include "device/registry.hpp"
#include "files.hpp"
#include "messages.hpp"
#include "pipeline/stream.hpp"
#include "recorded_run.hpp"
#include "sample_data.hpp"

namespace hemstitch::cli {
namespace {

constexpr int kDefaultLevels[] = {1, 3, 6, 9, 12};
constexpr double kGiga = 1e9;
// Data in ordinary memory at both ends, nothing of a file system's.
constexpr const char* kSpan = "memory";

struct Data {
  std::string name;
  std::vector<std::byte> bytes;
};

struct Figures {
  std::uint64_t compressed_bytes = 0;
  double compress_seconds = std::numeric_limits<double>::infinity();
  double restore_seconds = std::numeric_limits<double>::infinity();
};

// Keeps its room from run to run, so that the system's page faults are paid once and not timed.
class MemorySink : public Sink {
 public:
  explicit MemorySink(std::size_t expected_bytes) : bytes_(expected_bytes) {}
  void write(std::span<const std::byte> piece) override {
    if (used_ + piece.size() > bytes_.size()) bytes_.resize(2 * (used_ + piece.size()));
    std::memcpy(bytes_.data() + used_, piece.data(), piece.size());
    used_ += piece.size();
  }
  void clear() { used_ = 0; }
  std::span<const std::byte> content() const { return std::span(bytes_).first(used_); }

 private:
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
};

template <typename Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Figures measure(const Data& data, const CompressOptions& compress, const RestoreOptions& restore,
                double seconds) {
  MemorySink compressed(data.bytes.size()), restored(data.bytes.size());
  Figures figures;
  double spent = 0;
  do {
    compressed.clear();
    restored.clear();
    const double compressing = seconds_of([&] {
      MemorySource source(data.bytes);
      compress_stream(source, compressed, compress);
    });
    const double restoring = seconds_of([&] {
      MemorySource source(compressed.content());
      restore_stream(source, restored, restore);
    });
    if (!std::ranges::equal(restored.content(), data.bytes))
      throw ToolError(fmt::format("level {}: the restored data differs from the original", compress.level));
    figures.compressed_bytes = compressed.content().size();
    figures.compress_seconds = std::min(figures.compress_seconds, compressing);
    figures.restore_seconds = std::min(figures.restore_seconds, restoring);
    spent += compressing + restoring;
  } while (spent < seconds);
  return figures;
}

class Report {
 public:
  Report(const Request& request, const std::string& backend, const std::string& command_line)
      : request_(request), backend_(backend), run_(begin_recorded_run(processor_name(), command_line)) {
    if (request.json) return;
    fmt::print("{}\nbackend {}, blocks of {}K\n", run_["device"].get<std::string>(), backend,
               request.compress.block_bytes / 1024);
    fmt::print("{:>5} {:>12} {:>12} {:>8} {:>14} {:>14}  {}\n", "level", "bytes", "compressed", "ratio",
               "compress GB/s", "restore GB/s", "file");
  }

  void add_data(const Data& data) {
    if (request_.json) run_["files"].push_back(describe_data(data.name, data.bytes));
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
  void add_row(const char* what, const Data& data, int level, double ratio, double gbps) {
    run_["rows"].push_back({{"what", what},
                            {"backend", backend_},
                            {"format", "lz4"},
                            {"level", level},
                            {"block_bytes", request_.compress.block_bytes},
                            {"file", data.name},
                            {"bytes", data.bytes.size()},
                            {"ratio", ratio},
                            {"gbps", gbps},
                            {"span", kSpan},
                            {"verified", true}});
  }

  const Request& request_;
  std::string backend_;
  Json run_;
};

std::string name_without_folder(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

int run_bench(const Request& request, const std::string& command_line) {
  const std::string backend(BackendRegistry::instance().choose(request.compress.backend).name());
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
    report.add_data(data);
    for (const int level : levels) {
      CompressOptions options = request.compress;
      options.level = level;
      options.content_bytes = data.bytes.size();
      report.add(data, level, measure(data, options, request.restore, request.seconds));
    }
  }
  report.finish();
  return 0;
}

}  // namespace hemstitch::cli
