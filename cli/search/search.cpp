// hemstitch search: fixed strings in many files, shown as GNU grep -F shows them in the C locale.
//
// On the processor, a thread reads a small file, searches it while it is in the core's cache, and passes on
// the report; meanwhile folders are listed. A larger file is searched piece by piece, at the same time as
// others. With a device, files are loaded in batches instead (search_batches.hpp). In both cases, reports are
// written in the order of the files.
#include "search/search.hpp"

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "cli/commands.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_values.hpp"
#include "cli/search/search_batches.hpp"
#include "cli/search/search_inputs.hpp"
#include "cli/search/search_memory.hpp"
#include "cli/search/search_request.hpp"
#include "cli/search/search_work.hpp"
#include "cli/tally.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "engine/registry.hpp"
#include "files/load/own_descriptors.hpp"
#include "search/device_search.hpp"
#include "search/search_plan.hpp"

namespace hemstitch::cli {
namespace {

// How many small files a thread takes at once: half a millisecond's work.
constexpr std::size_t kRunFiles = 32;
// How many runs may be in flight for each thread, since searching may be ahead of writing.
constexpr std::size_t kRunsPerThread = 4;

// Whether no content could be selected. Then the files are not read, unless the names of files without a
// selected line are wanted.
bool selects_nothing(const SearchRequest& request) {
  const SearchOptions& options = request.options;
  const bool every_line = !options.whole_words && !options.whole_lines && options.patterns.size() == 1 &&
                          options.patterns.front().empty();
  return (options.most_lines == 0 || (every_line && options.invert)) &&
         request.names != SearchRequest::Names::kNotMatching;
}

// The report on consecutive files, up to a file with a complaint, or one that is not searched yet.
struct Part {
  FileReport report;
  std::string path;  // of that file
  InputFile file;
  SearchWork::Left left = SearchWork::Left::kNothing;
};

struct OwnDescriptors {
  OwnDescriptors() { use_own_descriptors(); }
};

class FilesAsRead {
 public:
  FilesAsRead(SearchWork& work, SearchInputs& inputs, tbb::task_arena& arena)
      : work_(work), inputs_(inputs), arena_(arena) {}

  // Searches in the order of the inputs.
  void search() {
    const auto take = [&] { return work_.teller().done() ? std::nullopt : inputs_.next(); };
    arena_.execute([&] {
      run_stages(
          kRunsPerThread * static_cast<std::size_t>(arena_.max_concurrency()), false, take,
          [&](const WalkRun& run) { return search_run(run); },
          [&](std::vector<Part> parts) {
            for (Part& part : parts) tell(part);
          });
    });
  }

 private:
  std::vector<Part> search_run(const WalkRun& run) {
    std::vector<Part> parts(1);
    if (!run.complaint.empty()) {
      parts.back().path = run.complaint_about;
      parts.back().report = complaint_of(run);
      return parts;
    }
    own_descriptors_.local();
    const FolderOfFiles folder(*run.folder);
    const std::string prefix = run.folder->path_of("");
    std::string path;
    bool any_pieces = false;
    for (const FolderEntry& entry : run.entries) {
      if (work_.teller().done() || (work_.request().quiet && parts.back().report.found)) break;
      path.assign(prefix).append(entry.name);
      Part& part = parts.back();
      part.file = input_file(run, entry);
      part.left = work_.search_small(part.file, path, folder, part.report);
      any_pieces |= part.left == SearchWork::Left::kPieces;
      if (part.left == SearchWork::Left::kNothing && part.report.complaint.empty()) continue;
      part.path = path;
      parts.emplace_back();
    }
    if (any_pieces)
      run_in_parallel(parts.size(), 1, [&](std::size_t i) {
        if (parts[i].left == SearchWork::Left::kPieces)
          parts[i].left = work_.search_pieces(parts[i].file, parts[i].report);
      });
    for (Part& part : parts) work_.waiting().count(part.report);
    return parts;
  }

  void tell(Part& part) {
    work_.teller().tell(part.path, part.report);
    work_.waiting().leave(part.report);
    if (part.left == SearchWork::Left::kTurn && !work_.teller().done()) work_.search_in_turn(part.file);
  }

  SearchWork& work_;
  SearchInputs& inputs_;
  tbb::task_arena& arena_;
  tbb::enumerable_thread_specific<OwnDescriptors> own_descriptors_;
};

int search(const SearchRequest& request) {
  if (selects_nothing(request)) return kExitNothingFound;
  const SearchOptions& options = request.options;
  const SearchPlan plan(options);
  // If every line may match, there is nothing for a device to find. But a wrong backend name is an error with
  // any pattern.
  const bool device = plan.lines_follow_from_matches() && may_search_on_device(options.backend);
  if (!device && options.backend != "auto")
    BackendRegistry::instance().find_usable(options.backend, options.device);

  const SearchMemory memory = divide_search_memory(request.memory_bytes, resolve_threads(options.threads),
                                                   options.decompress, device);
  Threads threads(memory.threads);
  SearchInputs inputs(request, kRunFiles, threads.arena());
  SearchWork work(request, plan, memory, inputs.with_names());
  if (device)
    search_in_batches(work, inputs, threads.arena(), *plan.patterns);
  else
    FilesAsRead(work, inputs, threads.arena()).search();
  return work.teller().exit_status();
}

}  // namespace

int run_search(std::span<const std::string> words) {
  try {
    const SearchRequest request = read_search_request(words);
    if (request.help) {
      fmt::print("{}", search_help());
      return kExitFound;
    }
    return search(request);
  } catch (const UsageError& error) {
    print_usage_error(error, "hemstitch search --help");
  } catch (...) {
    if (std::ferror(stdout) == 0) print_message(failure_text());  // not of stdout, which the tool reports
  }
  return kExitTrouble;
}

}  // namespace hemstitch::cli
