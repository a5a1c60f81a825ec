#include "cli/files/file_batches.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "cli/files/files.hpp"
#include "cli/files/output/disk_sync.hpp"
#include "cli/files/output/output.hpp"
#include "cli/files/output/remove_source.hpp"
#include "cli/messages.hpp"
#include "cli/progress.hpp"
#include "pipeline/ring.hpp"

namespace hemstitch::cli {
namespace {

// How many files a thread reads or writes in a row: enough to be worth the transfer, few enough that all
// threads have some.
constexpr std::size_t kFilesGrain = 8;
constexpr std::size_t kSizesGrain = 64;

// For one file, until it is written: the attributes of many files are in memory at once.
constexpr std::size_t kMostAttributeBytes = 1024;

// A file in a batch.
struct BatchFile {
  const FileName* origin = nullptr;
  std::unique_ptr<FileSource> source;  // closed once it was read; its status is still used
  std::span<const std::byte> input;
  bool left = false;  // for a stream, which begins again
  bool compressed_already = false;
  bool synced_with_batch = false;
  bool done = false;
  std::string failure;  // empty if there was none
  std::optional<std::string> warning;
  std::optional<std::string> kept;  // the reason, if its source was to be removed
  std::uint64_t output_bytes = 0;
  std::uint64_t block_count = 0;
};

struct BatchSlot {
  LargeBuffer input, output;
  std::vector<BatchFile> files;
  double seconds = 0;
  std::size_t number = 0;  // the batch's number, from 1
};

// The files of a batch, which are neighbours.
struct PlannedBatch {
  std::size_t first = 0, beyond = 0;
};

constexpr std::uint64_t kUnfit = UINT64_MAX;  // stands for the size of a file that fits no batch

// Whether the name has room for the suffix. If not, it is better to report this before the work.
bool has_room(const Request& request, const FileName& file) {
  return compressed_name(request, file.name).size() <= NAME_MAX;
}

// Restoring a.lz4.lz4 writes a.lz4, which may be another input: streams take them in order.
bool reads_what_another_writes(const Request& request, const FileName& file) {
  if (request.action != Action::kRestore) return false;
  const std::optional<std::string> name = restored_name(request, file.name);
  return !name || restored_name(request, *name).has_value();
}

// Only for planning: a file may have another size when it is opened.
std::vector<std::uint64_t> sizes_of(const Request& request, std::span<const FileName> files,
                                    unsigned threads) {
  std::vector<std::uint64_t> bytes(files.size());
  run_on_threads(threads, [&] {
    run_in_parallel(files.size(), kSizesGrain, [&](std::size_t i) {
      struct stat status {};
      const bool plain = !files[i].is_standard_stream() && files[i].stat(status) &&
                         has_room(request, files[i]) && S_ISREG(status.st_mode) &&
                         !reads_what_another_writes(request, files[i]);
      bytes[i] = plain ? static_cast<std::uint64_t>(status.st_size) : kUnfit;
    });
  });
  return bytes;
}

// Carries the files of a request through batches. Frames is FrameCompressor or FrameRestorer.
template <class Frames>
class FileBatches {
 public:
  FileBatches(const Request& request, Frames& frames, std::vector<FileName> files,
              std::vector<std::uint64_t> bytes, Tally& tally)
      : request_(request),
        frames_(frames),
        names_(std::move(files)),
        tally_(tally),
        bytes_(std::move(bytes)) {}

  std::vector<FileName> run() {
    plan();
    if (batches_.empty()) return std::move(names_);
    {
      Progress progress(fmt::format("{} files", names_.size()), total_bytes_,
                        request_.action != Action::kCompress, request_.quiet);
      run_batches(progress);
    }
    StreamReport report;
    frames_.report(report);
    if (const auto text = fallback_text(report, block_count_); text && !request_.quiet) print_message(*text);
    if (request_.verbosity > 1)
      for (const std::string& line : resource_lines(report)) print_message(line);
    std::vector<FileName> left;
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (left_[i]) left.push_back(std::move(names_[i]));
    return left;
  }

