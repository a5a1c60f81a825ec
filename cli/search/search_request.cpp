#include "cli/search/search_request.hpp"

#include <fmt/format.h>
#include <getopt.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "cli/arguments.hpp"

namespace hemstitch::cli {

const char* const kSearchUsage =
    R"(hemstitch search [OPTION]... PATTERN [PATH]...
hemstitch search [OPTION]... -e PATTERN... [PATH]...
Shows the lines that hold a pattern, as GNU grep -F does in the C locale. Without a
PATH stdin is searched, with -r this folder.

Which lines
  -e, --regexp PATTERN  a pattern; several times for several, and a line break
                        in one separates two. Patterns are fixed strings
  -F, --fixed-strings   the same without it, for the habit
  -i, --ignore-case     letters a-z match both cases
  -v, --invert-match    lines without a match
  -w, --word-regexp     where no letter, digit or underscore stands beside it
  -x, --line-regexp     where it is the whole line
  -m, --max-count N     the first N of each file

What to show of them
  -c, --count           how many lines of each file
  -l, --files-with-matches
                        the names of files alone
  -L, --files-without-match
                        the names of files without such a line
  -q, --quiet, --silent nothing: the exit status tells
  -o, --only-matching   each match by itself
  -A, --after-context N, -B, --before-context N, -C, --context N
                        also N lines after, before, or around each
  -b, --byte-offset     where in the file, from 0
  -n, --line-number     the number of the line, from 1
  -H, --with-filename   the file's name before each; by default of several files
  -h, --no-filename     no names
  -Z, --null            a zero byte behind names
      --color[=WHEN]    matches in colour: always, never or auto, on a terminal
                        (default: auto). GREP_COLORS says which
      --json            one JSON object a line
  -s, --no-messages     nothing about files that cannot be read

Which files
  -r, --recursive       those in folders; links inside are not followed
  -R, --dereference-recursive
                        and links are
      --include GLOB, --exclude GLOB
                        files whose names match alone, or not; the last that
                        matches decides
      --exclude-dir GLOB
                        folders not
  -a, --text            binary files are text
  -I                    binary files hold no match
  -z, --decompress      search in what compressed files restore to

How
      --backend NAME    where: auto, cpu, cuda or webgpu (default: auto, the processor)
      --device DEVICE   which of its devices: a number or a part of a name in
                        'hemstitch backends -vv', or a list of them
  -T, --threads N       threads; 0: one a core (default: 0)
      --memory SIZE     most memory for contents (default: 256M, with a device 4G); a
                        line longer than half of it is an error, with -z a quarter,
                        with a device an eighth
      --help            this text

Exit status, which is grep's: 0 a line was found, 1 none was, 2 something could not be
read or the arguments are wrong.
)";

