#include "cli/bench/bench_spans.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "batch/batch_timing.hpp"
#include "cli/bench/file_floor.hpp"
#include "cli/bench/nameless_file.hpp"
#include "cli/files/files.hpp"
#include "cli/messages.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "engine/cuda/cuda_engine_tuning.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {
namespace {

// The first run in a process also pays for the memory of batches and for pages that nothing has touched.
constexpr int kLeastRuns = 2;
// The best batch size for a program that keeps its data in pinned memory (docs/performance.md, 'Batches from
// and to pinned memory').
constexpr std::size_t kPinnedBatchBytes = std::size_t{128} << 20;

// Keeps its memory from run to run, so that page faults are paid once and not timed.
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

double cpu_seconds_now() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <typename Work>
Timed time_of(const Work& work) {
  const double cpu_before = cpu_seconds_now();
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {elapsed.count(), cpu_seconds_now() - cpu_before};
}

void keep_fastest(Timed& fastest, const Timed& run) {
  if (run.seconds < fastest.seconds) fastest = run;
}

[[noreturn]] void refuse_difference(int level) {
  throw ToolError(fmt::format("level {}: the restored data differs from the original", level));
}

void require_equal(std::span<const std::byte> restored, std::span<const std::byte> data, int level) {
  if (!std::ranges::equal(restored, data)) refuse_difference(level);
}

void require_equal(const NamelessFile& restored, std::span<const std::byte> data, int level) {
  constexpr std::size_t kPieceBytes = std::size_t{64} << 20;
  FileSource back(restored.path());
  std::vector<std::byte> piece(std::min(data.size(), kPieceBytes) + 1);
  while (const std::size_t count = back.read_in_parallel(piece)) {
    if (count > data.size() || std::memcmp(piece.data(), data.data(), count) != 0) refuse_difference(level);
    data = data.subspan(count);
  }
  if (!data.empty()) refuse_difference(level);
}

Figures measure_memory(std::span<const std::byte> data, const CompressOptions& compress,
                       const RestoreOptions& restore, double seconds, int least_runs = kLeastRuns) {
  MemorySink compressed(data.size()), restored(data.size());
  Figures figures;
  double spent = 0;
  for (int runs = 0; runs < least_runs || spent < seconds; ++runs) {
    compressed.clear();
    restored.clear();
    const Timed compressing = time_of([&] {
      MemorySource source(data);
      compress_stream(source, compressed, compress);
    });
    const Timed restoring = time_of([&] {
      MemorySource source(compressed.content());
      restore_stream(source, restored, restore);
    });
    require_equal(restored.content(), data, compress.level);
    figures.compressed_bytes = compressed.content().size();
    keep_fastest(figures.compress, compressing);
    keep_fastest(figures.restore, restoring);
    spent += compressing.seconds + restoring.seconds;
  }
  return figures;
}

// Uses the sources and sinks of the commands, apart from the names of the files, which are this process's alone. It makes
// no holes, like the floor.
Figures measure_files(std::span<const std::byte> data, const CompressOptions& compress,
                      const RestoreOptions& restore, double seconds) {
  const NamelessFile original;
  FileSink::into(original.descriptor())->write(data);
  const auto compress_into = [&](FileSink& sink) {
    FileSource source(original.path());
    return compress_stream(source, sink, compress).output_bytes;
  };
  const Descriptor null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const unsigned threads = resolve_threads(compress.threads);
  Figures figures;
  FileFigures files;
  double spent = 0;
  for (int runs = 0; runs < kLeastRuns || spent < seconds; ++runs) {
    std::optional<NamelessFile> compressed, restored;
    const Timed compressing = time_of([&] {
      compressed.emplace();
      figures.compressed_bytes = compress_into(*FileSink::into_own(compressed->descriptor()));
    });
    const Timed restoring = time_of([&] {
      restored.emplace();
      FileSource source(compressed->path());
      restore_stream(source, *FileSink::into_own(restored->descriptor()), restore);
    });
    require_equal(*restored, data, compress.level);
    restored.reset();
    keep_fastest(figures.compress, compressing);
    keep_fastest(figures.restore, restoring);
    keep_fastest(files.compress_to_null, time_of([&] { compress_into(*FileSink::into(null.number())); }));
    keep_fastest(files.test, time_of([&] {
                   FileSource source(compressed->path());
                   NullSink nowhere;
                   restore_stream(source, nowhere, restore);
                 }));
    files.restore_floor_seconds = std::min(files.restore_floor_seconds, floor_seconds(data, threads));
    files.compress_floor_seconds =
        std::min(files.compress_floor_seconds, floor_seconds(read_whole_file(compressed->path()), threads));
    spent += compressing.seconds + restoring.seconds;
  }
  figures.files = files;
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
  const NamelessFile file;
  std::vector<std::byte> copy(data.size());
  const auto gbps = [&](const auto& work) {
    return static_cast<double>(data.size()) / time_of(work).seconds / 1e9;
  };
  FileRates rates;
  run_on_threads(resolve_threads(0), [&] {
    rates.write_gbps = gbps([&] { FileSink::into_own(file.descriptor())->write_in_parallel(data); });
    rates.read_gbps = gbps([&] { FileSource(file.path()).read_in_parallel(copy); });
    rates.copy_gbps = gbps([&] { copy_in_parallel(copy.data(), data.data(), data.size()); });
  });
  return rates;
}

Figures measure(BenchSpan span, std::span<const std::byte> data, const CompressOptions& compress,
                const RestoreOptions& restore, double seconds, const PinnedBatches& batches) {
  if (span == BenchSpan::kMemory) return measure_memory(data, compress, restore, seconds);
  if (span == BenchSpan::kFile) return measure_files(data, compress, restore, seconds);
  const std::size_t usual_bytes =
      std::max(kPinnedBatchBytes, cuda::kEngineBatchBlocks * compress.block_bytes);
  const TimedWork work{.format = compress.format,
                       .level = compress.level,
                       .block_bytes = compress.block_bytes,
                       .span = span == BenchSpan::kKernel ? TimedSpan::kKernel : TimedSpan::kPinned,
                       .batch_bytes = batches.bytes != 0 ? batches.bytes : usual_bytes,
                       .batch_count = batches.count != 0 ? batches.count : cuda::kEngineSlots};
  const BatchTiming timing = time_batches(data, work, seconds, compress.device);
  return {timing.compressed_bytes, {timing.compress_seconds}, {timing.restore_seconds}, std::nullopt};
}

double seconds_to_start(const CompressOptions& compress, const RestoreOptions& restore) {
  constexpr std::size_t kFirstBytes = 4096;
  const std::vector<std::byte> data(kFirstBytes, std::byte{'x'});
  return time_of([&] { measure_memory(data, compress, restore, 0, 1); }).seconds;
}

}  // namespace hemstitch::cli
