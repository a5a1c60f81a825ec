#include "cli/search/search_request.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/files/files.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_table.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/work_options.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kIntroduction =
    R"(hemstitch search [OPTION]... PATTERN [PATH]...
hemstitch search [OPTION]... -e PATTERN... [PATH]...
hemstitch search [OPTION]... -f FILE... [PATH]...
Shows the lines that hold a pattern, as GNU grep -F does in the C locale. Without a
PATH stdin is searched, with -r this folder.

)";

constexpr const char* kNotes = R"(
Exit status, which is grep's: 0 a line was found, 1 none was, 2 something could not be
read or the arguments are wrong.
)";

using Names = SearchRequest::Names;
using Color = SearchRequest::Color;
using Binary = SearchOptions::Binary;
using Wanted = SearchOptions::Wanted;

// A pattern with line breaks is several patterns.
void add_patterns(std::string_view text, std::vector<std::string>& patterns) {
  for (;;) {
    const std::size_t end = text.find('\n');
    patterns.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// A file's last line may lack its end; an empty file has no pattern.
void add_patterns_of_file(const std::string& path, std::vector<std::string>& patterns) {
  std::vector<std::byte> bytes;
  try {
    bytes = read_whole_file(path);
  } catch (const ToolError& error) {
    throw ToolError(fmt::format("-f {}: {}", shown_name(path), error.what()));
  }
  std::string_view lines(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (lines.empty()) return;
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  add_patterns(lines, patterns);
}

// A number that is out of range counts as the end of the range.
std::optional<long long> whole_number(const std::string& text) {
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return number;
}

std::uint64_t context_from(const std::string& text) {
  const auto number = whole_number(text);
  if (!number || *number < 0)
    throw UsageError(fmt::format("'{}' is not a number of lines around a match", text));
  return static_cast<std::uint64_t>(*number);
}

// A negative number means no limit.
std::uint64_t most_lines_from(const std::string& text) {
  const auto number = whole_number(text);
  if (!number) throw UsageError(fmt::format("-m '{}': write a number of lines", text));
  return *number < 0 ? UINT64_MAX : static_cast<std::uint64_t>(*number);
}

Color color_from(std::string_view when) {
  if (when == "always" || when == "yes" || when == "force") return Color::kAlways;
  if (when == "never" || when == "no" || when == "none") return Color::kNever;
  if (when == "auto" || when == "tty" || when == "if-tty") return Color::kOnTerminal;
  throw UsageError(fmt::format("--color={}: write always, never or auto", when));
}

Binary binary_from(std::string_view what) {
  if (what == "binary") return Binary::kTold;
  if (what == "text") return Binary::kText;
  if (what == "without-match") return Binary::kNoMatch;
  throw UsageError(fmt::format("--binary-files={}: write binary, text or without-match", what));
}

// Options as they were given, unless the request itself has them.
struct Given {
  SearchRequest& request;
  bool pattern = false;
  std::optional<std::uint64_t> before = {}, after = {}, around = {};  // lines of context, if given
};

void add_selection(OptionTable& table, Given& given) {
  SearchOptions& options = given.request.options;
  table
      .value(
          "-e,--regexp", "PATTERN",
          [&given](const std::string& text) {
            add_patterns(text, given.request.options.patterns);
            given.pattern = true;
          },
          "a pattern; may be given several times, and a line break separates two. Patterns are fixed "
          "strings")
      .begins("Which lines");
  table.value(
      "-f,--file", "FILE",
      [&given](const std::string& path) {
        add_patterns_of_file(path, given.request.options.patterns);
        given.pattern = true;
      },
      "a pattern in each line of FILE; '-' is stdin");
  table.flag(
      "-F,--fixed-strings", [] {}, "patterns are fixed strings, which is always so");
  table.flag("-i,--ignore-case", options.ignore_case, "letters a-z match both cases");
  table.flag("-v,--invert-match", options.invert, "lines without a match");
  table.flag("-w,--word-regexp", options.whole_words,
             "matches with no letter, digit or underscore beside them");
  table.flag("-x,--line-regexp", options.whole_lines, "matches that are the whole line");
  table.value(
      "-m,--max-count", "N",
      [&options](const std::string& text) { options.most_lines = most_lines_from(text); },
      "the first N of each file");
}

void add_answers(OptionTable& table, SearchRequest& request) {
  table.flag("-c,--count", request.count, "the number of such lines in each file")
      .begins("What to show of them");
  table.flag(
      "-l,--files-with-matches", [&request] { request.names = Names::kMatching; },
      "only the names of files with such a line");
  table.flag(
      "-L,--files-without-match", [&request] { request.names = Names::kNotMatching; },
      "the names of files without such a line");
  table.flag("-q,--quiet,--silent", request.quiet, "print nothing; the exit status is the answer");
  table.flag("-o,--only-matching", request.only_matching, "print each match on a line of its own");
}

void add_context(OptionTable& table, Given& given) {
  table.value(
      "-A,--after-context", "N", [&given](const std::string& text) { given.after = context_from(text); },
      "also N lines after each");
  table.value(
      "-B,--before-context", "N", [&given](const std::string& text) { given.before = context_from(text); },
      "also N lines before each");
  table
      .value(
          "-C,--context", "N", [&given](const std::string& text) { given.around = context_from(text); },
          "also N lines around each")
      .shown_as("-N, -C, --context N");
}

void add_looks(OptionTable& table, SearchRequest& request) {
  table.flag("-b,--byte-offset", request.byte_offset, "the offset in the file, from 0");
  table.flag("-n,--line-number", request.line_number, "the number of the line, from 1");
  table.flag(
      "-H,--with-filename", [&request] { request.with_names = true; },
      "the file's name before each line; the default for several files");
  table.flag(
      "-h,--no-filename", [&request] { request.with_names = false; }, "no names");
  table.flag("-Z,--null", request.null_after_names, "a zero byte after names");
  table
      .value(
          "--color,--colour", "WHEN",
          [&request](const std::string& when) { request.color = color_from(when); },
          "matches in colour: always, never or auto, on a terminal (default: auto). GREP_COLORS says which")
      .means_alone("auto");
  table.value("--label", "NAME", request.label, "what to call stdin (default: '(standard input)')");
  table.flag("--line-buffered", request.line_buffered, "pass on each line at once");
  table.flag("--json", request.json, "one JSON object a line");
  table.flag("-s,--no-messages", request.no_messages, "no messages about files that cannot be read");
}

void add_places(OptionTable& table, SearchRequest& request) {
  table
      .flag(
          "-r,--recursive",
          [&request] {
            request.recursive = true;
            request.follow_links = false;
          },
          "search the files in folders; links inside are not followed")
      .begins("Which files");
  table.flag(
      "-R,--dereference-recursive", [&request] { request.recursive = request.follow_links = true; },
      "as -r, and links are followed");
  add_name_options(table, request.name_rules);
  table.value(
      "--binary-files", "TYPE",
      [&request](const std::string& what) { request.options.binary = binary_from(what); },
      "of files with zero bytes: binary, only tell that they match (default); text, as -a; without-match, as "
      "-I");
  table.flag(
      "-a,--text", [&request] { request.options.binary = Binary::kText; }, "binary files are text");
  table.flag(
      "-I", [&request] { request.options.binary = Binary::kNoMatch; }, "binary files hold no match");
  table.flag("-z,--decompress", request.options.decompress, "search the content of compressed files");
  table.flag("--null-data", request.null_data, "lines end with a zero byte, in files and in the output");
}

void add_means(OptionTable& table, SearchRequest& request) {
  SearchOptions& options = request.options;
  table
      .value("--backend", "NAME", options.backend,
             "where: auto, cpu, cuda or webgpu (default: auto, the processor)")
      .begins("How");
  add_device_option(table, options.device);
  add_threads_option(table, [&options](unsigned threads) { options.threads = threads; });
  add_memory_option(
      table, [&request](std::uint64_t bytes) { request.memory_bytes = bytes; },
      "most memory for contents (default: 256M, with a device 4G); a line longer than half of it is an "
      "error, "
      "with -z a quarter, with a device an eighth");
  table.help_flag("--help");
}

void add_options(OptionTable& table, Given& given) {
  add_selection(table, given);
  add_answers(table, given.request);
  add_context(table, given);
  add_looks(table, given.request);
  add_places(table, given.request);
  add_means(table, given.request);
}

// -A and -B override -C. If only one of them is given, there is no context on the other side.
void apply_context(const Given& given, SearchRequest& request) {
  const auto before = given.before ? given.before : given.around;
  const auto after = given.after ? given.after : given.around;
  request.in_groups = before || after;
  request.options.before = before.value_or(0);
  request.options.after = after.value_or(0);
}

void apply_patterns(SearchRequest& request) {
  SearchOptions& options = request.options;
  if (request.null_data) {
    // Such a pattern would be in two lines.
    std::erase_if(options.patterns, [](const auto& pattern) { return pattern.find('\0') != pattern.npos; });
    options.binary = Binary::kText;
  }
  if (!options.patterns.empty()) return;
  // No pattern at all, as from an empty file, is in no line: the opposite of an empty one.
  options.patterns.emplace_back();
  options.invert = !options.invert;
  options.whole_words = options.whole_lines = false;
}

}  // namespace

SearchRequest read_search_request(std::span<const std::string> words) {
  SearchRequest request;
  if (const auto forced = environment("HEMSTITCH_BACKEND")) request.options.backend = *forced;
  Given given{request};
  OptionTable table(OptionTable::Habits::kGrep);
  add_options(table, given);
  request.paths = table.read(words);
  request.help = table.help_asked();
  if (request.help) return request;
  if (!request.options.device.empty()) check_device_option(request.options.backend);
  if (!given.pattern) {
    if (request.paths.empty()) throw UsageError("search needs a pattern");
    add_patterns(request.paths.front(), request.options.patterns);
    request.paths.erase(request.paths.begin());
  }
  apply_context(given, request);
  apply_patterns(request);
  request.options.wanted = request.quiet || request.names != Names::kNo ? Wanted::kWhether
                           : request.count                              ? Wanted::kCount
                                                                        : Wanted::kLines;
  return request;
}

std::string search_help() { return kIntroduction + search_options_help(nullptr) + kNotes; }

std::string search_options_help(const OptionTable* above) {
  SearchRequest request;
  Given given{request};
  OptionTable table;
  add_options(table, given);
  return table.help(above);
}

}  // namespace hemstitch::cli
