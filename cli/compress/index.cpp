// hemstitch index FILE.gz...: FILE.gz.gzidx, by which parts of the file are restored from its middle.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/compress/gzip_range.hpp"
#include "cli/files/each_file.hpp"
#include "cli/files/files.hpp"
#include "cli/files/output.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_table.hpp"
#include "cli/signals.hpp"
#include "pipeline/gzip_points.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kIntroduction =
    R"(hemstitch index [OPTION]... FILE...
Reads each gzip FILE to its end, verifies it, and writes FILE.gzidx beside it, from
which --range begins near the part that is asked for. indexed_gzip and rapidgzip read it.

)";

void add_options(OptionTable& table, Request& request) {
  table.flag("-f,--force", request.force, "replace an index that stands there");
  table.flag("-q,--quiet", request.quiet, "no progress bar, no warnings");
  table.help_flag("-h,--help");
}

Outcome index_file(const Request& request, const FileName& file) {
  const std::string path = file.path();
  // Asked before it is opened, since opening a named pipe waits for who writes to it.
  struct stat status {};
  if (file.is_standard_stream() || (file.stat(status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
    throw ToolError("an index is made of a file, which can be read from its middle");
  FileSource source(file);
  refuse_folder(request, source);
  FileSink::Target target;
  target.overwrite = request.force;
  target.file = source.file().beside(source.file().name + std::string(kGzipIndexSuffix));
  const std::unique_ptr<FileSink> sink = FileSink::create(target, source);
  GzipIndex index;
  Progress progress(path, source.total_bytes(), true, request.quiet);
  const GzipIndexReport report = index_gzip(source, index, progress_hooks(progress));
  sink->write(index.bytes(report.input_bytes, report.output_bytes));
  const std::optional<std::string> warning = sink->complete(source);
  return worst(report_warning(request, path, garbage_warning(report.trailing_garbage_at)),
               report_warning(request, path, warning));
}

}  // namespace

int run_index(std::span<const std::string> words) {
  Request request;
  OptionTable table;
  add_options(table, request);
  request.action = Action::kTest;  // for messages and tallies: nothing is named after the inputs but their indexes
  request.files = table.read(words);
  if (table.help_asked()) {
    fmt::print("{}{}", kIntroduction, index_options_help(nullptr));
    return kExitDone;
  }
  if (request.files.empty()) throw UsageError("index needs a FILE");
  take_signals();
  return for_each_file(request, [&](const FileName& file) { return index_file(request, file); });
}

std::string index_options_help(const OptionTable* above) {
  Request request;
  OptionTable table;
  add_options(table, request);
  return table.help(above);
}

}  // namespace hemstitch::cli
