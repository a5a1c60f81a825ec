// hemstitch FILE...: each file becomes FILE.lz4.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "commands.hpp"
#include "each_file.hpp"
#include "file_batches.hpp"
#include "files.hpp"
#include "messages.hpp"
#include "output.hpp"
#include "terminal.hpp"

namespace hemstitch::cli {
namespace {

Outcome compress_file(const Request& request, CompressOptions options, const std::string& path) {
  if (writes_to_stdout(request, path) && is_terminal(STDOUT_FILENO) && !request.force)
    throw ToolError(
        "compressed data is not written to a terminal (use -o FILE or redirect stdout; -f writes it)");
  FileSource source(path);
  refuse_folder(request, source);
  options.content_bytes = source.total_bytes();
  const std::unique_ptr<FileSink> sink = open_output(request, source, compressed_name(path));

  StreamReport report;
  double seconds = 0;
  std::optional<std::string> warning;
  {
    Progress progress(path, source.total_bytes(), false, request.quiet);
    report = compress_stream(source, *sink, options, progress_hooks(progress));
    warning = sink->complete(source);
    seconds = progress.elapsed_seconds();
  }
  if (request.remove_source && !source.is_standard_input() && unlink(path.c_str()) != 0)
    throw tool_error_from_errno("compressed, but cannot be removed");
  report_stream(request, path, report, seconds);
  return report_warning(request, path, warning);
}

}  // namespace

int run_compress(const Request& request) {
  CompressOptions options = request.compress;
  std::vector<std::byte> dictionary;
  if (!request.dictionary_path.empty()) {
    dictionary = read_dictionary(request.dictionary_path);
    options.dictionary = dictionary;
  }
  BatchWork batches;
  if (works_in_batches(request))
    batches = [&](std::vector<std::string> files, Tally& tally) {
      return compress_in_batches(request, options, std::move(files), tally);
    };
  return for_each_file(
      request, [&](const std::string& path) { return compress_file(request, options, path); }, batches);
}

}  // namespace hemstitch::cli
