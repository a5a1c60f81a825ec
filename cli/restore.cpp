// hemstitch -d FILE.lz4...: each file becomes FILE again. With -t the content is checked and discarded.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "commands.hpp"
#include "each_file.hpp"
#include "file_batches.hpp"
#include "files.hpp"
#include "messages.hpp"
#include "output.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::size_t kCopyBytes = 256 * 1024;

void copy_unchanged(FileSource& source, Sink& sink) {
  std::vector<std::byte> buffer(kCopyBytes);
  while (const std::size_t count = source.read(buffer)) sink.write(std::span(buffer).first(count));
}

StreamReport restore_into(FileSource& source, Sink& sink, const Request& request,
                          const RestoreOptions& options, const StreamHooks& hooks) {
  if (request.range)
    return restore_range(source, sink, request.range->begin, request.range->end, options, hooks);
  return restore_stream(source, sink, options, hooks);
}

Outcome restore_file(const Request& request, const RestoreOptions& options, const std::string& path) {
  FileSource source(path);
  refuse_folder(request, source);
  refuse_terminal(request, source);
  const bool testing = request.action == Action::kTest;
  const bool to_stdout = !testing && writes_to_stdout(request, path);
  const DataIdentity identity = identify_data(source.first_bytes());
  if (identity.kind != DataKind::kLz4Frame && to_stdout && request.force) {
    const std::unique_ptr<FileSink> sink = open_output(request, source, std::nullopt);
    copy_unchanged(source, *sink);
    return report_warning(request, path, sink->complete(source));
  }
  refuse_foreign(identity);

  std::unique_ptr<FileSink> file;
  NullSink nowhere;
  if (!testing) file = open_output(request, source, restored_name(path));
  StreamReport report;
  double seconds = 0;
  std::optional<std::string> lost_attribute;
  {
    Progress progress(path, source.total_bytes(), true, request.quiet);
    report = restore_into(source, testing ? static_cast<Sink&>(nowhere) : *file, request, options,
                          progress_hooks(progress));
    if (file) lost_attribute = file->complete(source);
    seconds = progress.elapsed_seconds();
  }
  // What follows the frames was not restored, so it is kept.
  if (request.remove_source && !source.is_standard_input() && !report.trailing_garbage_at &&
      unlink(path.c_str()) != 0)
    throw tool_error_from_errno("restored, but cannot be removed");
  report_stream(request, path, report, seconds);
  const Outcome attributes = report_warning(request, path, lost_attribute);
  const Outcome garbage = report_warning(request, path, garbage_warning(report.trailing_garbage_at));
  return attributes == Outcome::kWarned ? attributes : garbage;
}

}  // namespace

int run_restore(const Request& request) {
  RestoreOptions options = request.restore;
  std::vector<std::byte> dictionary;
  if (!request.dictionary_path.empty()) {
    dictionary = read_dictionary(request.dictionary_path);
    options.dictionary = dictionary;
  }
  BatchWork batches;
  if (works_in_batches(request))
    batches = [&](std::vector<std::string> files, Tally& tally) {
      return restore_in_batches(request, options, std::move(files), tally);
    };
  return for_each_file(
      request, [&](const std::string& path) { return restore_file(request, options, path); }, batches);
}

}  // namespace hemstitch::cli
