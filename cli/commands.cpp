#include "cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/compress/compress.hpp"
#include "cli/compress/read_request.hpp"
#include "cli/help.hpp"
#include "cli/signals.hpp"
#include "cli/tally.hpp"
#include "hemstitch/version.h"

namespace hemstitch::cli {
namespace {

int run_request(const Request& request) {
  switch (request.action) {
    case Action::kCompress:
      take_signals();
      return run_compress(request);
    case Action::kRestore:
    case Action::kTest:
      take_signals();
      return run_restore(request);
    case Action::kList:
      return run_list(request);
    case Action::kHelp:
      print_help();
      return kExitDone;
    case Action::kShortHelp:
      print_short_help();
      return kExitDone;
    case Action::kCommandHelp:
      print_command_help("cat");
      return kExitDone;
    case Action::kVersion:
      fmt::print("hemstitch {}\n", HEMSTITCH_VERSION_STRING);
      return kExitDone;
  }
  return kExitError;
}

// What restoring to stdout takes, in the order of its help.
constexpr std::string_view kRestoringOptions[] = {
    "recursive",  "files-from", "include",    "exclude", "exclude-dir", "range",   "virtual",
    "format",     "force",      "dictionary", "long",    "no-check",    "threads", "memory",
    "gpu-memory", "backend",    "device",     "quiet",   "verbose",     "help",    "version"};

constexpr RestoringName kCat{.name = "cat", .to_stdout = true, .format = ""};

// Names of other programs, by which a link may call the tool: it restores, whatever the format.
constexpr RestoringName kProgramNames[] = {
    {.name = "gunzip", .to_stdout = false, .removes = true, .format = "gzip"},
    {.name = "zcat", .to_stdout = true, .may_index = false, .format = "gzip"},
    {.name = "unlz4", .to_stdout = false, .format = "lz4"},
    {.name = "lz4cat", .to_stdout = true, .may_index = false, .format = "lz4"},
    {.name = "unzstd", .to_stdout = false, .format = "zstd"},
    {.name = "zstdcat", .to_stdout = true, .may_index = false, .format = "zstd"},
};

// Below the help of compressing, its options are all there.
std::string cat_options_help(const OptionTable* above) {
  std::string help;
  if (above == nullptr)
    with_request_options([&](const OptionTable& table) { help = table.help_of(kRestoringOptions); });
  return help;
}

int run_cat(std::span<const std::string> words) { return run_request(read_request(words, &kCat)); }

constexpr Command kCommands[] = {
    {"cat", "[OPTION]... [FILE]...", "restore each FILE to stdout, as -dc", run_cat, cat_options_help},
    {"index", "[OPTION]... FILE...",
     "write FILE.gzidx or FILE.zstidx, by which --range begins in the middle of FILE", run_index,
     index_options_help},
    {"train", "[OPTION]... FILE... -o DICT", "make a dictionary of short FILEs, for -D with --format zstd",
     run_train, train_options_help},
    {"bench", "[OPTION]... [FILE]...", "measure round trips; without FILE, of generated data", run_bench,
     bench_options_help},
    {"backends", "[--calibrate] [--json] [-vv]", "list the backends of this build", run_backends,
     backends_options_help},
    {"evaluate", "[OPTION]... FILE...", "compare match finders on each FILE", run_evaluate,
     evaluate_options_help},
    {"analyze", "[OPTION]... FILE", "show where the matches of FILE point", run_analyze,
     analyze_options_help},
    {"pages", "[OPTION]... FILE", "show the memory that a store of compressed pages needs for FILE",
     run_pages, pages_options_help},
    {"search", "[OPTION]... PATTERN [PATH]...", "show lines that hold a fixed string, as grep -F does",
     run_search, search_options_help},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

int run_files(std::span<const std::string> words) { return run_request(read_request(words, nullptr)); }

bool is_restoring_name(std::string_view program) {
  return std::ranges::find(kProgramNames, program, &RestoringName::name) != std::end(kProgramNames);
}

int run_restoring_name(std::string_view program, std::span<const std::string> words) {
  return run_request(read_request(words, std::ranges::find(kProgramNames, program, &RestoringName::name)));
}

}  // namespace hemstitch::cli