 private:
  void plan() {
    left_.assign(names_.size(), false);
    std::uint64_t room = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::uint64_t cost = bytes_[i] == kUnfit ? kUnfit : cost_of(bytes_[i]);
      if (cost > frames_.input_bytes()) {
        left_[i] = true;
        continue;
      }
      if (batches_.empty() || cost > room || i - batches_.back().first >= frames_.most_inputs()) {
        batches_.push_back({i, i});
        room = frames_.input_bytes();
      }
      room -= cost;
      batches_.back().beyond = i + 1;
      total_bytes_ += bytes_[i];
    }
  }

  std::uint64_t cost_of(std::uint64_t bytes) const {
    if constexpr (std::is_same_v<Frames, FrameCompressor>)
      return frames_.input_cost(bytes);
    else
      return bytes;
  }

  void run_batches(Progress& progress) {
    std::vector<BatchSlot> slots(std::min<std::size_t>(batches_.size(), frames_.batches_in_flight()));
    for (BatchSlot& slot : slots) {
      // A byte more for each file, to check that it ends where it should.
      slot.input = LargeBuffer(frames_.input_bytes() + frames_.most_inputs());
      slot.output = frames_.make_output();
    }
    std::size_t next = 0;
    const auto fill = [&](BatchSlot& slot) {
      if (next == batches_.size()) return false;
      slot.files.clear();
      for (std::size_t i = batches_[next].first; i < batches_[next].beyond; ++i)
        if (!left_[i]) slot.files.emplace_back().origin = &names_[i];
      slot.number = ++next;
      return true;
    };
    std::uint64_t read_bytes = 0, written_bytes = 0, file_count = 0;
    const auto emit = [&](BatchSlot& slot) {
      std::uint64_t content_bytes = 0;
      for (const BatchFile& file : slot.files) content_bytes += content_bytes_of(file);
      for (BatchFile& file : slot.files) {
        // Each file is reported with its share of the batch's time.
        tell(file, slot.seconds * static_cast<double>(content_bytes_of(file)) /
                       static_cast<double>(std::max<std::uint64_t>(1, content_bytes)));
        read_bytes += file.input.size();
        written_bytes += file.output_bytes;
      }
      file_count += slot.files.size();
      if (progress.enabled()) progress.update(read_bytes, written_bytes, file_count);
    };
    run_on_threads(frames_.threads(), [&] {
      run_ring(
          frames_.threads(), slots, false, fill, [&](BatchSlot& slot) { work(slot); }, emit);
    });
  }

