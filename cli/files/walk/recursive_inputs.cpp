#include "cli/files/walk/recursive_inputs.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "cli/files/files.hpp"
#include "cli/files/output/output.hpp"
#include "cli/files/output/temporary_files.hpp"
#include "cli/files/walk/done_before.hpp"
#include "cli/files/walk/folder_walk.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "format/formats.hpp"

namespace hemstitch::cli {
namespace {

// What an entry is, stored in its note.
enum class Kind : char {
  kInput,
  kDoneInput,  // done by an earlier run, but its source must still be removed
  kLink,
  kSpecial,
  kOtherSuffix,
  kOtherFormat,
  kExcluded,
  kDone,
  kTemporary,
  kLeftOver
};

void count(Kind kind, SkippedFiles& skipped) {
  if (kind == Kind::kOtherSuffix) ++skipped.other_suffix;
  if (kind == Kind::kOtherFormat) ++skipped.other_format;
  if (kind == Kind::kLink) ++skipped.link;
  if (kind == Kind::kSpecial) ++skipped.special;
  if (kind == Kind::kDone) ++skipped.done;
  if (kind == Kind::kTemporary || kind == Kind::kLeftOver) ++skipped.temporary;
}

// The format whose suffix the request's compressed files have.
Format format_of(const Request& request) {
  return request.action == Action::kCompress ? request.compress.format
                                             : request.restore.format.value_or(Format::kLz4);
}

// Determines what each entry is, and notes it.
class Judge {
 public:
  explicit Judge(const Request& request) : request_(request) {}

  // Judges the entries of a folder, in the order of their names. Any thread may call it.
  void judge(const std::shared_ptr<const Folder>& folder, std::vector<FolderEntry>& entries) const {
    std::erase_if(entries, [&](const FolderEntry& entry) {
      return entry.type == DT_DIR && !request_.name_rules.takes_folder(entry.name);
    });
    // The names that outputs may have; none if the folder is new.
    std::vector<std::string_view> targets;
    for (const FolderEntry& entry : entries)
      if (entry.type != DT_DIR && !is_input(entry.name)) targets.push_back(entry.name);
    run_in_parallel(entries.size(), kEntriesGrain, [&](std::size_t i) {
      entries[i].note = static_cast<char>(kind_of(folder, entries[i], targets));
    });
  }

  Kind kind_of_argument(const FileName& file) const {
    if (is_temporary_name(file.name)) return kind_of_temporary(file);
    if (!is_input(file.name)) return kind_of_other(file.name);
    return kind_of_input(file);
  }

 private:
  // How many entries of a folder a thread judges in a row: far more work than passing them on.
  static constexpr std::size_t kEntriesGrain = 2048;

  // `targets` must be sorted.
  Kind kind_of(const std::shared_ptr<const Folder>& folder, const FolderEntry& entry,
               const std::vector<std::string_view>& targets) const {
    switch (entry.type) {
      case DT_LNK:
        return Kind::kLink;
      case DT_DIR:      // for the walk
      case DT_UNKNOWN:  // removed meanwhile: opening it will report that
        return Kind::kInput;
      case DT_REG:
        break;
      default:
        return Kind::kSpecial;
    }
    if (is_temporary_name(entry.name)) return kind_of_temporary({folder, entry.name});
    if (!request_.name_rules.takes_file(entry.name)) return Kind::kExcluded;
    if (!is_input(entry.name)) return kind_of_other(entry.name);
    const bool has_target =
        request_.outputs ||
        (!targets.empty() && std::binary_search(targets.begin(), targets.end(), target_of(entry.name)));
    return has_target ? kind_of_input({folder, entry.name}) : Kind::kInput;
  }

  Kind kind_of_input(const FileName& file) const {
    if (!is_done(file)) return Kind::kInput;
    return request_.remove_source ? Kind::kDoneInput : Kind::kDone;
  }

  static Kind kind_of_temporary(const FileName& file) {
    return is_left_over(file) ? Kind::kLeftOver : Kind::kTemporary;
  }

  bool is_input(std::string_view name) const {
    if (request_.any_format && request_.suffix.empty()) return format_of_name(name) != nullptr;
    return has_suffix(request_, name, format_of(request_)) == (request_.action != Action::kCompress);
  }

  Kind kind_of_other(std::string_view name) const {
    const bool is_restorable = request_.action != Action::kCompress && format_of_name(name) != nullptr;
    return is_restorable ? Kind::kOtherFormat : Kind::kOtherSuffix;
  }

  // The name of a file's output, or the file's own name if it has none.
  std::string target_of(const std::string& name) const {
    if (request_.action == Action::kCompress) return compressed_name(request_, name);
    return restored_name(request_, name).value_or(name);
  }

