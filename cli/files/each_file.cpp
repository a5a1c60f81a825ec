#include "cli/files/each_file.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "cli/files/output.hpp"
#include "cli/files/recursive_inputs.hpp"
#include "cli/messages.hpp"
#include "cli/progress.hpp"

namespace hemstitch::cli {
namespace {

// With --output-dir, sources from different folders may have the same output. The first of them is taken, and
// the others are reported, before anything is overwritten.
std::vector<FileName> take_one_for_each_output(const Request& request, std::vector<FileName> files,
                                               Tally& tally) {
  if (!request.outputs || request.files.size() < 2) return files;
  std::map<std::pair<const Folder*, std::string>, FileName> sources;
  std::vector<FileName> taken;
  for (FileName& file : files) {
    if (const std::optional<FileName> output = output_of(request, file)) {
      const auto [first, is_first] = sources.emplace(std::pair(output->folder.get(), output->name), file);
      if (!is_first) {
        tally.fail(file.path(),
                   fmt::format("'{}' is the output of '{}' already (give this one another --output-dir)",
                               shown_name(output->path()), shown_name(first->second.path())));
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
    for (const std::string& path : request.files) inputs.files.push_back(FileName::from_argument(path));

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
      if (work(file) == Outcome::kWarned) tally.warn();
    } catch (...) {
      tally.fail(file.path(), failure_text());
    }
    if (progress) progress->next_file();
  }
  progress.reset();
  if (!request.quiet && !inputs.skipped.empty()) print_message(inputs.skipped);
  if (!request.quiet) tally.print_failures(total);
  return tally.exit_status();
}

}  // namespace hemstitch::cli