  void work(BatchSlot& slot) {
    const auto begin = std::chrono::steady_clock::now();
    {
      const StageTimer timer(frames_.time_line(), Stage::kRead, slot.number);
      read(slot);
    }
    BatchSync sync;
    try {
      if (request_.remove_source && request_.sync) take_folders(slot, sync);
      convert(slot);
    } catch (...) {
      for (BatchFile& file : slot.files)
        if (is_on_its_way(file) && !file.done) file.failure = failure_text();
    }
    if (request_.remove_source) remove_sources(slot, sync);
    slot.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  static bool is_on_its_way(const BatchFile& file) {
    return !file.left && !file.compressed_already && file.failure.empty();
  }

  std::uint64_t planned_bytes(const BatchFile& file) const {
    return bytes_[static_cast<std::size_t>(file.origin - names_.data())];
  }

  void read(BatchSlot& slot) {
    std::vector<std::size_t> places;
    std::size_t place = 0;
    for (const BatchFile& file : slot.files) {
      places.push_back(place);
      place += static_cast<std::size_t>(planned_bytes(file)) + 1;
    }
    run_in_parallel(slot.files.size(), kFilesGrain, [&](std::size_t i) {
      BatchFile& file = slot.files[i];
      try {
        const auto bytes = static_cast<std::size_t>(planned_bytes(file));
        file.source = std::make_unique<FileSource>(*file.origin);
        await_later_stamps(request_, *file.source);
        const std::span<std::byte> room(slot.input.get() + places[i], bytes + 1);
        file.left = file.source->total_bytes().value_or(0) != bytes || !file.source->read_whole(room);
        if (request_.action != Action::kTest && !file.left &&
            file.source->attributes().bytes() > kMostAttributeBytes)
          file.left = true;
        file.source->close();
        if (file.left) file.source.reset();
        file.input = room.first(bytes);
        file.compressed_already =
            !file.left && leaves_compressed_files(request_) &&
            compressed_already(file.input.first(std::min(kIdentifyBytes, bytes)), file.origin->name);
      } catch (...) {
        file.failure = failure_text();
      }
    });
  }

  std::vector<BatchFile*> files_on_their_way(BatchSlot& slot) const {
    std::vector<BatchFile*> files;
    for (BatchFile& file : slot.files)
      if (is_on_its_way(file)) files.push_back(&file);
    return files;
  }

  static std::vector<std::span<const std::byte>> inputs_of(const std::vector<BatchFile*>& files) {
    std::vector<std::span<const std::byte>> inputs;
    inputs.reserve(files.size());
    for (const BatchFile* file : files) inputs.push_back(file->input);
    return inputs;
  }

  void convert(BatchSlot& slot) {
    const std::vector<BatchFile*> files = files_on_their_way(slot);
    const std::vector<std::span<const std::byte>> inputs = inputs_of(files);
    if constexpr (std::is_same_v<Frames, FrameCompressor>) {
      const auto frames = frames_.compress(inputs, slot.output);
      const StageTimer timer(frames_.time_line(), Stage::kWrite, slot.number);
      run_in_parallel(files.size(), kFilesGrain, [&](std::size_t i) {
        const std::size_t block_bytes = request_.compress.block_bytes;
        files[i]->block_count = (inputs[i].size() + block_bytes - 1) / block_bytes;
        write(*files[i], frames[i]);
      });
    } else {
      for (std::size_t done = 0; done < files.size();) {
        const auto restored = frames_.restore(std::span(inputs).subspan(done), slot.output);
        const StageTimer timer(frames_.time_line(), Stage::kWrite, slot.number);
        run_in_parallel(restored.size(), kFilesGrain, [&](std::size_t i) {
          BatchFile& file = *files[done + i];
          if (!restored[i].content) {
            file.left = true;
            return;
          }
          file.block_count = restored[i].block_count;
          write(file, *restored[i].content);
        });
        done += restored.size();
      }
    }
  }

  void write(BatchFile& file, std::span<const std::byte> bytes) {
    try {
      if (request_.action != Action::kTest) {
        const std::unique_ptr<FileSink> sink =
            open_output(request_, *file.source, BatchOutput{file.synced_with_batch});
        sink->write(bytes);
        file.warning = sink->complete(*file.source);
      }
      file.output_bytes = bytes.size();
      file.done = true;
    } catch (...) {
      file.failure = failure_text();
    }
  }

  // Calls take_output_folder() once for each folder: its files are neighbours.
  void take_folders(BatchSlot& slot, BatchSync& sync) const {
    const Folder* folder = nullptr;
    bool taken = false;
    for (BatchFile& file : slot.files) {
      if (!is_on_its_way(file)) continue;
      if (folder != file.origin->folder.get()) {
        folder = file.origin->folder.get();
        taken = take_output_folder(*file.origin, sync);
      }
      file.synced_with_batch = taken;
    }
  }

  bool take_output_folder(const FileName& origin, BatchSync& sync) const {
    try {
      make_output_folder(request_, origin);
    } catch (const ToolError&) {
      return false;  // each output in this folder will report the error
    }
    return sync.take(*output_of(request_, origin).value().folder);
  }

  // Called as soon as the batch is written, so that a source has little time to change.
  void remove_sources(BatchSlot& slot, BatchSync& sync) {
    if (std::none_of(slot.files.begin(), slot.files.end(), [](const BatchFile& file) { return file.done; }))
      return;
    std::string failure;
    try {
      sync.finish();
    } catch (...) {
      failure = failure_text();
    }
    run_in_parallel(slot.files.size(), kFilesGrain, [&](std::size_t i) {
      BatchFile& file = slot.files[i];
      if (!file.done) return;
      try {
        if (failure.empty() || !file.synced_with_batch) {
          file.kept = remove_source(request_, *file.source);
        } else {
          file.failure = failure;
          output_of(request_, *file.origin).value().unlink();  // it may look whole, but only in the cache
        }
      } catch (...) {
        file.failure = failure_text();
      }
    });
  }

  std::uint64_t content_bytes_of(const BatchFile& file) const {
    return request_.action == Action::kCompress ? file.input.size() : file.output_bytes;
  }

  void tell(const BatchFile& file, double seconds) {
    if (file.left) {
      left_[static_cast<std::size_t>(file.origin - names_.data())] = true;
      return;
    }
    if (file.compressed_already) return tally_.leave_compressed();
    if (!file.failure.empty()) return tally_.fail(file.origin->path(), file.failure);
    block_count_ += file.block_count;
    if (request_.verbosity > 0) {
      StreamReport report;
      frames_.report(report);
      report.fallback_blocks = 0;  // reported once, for all files
      report.lost_devices.clear();
      report.threads = frames_.threads();
      report.input_bytes = file.input.size();
      report.output_bytes = file.output_bytes;
      report.times = {};
      report_stream(request_, file.origin->path(), report, seconds);
    }
    if (!file.warning && !file.kept) return;
    const std::string path = file.origin->path();
    report_warning(request_, path, file.warning);
    report_warning(request_, path, file.kept);
    tally_.warn();
  }

  const Request& request_;
  Frames& frames_;
  std::vector<FileName> names_;
  Tally& tally_;
  std::vector<std::uint64_t> bytes_;  // of each file, at the time of planning
  std::vector<char> left_;            // to be taken by streams
  std::vector<PlannedBatch> batches_;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t block_count_ = 0;
};

template <class Frames, class Options>
std::vector<FileName> in_batches(const Request& request, const Options& options, std::vector<FileName> files,
                                 Tally& tally, const FrameBatchLimits& limits) {
  if (files.size() < 2) return files;
  std::vector<std::uint64_t> sizes = sizes_of(request, files, resolve_threads(options.threads));
  std::uint64_t all_bytes = 0;
  for (const std::uint64_t bytes : sizes)
    if (bytes != kUnfit) all_bytes += bytes;
  std::optional<Frames> frames;
  try {
    frames.emplace(options, limits, all_bytes);
  } catch (const Error&) {
    return files;  // the stream of each file will report the reason
  }
  return FileBatches<Frames>(request, *frames, std::move(files), std::move(sizes), tally).run();
}

}  // namespace

bool works_in_batches(const Request& request) {
  return request.recursive && !request.to_stdout && request.output_path.empty() && !request.range &&
         !request.with_name && !request.write_index;
}

std::vector<FileName> compress_in_batches(const Request& request, const CompressOptions& options,
                                          std::vector<FileName> files, Tally& tally,
                                          const FrameBatchLimits& limits) {
  return in_batches<FrameCompressor>(request, options, std::move(files), tally, limits);
}

std::vector<FileName> restore_in_batches(const Request& request, const RestoreOptions& options,
                                         std::vector<FileName> files, Tally& tally,
                                         const FrameBatchLimits& limits) {
  return in_batches<FrameRestorer>(request, options, std::move(files), tally, limits);
}

}  // namespace hemstitch::cli
