// hemstitch -d FILE.lz4...: each file becomes FILE again. With -t the content is checked and discarded.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "cli/compress/byte_range.hpp"
#include "cli/compress/compress.hpp"
#include "cli/files/done_before.hpp"
#include "cli/files/each_file.hpp"
#include "cli/files/file_batches.hpp"
#include "cli/files/files.hpp"
#include "cli/files/output.hpp"
#include "cli/files/remove_source.hpp"
#include "cli/messages.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::size_t kCopyBytes = 256 * 1024;

void copy_unchanged(FileSource& source, Sink& sink) {
  std::vector<std::byte> buffer(kCopyBytes);
  while (const std::size_t count = source.read(buffer)) sink.write(std::span(buffer).first(count));
}

StreamReport restore_into(FileSource& source, Sink& sink, const Request& request,
                          const RestoreOptions& options, const StreamHooks& hooks) {
  if (request.range) return restore_part(source, sink, *request.range, options, hooks);
  const DataPlace to = request.action == Action::kTest ? DataPlace::kNowhere : DataPlace::kFile;
  return restore_stream(source, sink, options, hooks, {DataPlace::kFile, to});
}

Outcome restore_file(const Request& request, const RestoreOptions& options, const FileName& name) {
  const std::string path = name.path();
  FileSource source(name);
  refuse_folder(request, source);
  refuse_terminal(request, source);
  await_later_stamps(request, source);
  const bool testing = request.action == Action::kTest;
  const bool to_stdout = !testing && writes_to_stdout(request, name);
  const DataIdentity identity = identify_data(source.first_bytes());
  if (identity.kind != DataKind::kFrame && to_stdout && request.force) {
    const std::unique_ptr<FileSink> sink = open_output(request, source);
    copy_unchanged(source, *sink);
    return report_warning(request, path, sink->complete(source));
  }
  refuse_foreign(identity);

  std::unique_ptr<FileSink> file;
  NullSink nowhere;
  if (!testing) file = open_output(request, source);
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
  std::optional<std::string> kept;
  if (request.remove_source && !report.trailing_garbage_at) kept = remove_source(request, source);
  report_stream(request, path, report, seconds);
  const Outcome attributes = report_warning(request, path, lost_attribute);
  const Outcome garbage = report_warning(request, path, garbage_warning(report.trailing_garbage_at));
  return worst(worst(attributes, garbage), report_warning(request, path, kept));
}

}  // namespace

int run_restore(const Request& request) {
  RestoreOptions options = request.restore;
  std::vector<std::byte> dictionary;
  if (!request.dictionary_path.empty()) {
    dictionary = read_dictionary(request.dictionary_path);
    options.dictionary = dictionary;
  }
  FolderWork folder_work;
  if (works_in_batches(request))
    folder_work.batches = [&](std::vector<FileName> files, Tally& tally) {
      return restore_in_batches(request, options, std::move(files), tally);
    };
  folder_work.remove_done = [&](const std::vector<FileName>& files, Tally& tally) {
    remove_done_sources(request, options, files, tally);
  };
  return for_each_file(
      request, [&](const FileName& name) { return restore_file(request, options, name); }, folder_work);
}

}  // namespace hemstitch::cli