  bool is_done(const FileName& file) const {
    if (request_.to_stdout || request_.force) return false;
    if (request_.action != Action::kCompress && request_.action != Action::kRestore) return false;
    const std::optional<FileName> target = output_of(request_, file);
    return target && is_done_before(request_.action, file, *target);
  }

  const Request& request_;
};

class InputFinder {
 public:
  explicit InputFinder(const Request& request)
      : request_(request),
        judge_(request),
        may_come_twice_(request.files.size() > 1),
        threads_(resolve_threads(0)),
        walk_({.choose = [this](const auto& folder, auto& entries) { judge_.judge(folder, entries); },
               .each_folder_once = may_come_twice_},
              threads_.arena()) {}

  RecursiveInputs run() {
    std::optional<FileName> before;
    for (const std::string& path : request_.files) {
      FileName file = FileName::from_argument(path, before ? &*before : nullptr);
      add_argument(path, file);
      before = std::move(file);
    }
    while (std::optional<WalkRun> run = walk_.next()) take(*run);
    return std::move(found_);
  }

 private:
  void add_argument(const std::string& path, const FileName& file) {
    struct stat status {};
    Kind kind = Kind::kInput;  // opening it will report what is wrong
    if (!file.is_standard_stream() && file.stat(status)) {
      if (S_ISDIR(status.st_mode)) {
        if (!request_.name_rules.takes_folder_argument(path)) return;
        return walk_.add_folder(std::make_shared<Folder>(path.ends_with('/') ? path : path + '/'), path);
      }
      if (!request_.name_rules.takes_argument(path)) return;
      kind = S_ISREG(status.st_mode) ? judge_.kind_of_argument(file) : Kind::kSpecial;
    }
    walk_.add_file(file.folder, {file.name, DT_REG, static_cast<char>(kind)});
    remember_named(file);
  }

  void remember_named(const FileName& file) {
    const Folder::Identity folder = file.folder->identity();
    if (!may_come_twice_ || folder == Folder::Identity{} || file.is_standard_stream()) return;
    named_folders_.insert(folder);
    named_files_.emplace(std::pair(folder, file.name), false);
  }

  void take(WalkRun& run) {
    if (!run.complaint.empty())
      found_.failures.push_back({run.complaint_about, fmt::format("cannot be read: {}", run.complaint)});
    const bool may_be_named = named_folders_.contains(run.folder->identity());
    for (FolderEntry& entry : run.entries) {
      const auto kind = static_cast<Kind>(entry.note);
      FileName file{run.folder, std::move(entry.name), run.named};
      count(kind, found_.skipped);
      if (kind == Kind::kLeftOver) found_.left_over.push_back(file.path());
      if (kind != Kind::kInput && kind != Kind::kDoneInput) continue;
      if (may_be_named && !is_first_time(file)) continue;
      (kind == Kind::kDoneInput ? found_.done : found_.files).push_back(std::move(file));
    }
  }

  bool is_first_time(const FileName& file) {
    if (file.is_standard_stream()) return true;
    const auto named = named_files_.find({file.folder->identity(), file.name});
    return named == named_files_.end() || !std::exchange(named->second, true);
  }

  const Request& request_;
  const Judge judge_;
  const bool may_come_twice_;
  Threads threads_;
  FolderWalk walk_;
  RecursiveInputs found_;
  // Files that are named by an argument, and whether each was taken: a folder may contain them too.
  std::set<Folder::Identity> named_folders_;
  std::map<std::pair<Folder::Identity, std::string>, bool> named_files_;
};

}  // namespace

std::string SkippedFiles::text(const Request& request) const {
  const std::size_t total = other_suffix + other_format + compressed + done + link + special + temporary;
  if (total == 0) return "";
  std::string parts;
  const auto add = [&](std::size_t count, const std::string& what) {
    if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, what);
  };
  if (request.any_format)
    add(other_suffix, "without a suffix of a format");
  else
    add(other_suffix,
        fmt::format("{} suffix {}", request.action == Action::kCompress ? "with" : "without",
                    request.suffix.empty() ? FormatTable::instance().of(format_of(request)).suffix()
                                           : request.suffix));
  add(other_format, "of other formats (--format any takes them)");
  add(compressed, "compressed already (-f compresses them once more)");
  add(done, "done before");
  add(link, link == 1 ? "link" : "links");
  add(special, "special");
  add(temporary, "temporary");
  return fmt::format("skipped {} {}: {}", total, total == 1 ? "file" : "files", parts);
}

RecursiveInputs find_recursive_inputs(const Request& request) { return InputFinder(request).run(); }

}  // namespace hemstitch::cli
