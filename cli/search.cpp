// hemstitch search: fixed strings in many files, shown as GNU grep -F shows them in the C locale.
//
// Files are loaded in batches, each batch is searched and formatted by all cores while the next one is read, and what
// there is to say of a file is written in the order of the files. With a device the batch's matches come from there, and lines are made of them here.
#include "search/search.hpp"

#include <fmt/format.h>
#include <getopt.h>
#include <sys/stat.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "arguments.hpp"
#include "commands.hpp"
#include "device/registry.hpp"
#include "files.hpp"
#include "format/identify.hpp"
#include "hemstitch/files.hpp"
#include "messages.hpp"
#include "search/device_search.hpp"
#include "search/line_search.hpp"

namespace hemstitch::cli {
namespace {

namespace fs = std::filesystem;

// With kExitTrouble grep's exit statuses, not those of the other commands.
constexpr int kExitFound = 0;
constexpr int kExitNothingFound = 1;

// Contents of a batch where --memory says nothing: a group of files for each of 16 threads, and little enough that the
// memory of one batch serves the next (larger blocks go back to the system, and come back as fresh pages).
constexpr std::uint64_t kBatchBytes = std::uint64_t{32} << 20;
// One is read while another is searched and a third is written.
constexpr std::size_t kBatchesInFlight = 3;
constexpr const char* kStandardInputName = "(standard input)";

constexpr const char* kUsage =
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
      --memory SIZE     most contents at once (default: 32M); with it, files that
                        are larger are an error
  -h, --help            this text

Exit status, which is grep's: 0 a line was found, 1 none was, 2 something could not be
read or the arguments are wrong.
)";

struct SearchRequest {
  std::vector<std::string> patterns;
  std::vector<std::string> paths;
  bool ignore_case = false, count = false, names_only = false, only_matching = false, byte_offset = false,
       line_number = false, recursive = false, decompress = false, json = false, help = false;
  unsigned threads = 0;
  std::uint64_t memory_bytes = 0;
  std::string backend = "auto";
};

// A pattern with line breaks is several.
void add_patterns(std::string_view text, std::vector<std::string>& patterns) {
  for (;;) {
    const std::size_t end = text.find('\n');
    patterns.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

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

struct Input {
  std::string path;   // "-" for standard input
  std::string shown;  // its name in the output
};

struct Inputs {
  std::vector<Input> files;
  bool with_names = false;
  bool trouble = false;
};

// The files in a folder, those of one folder in the order of their names, and what could not be read.
struct FolderListing {
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> complaints;  // a folder and why
};

// Folders in a folder are listed side by side.
FolderListing list_folder(const std::string& folder, const std::string& prefix) {
  struct Entry {
    std::string name;
    bool folder;
  };
  FolderListing listing;
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    // These ask for nothing that was not read with the name, where the file system gives types.
    std::error_code unknown;
    if (entry->is_symlink(unknown)) continue;
    const bool is_folder = entry->is_directory(unknown);
    if (is_folder || entry->is_regular_file(unknown))
      entries.push_back({entry->path().filename().string(), is_folder});
  }
  if (error) listing.complaints.emplace_back(folder, error.message());
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  std::vector<FolderListing> inside(entries.size());
  tbb::parallel_for(std::size_t{0}, entries.size(), [&](std::size_t i) {
    if (!entries[i].folder) return;
    const std::string path = prefix + entries[i].name;
    inside[i] = list_folder(path, path + '/');
  });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].folder) listing.files.push_back(prefix + entries[i].name);
    std::move(inside[i].files.begin(), inside[i].files.end(), std::back_inserter(listing.files));
    std::move(inside[i].complaints.begin(), inside[i].complaints.end(),
              std::back_inserter(listing.complaints));
  }
  return listing;
}

class InputWalk {
 public:
  explicit InputWalk(const SearchRequest& request) : request_(request) {}

