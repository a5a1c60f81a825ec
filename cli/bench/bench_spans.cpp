#include "cli/bench/bench_spans.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cli/files/files.hpp"
#include "cli/messages.hpp"
#include "core/parallel.hpp"
#include "evaluate/lz4_timing.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {
namespace {

// Keeps its room from run to run, so that the system's page faults are paid once and not timed.
class MemorySink : public Sink {
 public:
  explicit MemorySink(std::size_t expected_bytes) : bytes_(expected_bytes) {}
  void write(std::span<const std::byte> piece) override {
    if (used_ + piece.size() > bytes_.size()) bytes_.resize(2 * (used_ + piece.size()));
    std::memcpy(bytes_.data() + used_, piece.data(), piece.size());
    used_ += piece.size();
  }
  void write_in_parallel(std::span<const std::byte> piece) override {
    if (used_ + piece.size() > bytes_.size()) return write(piece);
    copy_in_parallel(bytes_.data() + used_, piece.data(), piece.size());
    used_ += piece.size();
  }
  void clear() { used_ = 0; }
  std::span<const std::byte> content() const { return std::span(bytes_).first(used_); }

 private:
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
};

// A file in the folder for temporary ones that has no name, so that nothing is left of it however the tool ends.
class NamelessFile : public Sink {
 public:
  NamelessFile() {
    const char* folder = std::getenv("TMPDIR");
    std::string path = fmt::format("{}/hemstitch-bench-XXXXXX", folder != nullptr ? folder : "/tmp");
    descriptor_ = Descriptor(mkstemp(path.data()));
    if (descriptor_.number() < 0) throw tool_error_from_errno(path);
    unlink(path.c_str());
  }
  void write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_.number(), bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) throw tool_error_from_errno("writing a temporary file");
      if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void clear() {
    if (ftruncate(descriptor_.number(), 0) != 0 || lseek(descriptor_.number(), 0, SEEK_SET) != 0)
      throw tool_error_from_errno("emptying a temporary file");
  }
  // From its beginning, however far it is written.
  FileSource source() const { return FileSource(fmt::format("/proc/self/fd/{}", descriptor_.number())); }

 private:
  Descriptor descriptor_;
};

template <typename Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void require_equal(std::span<const std::byte> restored, std::span<const std::byte> data, int level) {
  if (!std::ranges::equal(restored, data))
    throw ToolError(fmt::format("level {}: the restored data differs from the original", level));
}

Figures measure_memory(std::span<const std::byte> data, const CompressOptions& compress,
                       const RestoreOptions& restore, double seconds) {
  MemorySink compressed(data.size()), restored(data.size());
  Figures figures;
  double spent = 0;
  do {
    compressed.clear();
    restored.clear();
    const double compressing = seconds_of([&] {
      MemorySource source(data);
      compress_stream(source, compressed, compress);
    });
    const double restoring = seconds_of([&] {
      MemorySource source(compressed.content());
      restore_stream(source, restored, restore);
    });
    require_equal(restored.content(), data, compress.level);
    figures.compressed_bytes = compressed.content().size();
    figures.compress_seconds = std::min(figures.compress_seconds, compressing);
    figures.restore_seconds = std::min(figures.restore_seconds, restoring);
    spent += compressing + restoring;
  } while (spent < seconds);
  return figures;
}

Figures measure_files(std::span<const std::byte> data, const CompressOptions& compress,
                      const RestoreOptions& restore, double seconds) {
  NamelessFile original, compressed, restored;
  original.write(data);
  std::vector<std::byte> content(data.size());
  Figures figures;
  double spent = 0;
  do {
    compressed.clear();
    restored.clear();
    const double compressing = seconds_of([&] {
      FileSource source = original.source();
      figures.compressed_bytes = compress_stream(source, compressed, compress).output_bytes;
    });
    const double restoring = seconds_of([&] {
      FileSource source = compressed.source();
      restore_stream(source, restored, restore);
    });
    FileSource back = restored.source();
    require_equal(std::span(content).first(back.read(content)), data, compress.level);
    figures.compress_seconds = std::min(figures.compress_seconds, compressing);
    figures.restore_seconds = std::min(figures.restore_seconds, restoring);
    spent += compressing + restoring;
  } while (spent < seconds);
  return figures;
}

}  // namespace

std::string_view span_name(BenchSpan span) {
  switch (span) {
    case BenchSpan::kMemory:
      return "memory";
    case BenchSpan::kFile:
      return "file";
    case BenchSpan::kPinned:
      return "pinned";
    case BenchSpan::kKernel:
      return "kernel";
  }
  return {};
}

FileRates measure_file_rates(std::span<const std::byte> data) {
  NamelessFile file;
  std::vector<std::byte> copy(data.size());
  const auto gbps = [&](double seconds) { return static_cast<double>(data.size()) / seconds / 1e9; };
  FileRates rates;
  rates.write_gbps = gbps(seconds_of([&] { file.write(data); }));
  run_on_threads(resolve_threads(0), [&] {
    rates.read_gbps = gbps(seconds_of([&] { file.source().read_in_parallel(copy); }));
    rates.copy_gbps = gbps(seconds_of([&] { copy_in_parallel(copy.data(), data.data(), data.size()); }));
  });
  return rates;
}

Figures measure(BenchSpan span, std::span<const std::byte> data, const CompressOptions& compress,
                const RestoreOptions& restore, double seconds) {
  if (span == BenchSpan::kMemory) return measure_memory(data, compress, restore, seconds);
  if (span == BenchSpan::kFile) return measure_files(data, compress, restore, seconds);
  const Lz4Timing timing = time_lz4_on_device(
      data, compress.level, compress.block_bytes,
      span == BenchSpan::kKernel ? TimedSpan::kKernel : TimedSpan::kPinned, seconds, compress.device);
  return {timing.compressed_bytes, timing.compress_seconds, timing.restore_seconds};
}

}  // namespace hemstitch::cli
