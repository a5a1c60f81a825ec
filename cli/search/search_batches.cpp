#include "cli/search/search_batches.hpp"

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/messages.hpp"
#include "cli/request.hpp"
#include "core/parallel.hpp"
#include "hemstitch/files.hpp"
#include "search/device_search.hpp"

namespace hemstitch::cli {
namespace {

using Left = SearchWork::Left;
using Why = SkippedFile::Why;

// How many files of a batch a thread reports on at once.
constexpr std::size_t kReportFiles = 16;

struct SearchedBatch {
  CompactedBuffer files;
  std::vector<FileReport> reports = {};                  // one for each file
  std::vector<char> reported = {};                       // which files have their report already
  std::vector<Left> left = {};                           // what is left to do for the others
  std::optional<std::vector<PackedMatch>> matches = {};  // in all files, if a device found them
};

SearchTexts texts_of(const SearchedBatch& batch) { return {batch.files.bytes(), batch.files.offsets()}; }

class Batches {
 public:
  Batches(SearchWork& work, SearchInputs& inputs, const PatternSet& patterns)
      : work_(work), device_start_(std::async(std::launch::async, [&work, &patterns] {
          return make_device_search(work.request().options.backend, work.request().options.device, patterns);
        })) {
    while (const std::optional<WalkRun> run = inputs.next()) {
      for (const FolderEntry& entry : run->entries) files_.push_back(input_file(*run, entry));
      if (!run->complaint.empty()) work_.teller().tell(run->complaint_about, complaint_of(*run));
    }
  }

  void search(tbb::task_arena& arena) {
    std::vector<std::string> paths;
    for (const InputFile& file : files_) paths.push_back(file.path());
    FileLoader loader(std::move(paths),
                      {.threads = work_.memory().threads,
                       .memory_limit_bytes = work_.memory().batch_bytes,
                       .open_file = [&](std::size_t index) { return open_file(files_[index]); }});
    const auto load = [&]() -> std::optional<SearchedBatch> {
      if (loader.done() || work_.teller().done()) return std::nullopt;
      return SearchedBatch{loader.next()};
    };
    const auto ask = [&](SearchedBatch batch) {
      ask_device(batch);
      return batch;
    };
    arena.execute([&] {
      run_stages(work_.memory().batches_in_flight, true, load, ask, [&](SearchedBatch batch) {
        report_batch(batch);
        tell_batch(batch);
      });
    });
    if (device_start_.valid()) device_start_.get();  // it may be missing, even without a search
  }

 private:
  // The processor searches what the device does not, or everything if the device fails.
  void ask_device(SearchedBatch& batch) {
    batch.reports.resize(batch.files.count());
    batch.reported.assign(batch.files.count(), 0);
    batch.left.assign(batch.files.count(), Left::kNothing);
    if (device_start_.valid()) device_ = device_start_.get();
    if (!device_) return;
    try {
      device_->use_in_this_thread();
      if (work_.request().options.decompress)
        report_restored(batch);
      else
        batch.matches = device_->find(texts_of(batch));
    } catch (const Error& error) {
      print_message(fmt::format("{}; the processor searches instead", error.what()));
      device_ = nullptr;
    }
  }

  // The device does not return texts without a match, so it cannot help if their lines are wanted.
  void report_restored(SearchedBatch& batch) {
    if (work_.request().options.invert) return;
    const bool texts = !work_.reporter().matches_are_enough();
    device_->find_in_compressed(
        texts_of(batch), work_.memory().texts_bytes, texts, [&](std::span<const RestoredFile> files) {
          run_in_parallel(files.size(), kReportFiles, [&](std::size_t i) {
            const RestoredFile& one = files[i];
            const std::string& name = batch.files.name(one.file);
            FileReport& report = batch.reports[one.file];
            batch.reported[one.file] = 1;
            if (texts)
              batch.left[one.file] = work_.search_content(name, std::as_bytes(std::span(one.text)), false,
                                                          MatchCursor(one.matches, one.begin), report);
            else
              work_.report_whether(name, !one.matches.empty(), report);
          });
        });
  }

  void report_batch(SearchedBatch& batch) {
    run_in_parallel(batch.files.count(), kReportFiles, [&](std::size_t file) {
      FileReport& report = batch.reports[file];
      const std::string& name = batch.files.name(file);
      const std::span<const std::byte> content = batch.files.span(file);
      Left& left = batch.left[file];
      if (!batch.reported[file] && work_.waiting().full())
        left = Left::kTurn;
      else if (!batch.reported[file] && !work_.refuses_output(name, report))
        left = work_.search_content(
            name, content, work_.has_hole(name, content),
            batch.matches ? std::optional(matches_in(*batch.matches, batch.files.offsets()[file],
                                                     batch.files.offsets()[file + 1]))
                          : std::nullopt,
            report);
      if (left == Left::kPieces) left = work_.search_compressed(name, content, report);
      work_.waiting().count(report);
    });
  }

  // Skipped files are reported in their place among the others.
  void tell_batch(const SearchedBatch& batch) {
    std::size_t skipped = 0;
    const auto tell_skipped = [&](std::size_t before) {
      for (; skipped < batch.files.skipped().size() && batch.files.skipped()[skipped].index < before;
           ++skipped)
        tell_skipped_file(batch.files.skipped()[skipped]);
    };
    for (std::size_t file = 0; file < batch.files.count(); ++file) {
      tell_skipped(batch.files.index(file));
      work_.teller().tell(batch.files.name(file), batch.reports[file]);
      work_.waiting().leave(batch.reports[file]);
      if (batch.left[file] == Left::kTurn) search_in_turn(files_[batch.files.index(file)]);
    }
    tell_skipped(files_.size());
  }

  void tell_skipped_file(const SkippedFile& skipped) {
    const InputFile& file = files_[skipped.index];
    FileReport report;
    if (skipped.why == Why::kFolder) {
      work_.report_folder(skipped.name, report);
    } else if (skipped.why == Why::kEmpty) {
      static_cast<void>(work_.search_content(skipped.name, {}, false, std::nullopt, report));
    } else if (skipped.why == Why::kUnreadable && (file.listed || skipped.name != kStandardStream)) {
      report.complaint = skipped.reason;
      report.trouble = true;
    } else {
      return search_in_turn(file);
    }
    work_.teller().tell(skipped.name, report);
  }

  void search_in_turn(const InputFile& file) {
    if (!work_.teller().done()) work_.search_in_turn(file);
  }

  int open_file(const InputFile& file) {
    LastFolder& last = last_folders_.local();
    if (!last.folder || last.of != file.folder) {
      last.of = file.folder;
      last.folder.emplace(*file.folder);
    }
    return last.folder->open(file).release();
  }

  struct LastFolder {
    const Folder* of = nullptr;
    std::optional<FolderOfFiles> folder;
  };

  SearchWork& work_;
  std::vector<InputFile> files_;
  tbb::enumerable_thread_specific<LastFolder> last_folders_;
  // Starts while files are loaded. The pointer is null if the device failed.
  std::future<std::unique_ptr<DeviceSearch>> device_start_;
  std::unique_ptr<DeviceSearch> device_;
};

}  // namespace

void search_in_batches(SearchWork& work, SearchInputs& inputs, tbb::task_arena& arena,
                       const PatternSet& patterns) {
  Batches(work, inputs, patterns).search(arena);
}

}  // namespace hemstitch::cli
