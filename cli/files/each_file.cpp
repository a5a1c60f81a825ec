#include "cli/files/each_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "cli/files/output/output.hpp"
#include "cli/files/suffixes.hpp"
#include "cli/files/walk/recursive_inputs.hpp"
#include "cli/messages.hpp"
#include "cli/progress.hpp"

namespace hemstitch::cli {
namespace {

// Sources from different folders may have the same output with --output-dir, and restored ones that have
// another suffix, or write it differently: x.gz, x.GZ and x.lz4.
bool may_share_outputs(const Request& request, const std::vector<FileName>& files) {
  if (request.outputs && request.files.size() > 1) return true;
  if (request.action != Action::kRestore || request.to_stdout || !request.output_path.empty()) return false;
  const auto suffix = [](const FileName& file) { return suffix_of_name(file.name); };
  return std::ranges::adjacent_find(files, std::ranges::not_equal_to(), suffix) != files.end();
}

// The place of an output. Several Folder objects may be the same folder, but a folder below --output-dir has
// only one, and may not be made yet.
using OutputPlace = std::tuple<Folder::Identity, const Folder*, std::string>;
OutputPlace output_place(const Request& request, const FileName& output) {
  const Folder& folder = *output.folder;
  if (!request.outputs && folder.open()) return {folder.identity(), nullptr, output.name};
  return {{}, &folder, output.name};
}

// The first source of an output is taken, and the others are reported, before anything is overwritten.
std::vector<FileName> take_one_for_each_output(const Request& request, std::vector<FileName> files,
                                               Tally& tally) {
  if (!may_share_outputs(request, files)) return files;
  std::map<OutputPlace, FileName> sources;
  std::vector<FileName> taken;
  for (FileName& file : files) {
    if (const std::optional<FileName> output = output_of(request, file)) {
      const auto [first, is_first] = sources.emplace(output_place(request, *output), file);
      if (!is_first) {
        tally.fail(file.path(), fmt::format("'{}' is the output of '{}' already (give this one another {})",
                                            shown_name(output->path()), shown_name(first->second.path()),
                                            request.outputs ? "--output-dir" : "name with -o"));
        continue;
      }
    }
    taken.push_back(std::move(file));
  }
  return taken;
}

}  // namespace

int for_each_file(const Request& request, const std::function<Outcome(const FileName& file)>& work,
                  const FolderWork& folder_work) {
  if (request.outputs) request.outputs->make();
  RecursiveInputs inputs;
  if (request.recursive)
    inputs = find_recursive_inputs(request);
  else
    for (const std::string& path : request.files)
      if (path == kStandardStream || request.name_rules.takes_argument(path))
        inputs.files.push_back(FileName::from_argument(path));

  Tally tally;
  for (const RecursiveInputs::Failure& failure : inputs.failures) tally.fail(failure.path, failure.what);
  for (const std::string& path : inputs.left_over) {
    report_warning(request, path, "left over from a killed run (no process uses it; remove it)");
    tally.warn();
  }
  const std::size_t total = inputs.files.size() + inputs.done.size() + inputs.failures.size();
  if (!inputs.done.empty()) folder_work.remove_done(inputs.done, tally);
  inputs.files = take_one_for_each_output(request, std::move(inputs.files), tally);
  std::optional<TreeProgress> progress;
  if (request.recursive && request.action != Action::kList)
    progress.emplace(inputs.files, request.action != Action::kCompress, request.quiet);
  if (request.recursive && folder_work.batches)
    inputs.files = folder_work.batches(std::move(inputs.files), tally);
  if (progress) progress->only_these_are_left(inputs.files);
  for (const FileName& file : inputs.files) {
    try {
      const Outcome outcome = work(file);
      if (outcome == Outcome::kWarned) tally.warn();
      if (outcome == Outcome::kLeft) tally.leave_compressed();
    } catch (...) {
      tally.fail(file.path(), failure_text());
    }
    if (progress) progress->next_file();
  }
  progress.reset();
  inputs.skipped.compressed = tally.left_compressed();
  if (const std::string skipped = inputs.skipped.text(request); !request.quiet && !skipped.empty())
    print_message(skipped);
  if (!request.quiet) tally.print_failures(total);
  return tally.exit_status();
}

}  // namespace hemstitch::cli
