#include "search_request.hpp"

#include <fmt/format.h>
#include <getopt.h>

#include <cstdlib>
#include <string_view>

#include "arguments.hpp"

namespace hemstitch::cli {

const char* const kSearchUsage =
    R"(hemstitch search [OPTION]... PATTERN [PATH]...
hemstitch search [OPTION]... -e PATTERN... [PATH]...
Shows the lines that hold a pattern, as GNU grep -F does in the C locale. Without a
PATH stdin is searched, with -r this folder.

  -e, --regexp PATTERN  a pattern; several times for several, and a line break
                        in one separates two. Patterns are fixed strings
  -F, --fixed-strings   the same without it, for the habit
  -i, --ignore-case     letters a-z match both cases
  -c, --count           how many lines of each file
  -l, --files-with-matches
                        the names of files alone
  -o, --only-matching   each match by itself
  -b, --byte-offset     where in the file, from 0
  -n, --line-number     the number of the line, from 1
  -r, --recursive       the files in folders; links inside are not followed
  -z, --decompress      search in what compressed files restore to
      --json            one JSON object a line
      --backend NAME    where: auto, cpu, cuda or webgpu (default: auto, the processor)
  -T, --threads N       threads; 0: one a core (default: 0)
      --memory SIZE     most contents at once, and files that are larger are an error
                        (default: 96M, 2G with a device; a larger file by itself)
  -h, --help            this text

Exit status, which is grep's: 0 a line was found, 1 none was, 2 something could not be
read or the arguments are wrong.
)";

namespace {

// A pattern with line breaks is several.
void add_patterns(std::string_view text, std::vector<std::string>& patterns) {
  for (;;) {
    const std::size_t end = text.find('\n');
    patterns.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

SearchRequest parse_search(std::span<const std::string> words) {
  enum LongOnly { kJson = 256, kMemory, kBackend };
  static const option kOptions[] = {{"regexp", required_argument, nullptr, 'e'},
                                    {"fixed-strings", no_argument, nullptr, 'F'},
                                    {"ignore-case", no_argument, nullptr, 'i'},
                                    {"count", no_argument, nullptr, 'c'},
                                    {"files-with-matches", no_argument, nullptr, 'l'},
                                    {"only-matching", no_argument, nullptr, 'o'},
                                    {"byte-offset", no_argument, nullptr, 'b'},
                                    {"line-number", no_argument, nullptr, 'n'},
                                    {"recursive", no_argument, nullptr, 'r'},
                                    {"decompress", no_argument, nullptr, 'z'},
                                    {"threads", required_argument, nullptr, 'T'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {"json", no_argument, nullptr, kJson},
                                    {"memory", required_argument, nullptr, kMemory},
                                    {"backend", required_argument, nullptr, kBackend},
                                    {nullptr, 0, nullptr, 0}};
  SearchRequest request;
  if (const char* forced = std::getenv("HEMSTITCH_BACKEND"); forced != nullptr && *forced != '\0')
    request.backend = forced;
  std::vector<std::string> own(words.begin(), words.end());
  std::string program = "hemstitch";
  std::vector<char*> arguments{program.data()};
  for (std::string& word : own) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  bool has_pattern_option = false;
  opterr = 0;
  optind = 0;  // from the beginning, whatever was read before
  const int count = static_cast<int>(own.size()) + 1;
  for (int letter;
       (letter = getopt_long(count, arguments.data(), ":e:FiclobnrzT:h", kOptions, nullptr)) != -1;) {
    switch (letter) {
      case 'e':
        add_patterns(optarg, request.patterns);
        has_pattern_option = true;
        break;
      case 'F':
        break;
      case 'i':
        request.ignore_case = true;
        break;
      case 'c':
        request.count = true;
        break;
      case 'l':
        request.names_only = true;
        break;
      case 'o':
        request.only_matching = true;
        break;
      case 'b':
        request.byte_offset = true;
        break;
      case 'n':
        request.line_number = true;
        break;
      case 'r':
        request.recursive = true;
        break;
      case 'z':
        request.decompress = true;
        break;
      case 'h':
        request.help = true;
        break;
      case kJson:
        request.json = true;
        break;
      case 'T':
        request.threads = threads_from("-T", optarg);
        break;
      case kMemory:
        request.memory_bytes = memory_from(optarg);
        break;
      case kBackend:
        request.backend = optarg;
        break;
      case ':':
        throw UsageError(
            fmt::format("{} needs a value after it", arguments[static_cast<std::size_t>(optind) - 1]));
      default:
        throw UsageError(fmt::format("no such option: {}",
                                     optopt > 0 && optopt < 256
                                         ? std::string{'-', static_cast<char>(optopt)}
                                         : std::string(arguments[static_cast<std::size_t>(optind) - 1])));
    }
  }
  request.paths.assign(arguments.begin() + optind, arguments.end() - 1);
  if (request.help) return request;
  if (!has_pattern_option) {
    if (request.paths.empty()) throw UsageError("search needs a pattern");
    add_patterns(request.paths.front(), request.patterns);
    request.paths.erase(request.paths.begin());
  }
  return request;
}

}  // namespace hemstitch::cli