  Inputs run() {
    std::vector<std::string> paths = request_.paths;
    if (paths.empty() && request_.recursive) {
      take_folder(".", "");
      return std::move(inputs_);
    }
    if (paths.empty()) paths.emplace_back(kStandardStream);
    inputs_.with_names = paths.size() > 1;
    for (const std::string& path : paths) {
      struct stat status {};
      if (path == kStandardStream) {
        inputs_.files.push_back({path, kStandardInputName});
      } else if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && request_.recursive) {
        take_folder(path, path.ends_with('/') ? path : path + '/');
      } else {
        inputs_.files.push_back({path, path});  // opening it will say what is wrong
      }
    }
    return std::move(inputs_);
  }

 private:
  void take_folder(const std::string& folder, const std::string& prefix) {
    inputs_.with_names = true;
    FolderListing listing = list_folder(folder, prefix);
    for (std::string& file : listing.files) {
      std::string shown = file;
      inputs_.files.push_back({std::move(file), std::move(shown)});
    }
    for (const auto& [name, why] : listing.complaints) {
      print_message(name, why);
      inputs_.trouble = true;
    }
  }

  const SearchRequest& request_;
  Inputs inputs_;
};

// What is said of one file.
struct FileReport {
  std::string output;
  std::string complaint;  // after the file's name, on stderr
  bool found = false;
  bool trouble = false;
};

class Reporter {
 public:
  Reporter(const SearchRequest& request, bool with_names, bool every_line, const PatternSet* patterns)
      : request_(request),
        with_names_(with_names),
        search_{.every_line = every_line,
                .only_matching = request.only_matching,
                .count_lines = request.line_number || request.json},
        patterns_(patterns) {}

  FileReport report(const std::string& name, std::string_view content) const {
    return report(name, content, MatchCursor(content, patterns_));
  }

  // Without matches the content is not looked at, unless every line matches; nor where names alone are wanted.
  FileReport report(const std::string& name, std::string_view content, MatchCursor matches) const {
    FileReport report;
    if (request_.names_only) {
      report.found = search_.every_line ? !content.empty() : matches.next(0).has_value();
      if (report.found) add_name(name, report.output);
    } else if (request_.count) {
      const std::uint64_t count = count_matching_lines(content, matches, search_);
      report.found = count != 0;
      add_count(name, count, report.output);
    } else {
      const LinesFound found = for_each_matching_line(
          content, matches, search_, [&](const FoundLine& line) { add_line(name, line, report.output); });
      report.found = found.any;
      if (found.in_binary) report.complaint = "binary file matches";
    }
    return report;
  }

 private:
  static void add_object(const nlohmann::ordered_json& object, std::string& output) {
    output += object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    output += '\n';
  }

  void add_name(const std::string& name, std::string& output) const {
    if (request_.json)
      add_object({{"file", name}}, output);
    else
      output.append(name).append(1, '\n');
  }

  void add_count(const std::string& name, std::uint64_t count, std::string& output) const {
    if (request_.json) {
      add_object({{"file", name}, {"count", count}}, output);
      return;
    }
    if (with_names_) output.append(name).append(1, ':');
    output.append(std::to_string(count)).append(1, '\n');
  }

  void add_line(const std::string& name, const FoundLine& line, std::string& output) const {
    if (request_.json) {
      add_object({{"file", name}, {"line", line.line}, {"byte", line.byte}, {"text", line.text}}, output);
      return;
    }
    const auto add_number = [&](std::uint64_t number) {
      char digits[20];
      output.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr).append(1, ':');
    };
    if (with_names_) output.append(name).append(1, ':');
    if (request_.line_number) add_number(line.line);
    if (request_.byte_offset) add_number(line.byte);
    output.append(line.text).append(1, '\n');
  }

  const SearchRequest& request_;
  bool with_names_;
  LineSearch search_;
  const PatternSet* patterns_;  // none where every line matches
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file that is no regular one, to its end.
std::vector<std::byte> read_stream(const std::string& path) {
  FileSource source(path);
  if (source.is_directory()) throw ToolError("Is a directory");
  std::vector<std::byte> content;
  for (std::size_t got = 1, done = 0; got != 0; done += got) {
    content.resize(std::max<std::size_t>(2 * done, 64 * 1024));
    got = source.read(std::span(content).subspan(done));
    if (got == 0) content.resize(done);
  }
  return content;
}