namespace {

using Names = SearchRequest::Names;
using Color = SearchRequest::Color;
using Binary = SearchOptions::Binary;
using Wanted = SearchOptions::Wanted;

// A pattern with line breaks is several.
void add_patterns(std::string_view text, std::vector<std::string>& patterns) {
  for (;;) {
    const std::size_t end = text.find('\n');
    patterns.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// What is beyond a number's range is as good as its end.
std::optional<long long> whole_number(const char* text) {
  char* end = nullptr;
  const long long number = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0') return std::nullopt;
  return number;
}

std::uint64_t context_from(const char* text) {
  const auto number = whole_number(text);
  if (!number || *number < 0)
    throw UsageError(fmt::format("'{}' is no number of lines around a match", text));
  return static_cast<std::uint64_t>(*number);
}

// Less than none is no limit.
std::uint64_t most_lines_from(const char* text) {
  const auto number = whole_number(text);
  if (!number) throw UsageError(fmt::format("-m '{}': write a number of lines", text));
  return *number < 0 ? UINT64_MAX : static_cast<std::uint64_t>(*number);
}

Color color_from(std::string_view when) {
  if (when == "always" || when == "yes" || when == "force") return Color::kAlways;
  if (when == "never" || when == "no" || when == "none") return Color::kNever;
  if (when == "auto" || when == "tty" || when == "if-tty") return Color::kOnTerminal;
  throw UsageError(fmt::format("--color={}: it is always, never or auto", when));
}

enum LongOnly { kJson = 256, kMemory, kBackend, kDevice, kColor, kInclude, kExclude, kExcludeDir, kHelp };

constexpr const char* kLetters = ":e:FivwxcslLqoA:B:C:m:bnHhZrRaIzT:";
const option kOptions[] = {{"regexp", required_argument, nullptr, 'e'},
                           {"fixed-strings", no_argument, nullptr, 'F'},
                           {"ignore-case", no_argument, nullptr, 'i'},
                           {"invert-match", no_argument, nullptr, 'v'},
                           {"word-regexp", no_argument, nullptr, 'w'},
                           {"line-regexp", no_argument, nullptr, 'x'},
                           {"max-count", required_argument, nullptr, 'm'},
                           {"count", no_argument, nullptr, 'c'},
                           {"files-with-matches", no_argument, nullptr, 'l'},
                           {"files-without-match", no_argument, nullptr, 'L'},
                           {"quiet", no_argument, nullptr, 'q'},
                           {"silent", no_argument, nullptr, 'q'},
                           {"only-matching", no_argument, nullptr, 'o'},
                           {"after-context", required_argument, nullptr, 'A'},
                           {"before-context", required_argument, nullptr, 'B'},
                           {"context", required_argument, nullptr, 'C'},
                           {"byte-offset", no_argument, nullptr, 'b'},
                           {"line-number", no_argument, nullptr, 'n'},
                           {"with-filename", no_argument, nullptr, 'H'},
                           {"no-filename", no_argument, nullptr, 'h'},
                           {"null", no_argument, nullptr, 'Z'},
                           {"no-messages", no_argument, nullptr, 's'},
                           {"recursive", no_argument, nullptr, 'r'},
                           {"dereference-recursive", no_argument, nullptr, 'R'},
                           {"text", no_argument, nullptr, 'a'},
                           {"decompress", no_argument, nullptr, 'z'},
                           {"threads", required_argument, nullptr, 'T'},
                           {"color", optional_argument, nullptr, kColor},
                           {"colour", optional_argument, nullptr, kColor},
                           {"include", required_argument, nullptr, kInclude},
                           {"exclude", required_argument, nullptr, kExclude},
                           {"exclude-dir", required_argument, nullptr, kExcludeDir},
                           {"json", no_argument, nullptr, kJson},
                           {"memory", required_argument, nullptr, kMemory},
                           {"backend", required_argument, nullptr, kBackend},
                           {"device", required_argument, nullptr, kDevice},
                           {"help", no_argument, nullptr, kHelp},
                           {nullptr, 0, nullptr, 0}};

// Lines around a match, as far as they are asked for.
struct Context {
  std::optional<std::uint64_t> before, after, around;
};

// False where it is no option.
bool take_option(int letter, const char* value, SearchRequest& request, Context& context) {
  switch (letter) {
    case 'e':
      add_patterns(value, request.options.patterns);
      return true;
    case 'F':
      return true;
    case 'i':
      request.options.ignore_case = true;
      return true;
    case 'v':
      request.options.invert = true;
      return true;
    case 'w':
      request.options.whole_words = true;
      return true;
    case 'x':
      request.options.whole_lines = true;
      return true;
    case 'm':
      request.options.most_lines = most_lines_from(value);
      return true;
    case 'c':
      request.count = true;
      return true;
    case 'l':
      request.names = Names::kMatching;
      return true;
    case 'L':
      request.names = Names::kNotMatching;
      return true;
    case 'q':
      request.quiet = true;
      return true;
    case 'o':
      request.only_matching = true;
      return true;
    case 'A':
      context.after = context_from(value);
      return true;
    case 'B':
      context.before = context_from(value);
      return true;
    case 'C':
      context.around = context_from(value);
      return true;
    case 'b':
      request.byte_offset = true;
      return true;
    case 'n':
      request.line_number = true;
      return true;
    case 'H':
      request.with_names = true;
      return true;
    case 'h':
      request.with_names = false;
      return true;
    case 'Z':
      request.null_after_names = true;
      return true;
    case 's':
      request.no_messages = true;
      return true;
    case 'r':
      request.recursive = true;
      request.follow_links = false;
      return true;
    case 'R':
      request.recursive = request.follow_links = true;
      return true;
    case 'a':
      request.options.binary = Binary::kText;
      return true;
    case 'I':
      request.options.binary = Binary::kNoMatch;
      return true;
    case 'z':
      request.options.decompress = true;
      return true;
    case 'T':
      request.options.threads = threads_from("-T", value);
      return true;
    case kColor:
      request.color = value == nullptr ? Color::kOnTerminal : color_from(value);
      return true;
    case kInclude:
      request.name_rules.include(value);
      return true;
    case kExclude:
      request.name_rules.exclude(value);
      return true;
    case kExcludeDir:
      request.name_rules.exclude_folder(value);
      return true;
    case kJson:
      request.json = true;
      return true;
    case kMemory:
      request.memory_bytes = memory_from(value);
      return true;
    case kBackend:
      request.options.backend = value;
      return true;
    case kDevice:
      request.options.device = value;
      return true;
    case kHelp:
      request.help = true;
      return true;
    default:
      return false;
  }
}

}  // namespace

SearchRequest parse_search(std::span<const std::string> words) {
  SearchRequest request;
  if (const char* forced = std::getenv("HEMSTITCH_BACKEND"); forced != nullptr && *forced != '\0')
    request.options.backend = forced;
  std::vector<std::string> own(words.begin(), words.end());
  std::string program = "hemstitch";
  std::vector<char*> arguments{program.data()};
  for (std::string& word : own) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Context context;
  bool has_pattern_option = false;
  opterr = 0;
  optind = 0;  // from the beginning, whatever was read before
  const int count = static_cast<int>(own.size()) + 1;
  for (int letter; (letter = getopt_long(count, arguments.data(), kLetters, kOptions, nullptr)) != -1;) {
    if (letter == ':')
      throw UsageError(
          fmt::format("{} needs a value after it", arguments[static_cast<std::size_t>(optind) - 1]));
    if (!take_option(letter, optarg, request, context))
      throw UsageError(fmt::format("no such option: {}",
                                   optopt > 0 && optopt < 256
                                       ? std::string{'-', static_cast<char>(optopt)}
                                       : std::string(arguments[static_cast<std::size_t>(optind) - 1])));
    has_pattern_option |= letter == 'e';
  }
  request.paths.assign(arguments.begin() + optind, arguments.end() - 1);
  if (request.help) return request;
  if (!request.options.device.empty()) check_device_option(request.options.backend);
  if (!has_pattern_option) {
    if (request.paths.empty()) throw UsageError("search needs a pattern");
    add_patterns(request.paths.front(), request.options.patterns);
    request.paths.erase(request.paths.begin());
  }
  // -A and -B go before -C; one of them alone shows none on the other side.
  const auto before = context.before ? context.before : context.around;
  const auto after = context.after ? context.after : context.around;
  request.in_groups = before || after;
  request.options.before = before.value_or(0);
  request.options.after = after.value_or(0);
  request.options.wanted = request.quiet || request.names != Names::kNo ? Wanted::kWhether
                           : request.count                              ? Wanted::kCount
                                                                        : Wanted::kLines;
  return request;
}

}  // namespace hemstitch::cli
