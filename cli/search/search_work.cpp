#include "cli/search/search_work.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "cli/files/regular_file.hpp"
#include "cli/messages.hpp"
#include "cli/request.hpp"
#include "files/load/read_contents.hpp"

namespace hemstitch::cli {
namespace {

using Kind = SmallFile::Kind;

constexpr const char* kIsOutput = "input file is also the output";

void report_trouble(std::string complaint, FileReport& report) {
  report.complaint = std::move(complaint);
  report.trouble = true;
}

void report_error(int error, FileReport& report) {
  report_trouble(std::generic_category().message(error), report);
}

// The status of the output if lines are written to a file. A search could find them there again.
std::optional<struct stat> output_of(const SearchRequest& request) {
  struct stat output {};
  if (!request.shows_lines() || request.options.most_lines == 1 || fstat(STDOUT_FILENO, &output) != 0 ||
      !S_ISREG(output.st_mode))
    return std::nullopt;
  return output;
}

// Pipes and devices are opened only once, when they are read.
bool is_special(const std::string& path) {
  struct stat status {};
  return path == kStandardStream ||
         (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

}  // namespace

FileReport complaint_of(const WalkRun& run) {
  FileReport report;
  report.complaint = run.complaint;
  report.trouble = !run.is_warning;
  return report;
}

SearchWork::SearchWork(const SearchRequest& request, const SearchPlan& plan, const SearchMemory& memory,
                       bool with_names)
    : request_(request),
      memory_(memory),
      reporter_(request, with_names, plan),
      restoring_(memory.restoring_bytes),
      waiting_(memory.reports_bytes),
      teller_(request, reporter_, memory),
      searchers_([this] { return FileSearcher(request_, reporter_, memory_, restoring_, waiting_); }),
      in_turn_(request, reporter_, memory, restoring_, teller_.room()),
      output_(output_of(request)) {}

bool SearchWork::is_output(const struct stat& file) const {
  return output_ && S_ISREG(file.st_mode) && file.st_dev == output_->st_dev && file.st_ino == output_->st_ino;
}

// If the search must wait, restores the report to what it was before.
template <class Search>
SearchWork::Left SearchWork::unless_it_must_wait(FileReport& report, const Search& search) {
  const std::size_t output_bytes = report.output.size();
  const bool found = report.found, begins_group = report.begins_group, sets_off_next = report.sets_off_next;
  try {
    return search();
  } catch (const MustWait&) {
    report.output.resize(output_bytes);
    report.found = found;
    report.begins_group = begins_group;
    report.sets_off_next = sets_off_next;
    waiting_.count(report);
    return Left::kTurn;
  }
}

SearchWork::Left SearchWork::search_small(const InputFile& file, const std::string& path,
                                          const FolderOfFiles& folder, FileReport& report) {
  if (waiting_.full() || (!file.listed && is_special(path))) return Left::kTurn;
  FileSearcher& searcher = searchers_.local();
  const Descriptor descriptor = folder.open(file);
  const SmallFile small = read_small_file(descriptor, searcher.small_file_room());
  switch (small.kind) {
    case Kind::kContent:
      break;
    case Kind::kLarge:
      return Left::kPieces;
    case Kind::kSpecial:
      return file.listed ? Left::kNothing : Left::kTurn;
    case Kind::kFolder:
      report_folder(path, report);
      return Left::kNothing;
    case Kind::kUnreadable:
      report_error(small.error, report);
      return Left::kNothing;
  }
  if (is_output(small.status)) {
    report_trouble(kIsOutput, report);
    return Left::kNothing;
  }
  return search_content(path, small.content,
                        hemstitch::has_hole(descriptor, kFirstReadBytes, small.content.size()), std::nullopt,
                        report);
}

SearchWork::Left SearchWork::search_content(const std::string& name, std::span<const std::byte> content,
                                            bool has_hole, std::optional<MatchCursor> matches,
                                            FileReport& report) {
  return unless_it_must_wait(report, [&] {
    return searchers_.local().search_whole(name, content, has_hole, matches, report) ? Left::kNothing
                                                                                     : Left::kPieces;
  });
}

SearchWork::Left SearchWork::search_compressed(const std::string& name, std::span<const std::byte> content,
                                               FileReport& report) {
  return unless_it_must_wait(report, [&] {
    MemorySource source(content);
    searchers_.local().search_restored(name, source, report);
    return Left::kNothing;
  });
}

void SearchWork::report_folder(const std::string& path, FileReport& report) {
  static_cast<void>(search_content(path, {}, false, std::nullopt, report));
  report_error(EISDIR, report);
}

void SearchWork::report_whether(const std::string& name, bool any, FileReport& report) {
  ContentReport(reporter_, name, false, report, waiting_).finish_without_content(any);
}

// Only a zero in the content may be part of a hole.
bool SearchWork::has_hole(const std::string& path, std::span<const std::byte> content) const {
  if (reporter_.selection().binary == LineSelection::Binary::kText || content.size() <= kFirstReadBytes ||
      std::memchr(content.data() + kFirstReadBytes, 0, content.size() - kFirstReadBytes) == nullptr)
    return false;
  return hemstitch::has_hole(Descriptor(open(path.c_str(), kReadContentsFlags)), kFirstReadBytes,
                             content.size());
}

bool SearchWork::refuses_output(const std::string& path, FileReport& report) const {
  struct stat status {};
  if (!output_ || stat(path.c_str(), &status) != 0 || !is_output(status)) return false;
  report_trouble(kIsOutput, report);
  return true;
}

// If not, adds the reason to the report.
bool SearchWork::is_searched(const Descriptor& file, struct stat& status, FileReport& report) const {
  if (file.number() < 0 || fstat(file.number(), &status) != 0) {
    report_error(errno, report);
    return false;
  }
  if (S_ISDIR(status.st_mode)) {
    report_error(EISDIR, report);
    return false;
  }
  if (is_output(status)) {
    report_trouble(kIsOutput, report);
    return false;
  }
  return true;
}

SearchWork::Left SearchWork::search_pieces(const InputFile& file, FileReport& report) {
  const Descriptor descriptor = FolderOfFiles(*file.folder).open(file);
  struct stat status {};
  if (!is_searched(descriptor, status, report)) return Left::kNothing;
  if (!S_ISREG(status.st_mode)) return file.listed ? Left::kNothing : Left::kTurn;
  return unless_it_must_wait(report, [&] {
    searchers_.local().search_pieces(file.path(), descriptor, status, report);
    return Left::kNothing;
  });
}

void SearchWork::search_in_turn(const InputFile& file) {
  const std::string path = file.path();
  const bool is_stdin = path == kStandardStream && !file.listed;
  // Opening a named pipe waits. In a folder, a pipe that took the name of a file does not block.
  const Descriptor descriptor = is_stdin ? Descriptor(dup(STDIN_FILENO))
                                : !file.listed
                                    ? Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY))
                                    : FolderOfFiles(*file.folder).open(file);
  FileReport report;
  struct stat status {};
  teller_.begin_turn(path);
  if (is_searched(descriptor, status, report) && (!file.listed || S_ISREG(status.st_mode))) {
    const off_t begin = is_stdin ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
    in_turn_.search_pieces(request_.shown_input(path), descriptor, status, report);
    // If -m ended the search, stdin is left after the last selected line for the next program.
    if (begin >= 0 && report.stopped_at)
      lseek(STDIN_FILENO, begin + static_cast<off_t>(*report.stopped_at), SEEK_SET);
  }
  teller_.end_turn(report);
}

}  // namespace hemstitch::cli