class SearchRun {
 public:
  explicit SearchRun(const SearchRequest& request)
      : request_(request),
        arena_(request.threads == 0 ? tbb::task_arena::automatic : static_cast<int>(request.threads)),
        inputs_(arena_.execute([&] { return InputWalk(request).run(); })),
        every_line_(std::find(request.patterns.begin(), request.patterns.end(), "") !=
                    request.patterns.end()),
        patterns_(patterns_of(request)),
        reporter_(request, inputs_.with_names, every_line_, patterns_ ? &*patterns_ : nullptr),
        trouble_(inputs_.trouble) {
    // Where every line matches there is nothing to look for.
    if (patterns_ && !every_line_)
      device_ = make_device_search(request.backend, *patterns_);
    else if (request.backend != "auto")
      BackendRegistry::instance().find_usable(request.backend);  // a wrong name is wrong for any pattern
  }

  int run() {
    std::vector<std::string> paths;
    for (const Input& input : inputs_.files) paths.push_back(input.path);
    // Without --memory a file may be larger than a batch; then it is one. With it, one batch is there at a time.
    const bool bounded = request_.memory_bytes != 0;
    const bool to_device = device_ && device_->wants_files_on_device();
    FileLoader loader(std::move(paths), {.threads = request_.threads,
                                         .memory_limit_bytes = bounded ? request_.memory_bytes : kBatchBytes,
                                         .oversize_alone = !bounded,
                                         .to_device = to_device});
    const auto load = [&](tbb::flow_control& control) {
      if (loader.done()) {
        control.stop();
        return SearchedBatch{};
      }
      if (to_device) device_->use_in_this_thread();
      return SearchedBatch{loader.next(), {}};
    };
    arena_.execute([&] {
      tbb::parallel_pipeline(
          bounded ? 1 : kBatchesInFlight,
          tbb::make_filter<void, SearchedBatch>(tbb::filter_mode::serial_in_order, load) &
              tbb::make_filter<SearchedBatch, SearchedBatch>(tbb::filter_mode::serial_in_order,
                                                             [&](SearchedBatch batch) {
                                                               search_batch(batch);
                                                               return batch;
                                                             }) &
              tbb::make_filter<SearchedBatch, void>(tbb::filter_mode::serial_in_order,
                                                    [&](const SearchedBatch& batch) { tell_batch(batch); }));
    });
    return trouble_ ? kExitTrouble : found_ ? kExitFound : kExitNothingFound;
  }

 private:
  static std::optional<PatternSet> patterns_of(const SearchRequest& request) {
    std::vector<std::string> patterns;
    for (const std::string& pattern : request.patterns)
      if (!pattern.empty()) patterns.push_back(pattern);
    if (patterns.empty()) return std::nullopt;
    return PatternSet(std::move(patterns), request.ignore_case);
  }

  struct SearchedBatch {
    CompactedBuffer files;
    std::vector<FileReport> reports;  // of each of them
  };

  void search_batch(SearchedBatch& batch) {
    const CompactedBuffer& files = batch.files;
    batch.reports.resize(files.count());
    std::vector<char> reported(files.count(), 0);
    if (device_ && !device_failed_) search_on_device(files, batch.reports, reported);
    tbb::parallel_for(std::size_t{0}, files.count(), [&](std::size_t file) {
      if (!reported[file]) batch.reports[file] = report_content(shown_name(files, file), files.span(file));
    });
  }

  // In the order of the inputs; what was skipped has its place among them.
  void tell_batch(const SearchedBatch& searched) {
    const CompactedBuffer& batch = searched.files;
    std::size_t skipped = 0;
    const auto tell_skipped = [&](std::size_t before) {
      for (; skipped < batch.skipped().size() && batch.skipped()[skipped].index < before; ++skipped)
        tell(inputs_.files[batch.skipped()[skipped].index], report_skipped(batch.skipped()[skipped]));
    };
    for (std::size_t file = 0; file < batch.count(); ++file) {
      tell_skipped(batch.index(file));
      tell(inputs_.files[batch.index(file)], searched.reports[file]);
    }
    tell_skipped(inputs_.files.size());
  }

  const std::string& shown_name(const CompactedBuffer& batch, std::size_t file) const {
    return inputs_.files[batch.index(file)].shown;
  }

  // Files that stay unreported are the processor's: all of them where the device fails.
  void search_on_device(const CompactedBuffer& batch, std::vector<FileReport>& reports,
                        std::vector<char>& reported) {
    try {
      device_->use_in_this_thread();
      if (request_.decompress)
        report_restored(batch, reports, reported);
      else
        report_found(batch, reports, reported);
    } catch (const Error& error) {
      print_message(fmt::format("{}; the processor searches instead", error.what()));
      device_failed_ = true;
    }
  }

