// hemstitch search: fixed strings in many files, shown as GNU grep -F shows them in the C locale.
//
// On the processor a thread reads a small file and searches it while it is in the core's cache, and hands on what there is to
// say of it; folders are listed meanwhile. With a device, or where memory is bounded, files are loaded in batches, each
// searched while the next one is read: the batch's matches come from the device, and lines are made of them here. Either way
// what there is to say is written in the order of the files.
#include "search/search.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include "arguments.hpp"
#include "commands.hpp"
#include "core/large_buffer.hpp"
#include "device/registry.hpp"
#include "files.hpp"
#include "files/own_descriptors.hpp"
#include "format/identify.hpp"
#include "hemstitch/files.hpp"
#include "messages.hpp"
#include "pipeline/ring.hpp"
#include "regular_file.hpp"
#include "search/device_search.hpp"
#include "search/line_search.hpp"
#include "search/lz4_texts.hpp"
#include "search_inputs.hpp"
#include "search_report.hpp"
#include "search_request.hpp"
#include "tally.hpp"

namespace hemstitch::cli {
namespace {

// With kExitTrouble grep's exit statuses, not those of the other commands.
constexpr int kExitFound = 0;
constexpr int kExitNothingFound = 1;

// Files up to this size are read to a thread's own memory: about a core's cache, and larger ones are few.
constexpr std::size_t kSmallFileBytes = 256 * 1024;
// Small files that a thread takes at once: half a millisecond's work.
constexpr std::size_t kRunFiles = 32;
// Runs on their way for each thread: what is searched may be ahead of what is written.
constexpr std::size_t kRunsPerThread = 4;
// Contents of larger files that are searched side by side; one that is larger than this, by itself.
constexpr std::uint64_t kLargeFilesBytes = std::uint64_t{96} << 20;

// Contents of a batch for a device, which has something to wait for in each; what --memory says goes before.
constexpr std::uint64_t kBatchBytes = std::uint64_t{64} << 20;
// One is read while another is searched, a third made into lines, and a fourth written.
constexpr std::size_t kBatchesInFlight = 4;
// With a device, contents that are loaded while it starts, a few tenths of a second in which a host reads some gigabytes; and the
// part of the host's memory that is taken for them.
constexpr std::uint64_t kAheadBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kAheadShare = 8;
// Files of a batch that a thread reports on at once.
constexpr std::size_t kReportFiles = 16;
constexpr const char* kStandardInputName = "(standard input)";

std::string shown_input(const std::string& path) {
  return path == kStandardStream ? kStandardInputName : path;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file that is no regular one, to its end.
std::vector<std::byte> read_stream(const std::string& path) {
  FileSource source(path);
  if (source.is_directory()) throw ToolError("Is a directory");
  std::vector<std::byte> content;
  for (std::size_t got = 1, done = 0; got != 0; done += got) {
    content.resize(std::max<std::size_t>(2 * done, 64 * 1024));
    got = source.read(std::span(content).subspan(done));
    if (got == 0) content.resize(done);
  }
  return content;
}

// Who wants more than there is waits for others; who wants more than there ever is, until no other has any.
class MemoryShare {
 public:
  MemoryShare(MemoryShare&&) = delete;
  class Budget {
   public:
    explicit Budget(std::uint64_t bytes) : bytes_(bytes) {}

   private:
    friend class MemoryShare;
    std::uint64_t bytes_, taken_bytes_ = 0;
    std::mutex mutex_;
    std::condition_variable given_back_;
  };

  MemoryShare(Budget& budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {
    std::unique_lock lock(budget.mutex_);
    budget.given_back_.wait(
        lock, [&] { return budget.taken_bytes_ == 0 || budget.taken_bytes_ + bytes <= budget.bytes_; });
    budget.taken_bytes_ += bytes;
  }
  ~MemoryShare() {
    const std::scoped_lock lock(budget_.mutex_);
    budget_.taken_bytes_ -= bytes_;
    budget_.given_back_.notify_all();
  }

 private:
  Budget& budget_;
  std::uint64_t bytes_;
};

class SearchRun {
 public:
  explicit SearchRun(const SearchRequest& request)
      : request_(request),
        arena_(request.threads == 0 ? tbb::task_arena::automatic : static_cast<int>(request.threads)),
        inputs_(request, kRunFiles, arena_),
        every_line_(std::find(request.patterns.begin(), request.patterns.end(), "") !=
                    request.patterns.end()),
        patterns_(patterns_of(request)),
        reporter_(request, inputs_.with_names(), every_line_, patterns_ ? &*patterns_ : nullptr) {
    // Where every line matches there is nothing to look for; but a wrong name is wrong for any pattern.
    if (patterns_ && !every_line_ && may_search_on_device(request.backend))
      device_start_ =
          std::async(std::launch::async, [this] { return make_device_search(request_.backend, *patterns_); });
    else if (request.backend != "auto")
      BackendRegistry::instance().find_usable(request.backend);
  }

  int run() {
    if (device_start_.valid() || request_.memory_bytes != 0)
      search_batches();
    else
      search_as_read();
    return trouble_ ? kExitTrouble : found_ ? kExitFound : kExitNothingFound;
  }

 private:
  static std::optional<PatternSet> patterns_of(const SearchRequest& request) {
    std::vector<std::string> patterns;
    for (const std::string& pattern : request.patterns)
      if (!pattern.empty()) patterns.push_back(pattern);
    if (patterns.empty()) return std::nullopt;
    return PatternSet(std::move(patterns), request.ignore_case);
  }

  // What is said of files that follow each other, up to one with a complaint.
  struct Part {
    FileReport report;
    std::string file;                // that the complaint is about
    std::uint64_t unread_bytes = 0;  // a file that was too large to be read with the small ones
    bool stream = false;             // `file` is no regular one: it is read when its turn to be told has come
  };

  // In the order of the inputs.
  void search_as_read() {
    const auto take = [&](tbb::flow_control& control) {
      const std::optional<InputRun> run = inputs_.next();
      if (!run) control.stop();
      return run ? *run : InputRun{};
    };
    arena_.execute([&] {
      tbb::parallel_pipeline(
          kRunsPerThread * static_cast<std::size_t>(arena_.max_concurrency()),
          tbb::make_filter<void, InputRun>(tbb::filter_mode::serial_in_order, take) &
              tbb::make_filter<InputRun, std::vector<Part>>(
                  tbb::filter_mode::parallel, [&](const InputRun& run) { return search_run(run); }) &
              tbb::make_filter<std::vector<Part>, void>(tbb::filter_mode::serial_in_order,
                                                        [&](const std::vector<Part>& parts) {
                                                          for (const Part& part : parts) tell_part(part);
                                                        }));
    });
  }

  std::vector<Part> search_run(const InputRun& run) {
    std::vector<Part> parts(1);
    if (!run.complaint.empty()) {
      parts.back() = {
          {.output = {}, .complaint = std::string(run.complaint), .found = false, .trouble = true},
          std::string(run.folder)};
      return parts;
    }
    std::unique_ptr<std::byte[]>& memory = small_file_memory_.local();
    if (!memory) {
      memory = std::make_unique_for_overwrite<std::byte[]>(kSmallFileBytes);
      use_own_descriptors();
    }
    const std::span room(memory.get(), kSmallFileBytes);
    const FolderOfFiles folder(run.prefix);
    std::string path;
    bool any_unread = false;
    for (const std::string& name : run.names) {
      path.assign(run.prefix).append(name);
      const RegularFile file = run.listed || may_be_opened(path) ? read_regular_file(folder.open(name), room)
                                                                 : RegularFile{{}, Why::kNotRegular, {}};
      Part& part = parts.back();
      if (!file.skipped) {
        report_content(path, file.content, part.report);
      } else if (*file.skipped == Why::kNotRegular) {
        part.stream = true;
      } else if (*file.skipped == Why::kTooLarge) {
        part.unread_bytes = file.bytes;
        any_unread = true;
      } else {
        report_skipped(path, *file.skipped, file.reason, part.report);
      }
      if (part.stream || part.unread_bytes != 0 || !part.report.complaint.empty()) {
        part.file = path;
        parts.emplace_back();
      }
    }
    // Last, since this thread may take another run while it waits for others here.
    if (any_unread)
      tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) {
        if (parts[i].unread_bytes != 0) search_large_file(parts[i]);
      });
    return parts;
  }

  // Pipes and devices are opened once.
  static bool may_be_opened(const std::string& path) {
    struct stat status {};
    return path != kStandardStream &&
           (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
  }

  void search_large_file(Part& part) {
    const MemoryShare share(large_files_, part.unread_bytes);
    const LargeBuffer memory(part.unread_bytes);
    const RegularFile file =
        read_regular_file(FolderOfFiles("").open(part.file), {memory.get(), part.unread_bytes});
    // Too large once more: it grew.
    if (file.skipped)
      report_skipped(part.file, *file.skipped, file.reason, part.report);
    else
      report_content(part.file, file.content, part.report);
  }

  void tell_part(const Part& part) {
    tell(part.file, part.report);
    if (part.stream) tell(part.file, report_stream(part.file));
  }

  struct SearchedBatch {
    CompactedBuffer files;
    std::vector<FileReport> reports;                       // of each of them
    std::vector<char> reported;                            // which of them have theirs already
    std::optional<std::vector<PackedMatch>> matches = {};  // in all of them, where a device found them
  };

  // With those that are loaded while the device starts.
  std::size_t batches_in_flight() const {
    if (request_.memory_bytes != 0) return 1;
    const auto memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                              static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return kBatchesInFlight + std::min(kAheadBytes, memory_bytes / kAheadShare) / kBatchBytes;
  }

  void search_batches() {
    std::vector<std::string> paths;
    while (const std::optional<InputRun> run = inputs_.next()) {
      for (const std::string& name : run->names) paths.push_back(std::string(run->prefix).append(name));
      if (run->complaint.empty()) continue;
      print_message(run->folder, run->complaint);
      trouble_ = true;
    }
    // Without --memory a file may be larger than a batch; then it is one. With it, one batch is there at a time.
    const bool bounded = request_.memory_bytes != 0;
    FileLoader loader(paths, {.threads = request_.threads,
                              .memory_limit_bytes = bounded ? request_.memory_bytes : kBatchBytes,
                              .oversize_alone = !bounded});
    const auto load = [&](tbb::flow_control& control) {
      if (loader.done()) {
        control.stop();
        return SearchedBatch{};
      }
      return SearchedBatch{loader.next(), {}, {}};
    };
    using tbb::filter_mode, tbb::make_filter;
    arena_.execute([&] {
      tbb::parallel_pipeline(
          batches_in_flight(),
          make_filter<void, SearchedBatch>(filter_mode::serial_in_order, load) &
              make_filter<SearchedBatch, SearchedBatch>(filter_mode::serial_in_order,
                                                        [&](SearchedBatch batch) {
                                                          ask_device(batch);
                                                          return batch;
                                                        }) &
              make_filter<SearchedBatch, SearchedBatch>(filter_mode::serial_in_order,
                                                        [&](SearchedBatch batch) {
                                                          report_batch(batch);
                                                          return batch;
                                                        }) &
              make_filter<SearchedBatch, void>(filter_mode::serial_in_order, [&](const SearchedBatch& batch) {
                tell_batch(batch, paths);
              }));
    });
    if (device_start_.valid()) device_start_.get();  // there was nothing to search, but it may be missing
  }

  // What was skipped has its place among the others.
  void tell_batch(const SearchedBatch& searched, const std::vector<std::string>& paths) {
    const CompactedBuffer& batch = searched.files;
    std::size_t skipped = 0;
    const auto tell_skipped = [&](std::size_t before) {
      for (; skipped < batch.skipped().size() && batch.skipped()[skipped].index < before; ++skipped) {
        const SkippedFile& file = batch.skipped()[skipped];
        FileReport report;
        if (file.name == kStandardStream || file.why == Why::kNotRegular)
          report = report_stream(file.name);
        else
          report_skipped(file.name, file.why, file.reason, report);
        tell(file.name, report);
      }
    };
    for (std::size_t file = 0; file < batch.count(); ++file) {
      tell_skipped(batch.index(file));
      tell(batch.name(file), searched.reports[file]);
    }
    tell_skipped(paths.size());
  }

  // What the device does not find is the processor's: all of it where the device fails.
  void ask_device(SearchedBatch& batch) {
    batch.reports.resize(batch.files.count());
    batch.reported.assign(batch.files.count(), 0);
    if (device_start_.valid()) device_ = device_start_.get();
    if (!device_) return;
    try {
      device_->use_in_this_thread();
      if (request_.decompress)
        report_restored(batch);
      else
        batch.matches = device_->find(batch.files);
    } catch (const Error& error) {
      print_message(fmt::format("{}; the processor searches instead", error.what()));
      device_ = nullptr;
    }
  }

  void report_batch(SearchedBatch& batch) const {
    const CompactedBuffer& files = batch.files;
    run_in_parallel(files.count(), kReportFiles, [&](std::size_t file) {
      const std::string& name = files.name(file);
      FileReport& report = batch.reports[file];
      if (batch.matches)
        reporter_.report(name, text_of(files.span(file)), matches_in(batch, file), report);
      else if (!batch.reported[file])
        report_content(name, files.span(file), report);
    });
  }

  static MatchCursor matches_in(const SearchedBatch& batch, std::size_t file) {
    const auto first_at = [&](std::uint64_t position) {
      return std::lower_bound(batch.matches->begin(), batch.matches->end(), position,
                              [](PackedMatch match, std::uint64_t at) { return match.position() < at; });
    };
    const std::uint64_t begin = batch.files.offsets()[file], end = batch.files.offsets()[file + 1];
    return {std::span<const PackedMatch>(first_at(begin), first_at(end)), begin};
  }

  void report_restored(SearchedBatch& batch) {
    device_->find_in_lz4(batch.files, !request_.names_only, [&](std::span<const RestoredFile> files) {
      run_in_parallel(files.size(), kReportFiles, [&](std::size_t i) {
        const RestoredFile& one = files[i];
        reporter_.report(batch.files.name(one.file), one.text, MatchCursor(one.matches, one.begin),
                         batch.reports[one.file]);
        batch.reported[one.file] = 1;
      });
    });
  }

  void report_content(const std::string& name, std::span<const std::byte> content, FileReport& report) const {
    if (!request_.decompress ||
        identify_data(content.first(std::min(content.size(), kIdentifyBytes))).kind != DataKind::kLz4Frame) {
      reporter_.report(name, text_of(content), report);
      return;
    }
    if (const auto restored = lz4_restorers_.local().restore(content)) {
      reporter_.report(name, text_of(*restored), report);
      return;
    }
    try {
      RestoreOptions options;
      options.threads = 1;  // files are restored side by side
      const std::vector<std::byte> restored = restore(content, options);
      reporter_.report(name, text_of(restored), report);
    } catch (const std::exception& error) {
      report.complaint = error.what();
      report.trouble = true;
    }
  }

  void report_skipped(const std::string& name, SkippedFile::Why why, const std::string& reason,
                      FileReport& report) const {
    // Empty files have no lines; and grep opens a folder before it fails to read it.
    if (why == Why::kEmpty || why == Why::kFolder) reporter_.report(name, {}, report);
    if (why == Why::kEmpty) return;
    report.complaint = reason;
    report.trouble = true;
  }

  // Pipes, devices and stdin, whose size is not known before.
  FileReport report_stream(const std::string& path) const {
    FileReport report;
    try {
      report_content(shown_input(path), read_stream(path), report);
    } catch (const std::exception& error) {
      report.complaint = error.what();
      report.trouble = true;
    }
    return report;
  }

  void tell(const std::string& path, const FileReport& report) {
    if (!report.output.empty() &&
        std::fwrite(report.output.data(), 1, report.output.size(), stdout) != report.output.size())
      throw tool_error_from_errno("stdout");
    if (!report.complaint.empty()) {
      std::fflush(stdout);
      print_message(shown_input(path), report.complaint);
    }
    found_ |= report.found;
    trouble_ |= report.trouble;
  }

  using Why = SkippedFile::Why;

  const SearchRequest& request_;
  tbb::task_arena arena_;
  SearchInputs inputs_;
  bool every_line_;
  std::optional<PatternSet> patterns_;
  Reporter reporter_;
  // Starts while files are loaded; none where the processor searches, or the device failed.
  std::future<std::unique_ptr<DeviceSearch>> device_start_;
  std::unique_ptr<DeviceSearch> device_;
  tbb::enumerable_thread_specific<std::unique_ptr<std::byte[]>> small_file_memory_;
  mutable tbb::enumerable_thread_specific<Lz4TextRestorer> lz4_restorers_;
  MemoryShare::Budget large_files_{kLargeFilesBytes};
  bool found_ = false;
  bool trouble_ = false;
};

}  // namespace

int run_search(std::span<const std::string> words) {
  try {
    const SearchRequest request = parse_search(words);
    if (request.help) {
      fmt::print("{}", kSearchUsage);
      return kExitFound;
    }
    return SearchRun(request).run();
  } catch (const UsageError& error) {
    print_message(fmt::format("{} (hemstitch search -h lists the options)", error.what()));
  } catch (...) {
    if (std::ferror(stdout) == 0) print_message(failure_text());  // of stdout the tool tells
  }
  return kExitTrouble;
}

}  // namespace hemstitch::cli
