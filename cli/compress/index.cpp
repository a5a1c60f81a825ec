// hemstitch index FILE...: writes FILE.gz.gzidx, for BGZF FILE.gz.gzi, for Zstandard FILE.zst.zstidx, with which parts of the file can be
// restored from its middle. Does the same as -t --index.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/compress/compress.hpp"
#include "cli/files/each_file.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_table.hpp"
#include "cli/options/work_options.hpp"
#include "cli/signals.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kIndexIntroduction =
    R"(hemstitch index [OPTION]... FILE...
Restores each gzip FILE to nowhere, verifies it, and writes FILE.gzidx beside it, from
which --range begins near the part that is asked for. indexed_gzip and rapidgzip read it.
For BGZF that is FILE.gzi, as bgzip -r writes it; for Zstandard FILE.zstidx, a form of our own.

)";

void add_options(OptionTable& table, Request& request) {
  table.value("-o,--output", "NAME", request.index_path, "the index's name, of one FILE");
  table.flag("-f,--force", request.force, "replace an existing index");
  add_threads_option(table, [&request](unsigned threads) { request.restore.threads = threads; });
  add_memory_option(
      table, [&request](std::uint64_t bytes) { request.restore.memory_limit_bytes = bytes; },
      "most memory for buffers; the index takes up to 128M more");
  table.flag("-q,--quiet", request.quiet, "no progress bar, no warnings");
  table.flag(
      "-v,--verbose", [&request] { ++request.verbosity; }, "threads and speed of each file");
  table.help_flag("-h,--help");
}

}  // namespace

int run_index(std::span<const std::string> words) {
  Request request;
  OptionTable table;
  add_options(table, request);
  request.action = Action::kTest;
  request.write_index = true;
  request.files = table.read(words);
  if (table.help_asked()) {
    fmt::print("{}{}", kIndexIntroduction, index_options_help(nullptr));
    return kExitDone;
  }
  if (request.files.empty()) throw UsageError("index needs a FILE");
  if (!request.index_path.empty() && request.files.size() > 1)
    throw UsageError("-o names one index, and there are several files");
  take_signals();
  return run_restore(request);
}

std::string index_options_help(const OptionTable* above) {
  return help_of_options<Request>(above, add_options);
}

}  // namespace hemstitch::cli
