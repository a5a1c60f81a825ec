#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/compress/read_request.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kShortHelp =
    R"(hemstitch compresses and restores LZ4, gzip, Zstandard and zlib, on all cores.

  hemstitch FILE...                compress each FILE to FILE.lz4; FILE stays
  hemstitch -d FILE.lz4...         restore each FILE, in any of these formats
  hemstitch cat FILE.lz4...        restore to stdout
  tar -I hemstitch -cf A.tar.lz4 FOLDER
                                   one archive of a folder (-xf unpacks it)
  hemstitch search -rz WORDS FOLDER
                                   as grep -F, in compressed files as well

  --format F  lz4, gzip, bgzf, zlib, deflate or zstd; or the suffix of -o
  -1 ... -12  faster ... smaller   -c  write to stdout     -t  test
  -o FILE     name the output      -f  overwrite           -l  list
  -T N        threads              --rm  remove the source when done
  -r          files in folders     -q  errors only         -v  tell more

Other commands: {}.
'hemstitch --help' lists all options, 'hemstitch COMMAND --help' those of one,
'man hemstitch' explains them.
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
      fmt::print("{:<24}{}\n{}", command.name, command.summary, command.options_help(&table));
  });
  fmt::print("{}", kNotes);
}

void print_short_help() {
  std::vector<std::string_view> others;
  for (const Command& command : commands())
    if (command.name != "cat" && command.name != "search") others.push_back(command.name);
  fmt::print(fmt::runtime(kShortHelp), fmt::join(others, ", "));
}

void print_command_help(std::string_view name) {
  const Command& command = *std::ranges::find(commands(), name, &Command::name);
  fmt::print("hemstitch {} {}     {}\n\n{}", command.name, command.arguments, command.summary,
             command.options_help(nullptr));
}

}  // namespace hemstitch::cli
