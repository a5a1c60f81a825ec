#include "cli/help.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/compress/read_request.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kShortHelp =
    R"(hemstitch compresses and restores LZ4 files, on all cores.

  hemstitch FILE                   compress FILE to FILE.lz4; FILE stays
  hemstitch -d FILE.lz4            restore FILE
  tar -I hemstitch -cf A.tar.lz4 FOLDER
                                   one archive of a folder (-xf unpacks it)
  hemstitch search -rz WORDS FOLDER
                                   as grep -F, in compressed files as well

  -1 ... -12  faster ... smaller   -c  write to stdout     -t  test
  -o FILE     name the output      -f  overwrite           -l  list
  -T N        threads              --rm  remove the source when done

'hemstitch -h' lists all options, 'man hemstitch' explains them.
)";

constexpr const char* kUsage =
    R"(hemstitch [OPTION]... [FILE]...     compress each FILE to FILE.lz4
hemstitch -d [OPTION]... [FILE]...  restore each FILE.lz4 to FILE
)";

constexpr const char* kIntroduction = R"(
Without a FILE, or if FILE is '-': stdin to stdout. The source is kept.
Short options may be combined: -dcf, -9k, -T2.

)";

constexpr const char* kNotes =
    R"(
'hemstitch evaluate -h' says how finders are described.

SIZE is a number of bytes, with K, M or G for powers of 1024.
HEMSTITCH_LEVEL, HEMSTITCH_THREADS and HEMSTITCH_BACKEND set defaults.
Exit status: 0 done, 1 error, 2 warning; that of search is grep's: 0 found,
1 not, 2 error.
)";

}  // namespace

void print_help() {
  fmt::print("{}", kUsage);
  for (const Command& command : commands())
    fmt::print("{}\n", fmt::format("hemstitch {} {}", command.name, command.arguments));
  fmt::print("{}", kIntroduction);
  with_request_options([](const OptionTable& table) {
    fmt::print("{}\n", table.help());
    for (const Command& command : commands())
      fmt::print("{:<24}{}\n{}", command.name, command.summary,
                 command.options_help == nullptr ? "" : command.options_help(&table));
  });
  fmt::print("{}", kNotes);
}

void print_short_help() { fmt::print("{}", kShortHelp); }

}  // namespace hemstitch::cli