  void report_found(const CompactedBuffer& batch, std::vector<FileReport>& reports,
                    std::vector<char>& reported) {
    const std::span<const PackedMatch> matches = device_->find(batch);
    const auto first_at = [&](std::uint64_t position) {
      return std::lower_bound(matches.begin(), matches.end(), position,
                              [](PackedMatch match, std::uint64_t at) { return match.position() < at; });
    };
    tbb::parallel_for(std::size_t{0}, batch.count(), [&](std::size_t file) {
      const std::uint64_t begin = batch.offsets()[file], end = batch.offsets()[file + 1];
      reports[file] = reporter_.report(shown_name(batch, file), text_of(batch.span(file)),
                                       MatchCursor({first_at(begin), first_at(end)}, begin));
      reported[file] = 1;
    });
  }

  void report_restored(const CompactedBuffer& batch, std::vector<FileReport>& reports,
                       std::vector<char>& reported) {
    device_->find_in_lz4(batch, !request_.names_only, [&](std::span<const RestoredFile> files) {
      tbb::parallel_for(std::size_t{0}, files.size(), [&](std::size_t i) {
        const RestoredFile& one = files[i];
        reports[one.file] =
            reporter_.report(shown_name(batch, one.file), one.text, MatchCursor(one.matches, one.begin));
        reported[one.file] = 1;
      });
    });
  }

  FileReport report_content(const std::string& name, std::span<const std::byte> content) const {
    if (!request_.decompress ||
        identify_data(content.first(std::min(content.size(), kIdentifyBytes))).kind != DataKind::kLz4Frame)
      return reporter_.report(name, text_of(content));
    try {
      RestoreOptions options;
      options.threads = 1;  // files are restored side by side
      const std::vector<std::byte> restored = restore(content, options);
      return reporter_.report(name, text_of(restored));
    } catch (const std::exception& error) {
      return {.output = {}, .complaint = error.what(), .found = false, .trouble = true};
    }
  }

  // Empty files have no lines; pipes and devices are read here, since their size is not known before.
  FileReport report_skipped(const SkippedFile& file) const {
    const Input& input = inputs_.files[file.index];
    const bool standard_input = input.path == kStandardStream;
    if (file.why == SkippedFile::Why::kEmpty && !standard_input) return reporter_.report(input.shown, {});
    if (!standard_input && file.why != SkippedFile::Why::kNotRegular) {
      FileReport report{.output = {}, .complaint = file.reason, .found = false, .trouble = true};
      // As grep, which opens a folder and fails when it reads.
      if (file.why == SkippedFile::Why::kFolder) report.output = reporter_.report(input.shown, {}).output;
      return report;
    }
    try {
      return report_content(input.shown, read_stream(input.path));
    } catch (const std::exception& error) {
      return {.output = {}, .complaint = error.what(), .found = false, .trouble = true};
    }
  }

  void tell(const Input& input, const FileReport& report) {
    if (!report.output.empty() &&
        std::fwrite(report.output.data(), 1, report.output.size(), stdout) != report.output.size())
      throw tool_error_from_errno("stdout");
    if (!report.complaint.empty()) {
      std::fflush(stdout);
      print_message(input.shown, report.complaint);
    }
    found_ |= report.found;
    trouble_ |= report.trouble;
  }

  const SearchRequest& request_;
  tbb::task_arena arena_;
  Inputs inputs_;
  bool every_line_;
  std::optional<PatternSet> patterns_;
  Reporter reporter_;
  std::unique_ptr<DeviceSearch> device_;  // none where the processor searches
  bool device_failed_ = false;
  bool found_ = false;
  bool trouble_;
};

}  // namespace

int run_search(std::span<const std::string> words) {
  try {
    const SearchRequest request = parse_search(words);
    if (request.help) {
      fmt::print("{}", kUsage);
      return kExitFound;
    }
    return SearchRun(request).run();
  } catch (const UsageError& error) {
    print_message(fmt::format("{} (hemstitch search -h lists the options)", error.what()));
  } catch (const std::exception& error) {
    if (std::ferror(stdout) == 0) print_message(error.what());  // of stdout the tool tells
  }
  return kExitTrouble;
}

}  // namespace hemstitch::cli
