#include "cli/files/walk.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "cli/files/done_before.hpp"
#include "cli/files/files.hpp"
#include "cli/files/folder_entries.hpp"
#include "cli/files/output.hpp"
#include "cli/files/temporary_files.hpp"
#include "cli/messages.hpp"
#include "core/parallel.hpp"
#include "format/formats.hpp"

namespace hemstitch::cli {
namespace {

// What an entry comes to.
enum class Kind : char {
  kInput,
  kDoneInput,  // done by an earlier run, but its source is to be removed
  kFolder,
  kLink,
  kSpecial,
  kOtherSuffix,
  kDone,
  kTemporary,
  kLeftOver
};

struct Counts {
  std::size_t other_suffix = 0, link = 0, special = 0, done = 0, temporary = 0;

  void add(Kind kind) {
    if (kind == Kind::kOtherSuffix) ++other_suffix;
    if (kind == Kind::kLink) ++link;
    if (kind == Kind::kSpecial) ++special;
    if (kind == Kind::kDone) ++done;
    if (kind == Kind::kTemporary || kind == Kind::kLeftOver) ++temporary;
  }
  Counts& operator+=(const Counts& other) {
    other_suffix += other.other_suffix;
    link += other.link;
    special += other.special;
    done += other.done;
    temporary += other.temporary;
    return *this;
  }
};

// A folder, or the arguments as if they were one.
struct Visit {
  struct Inside {
    std::size_t files_before;  // of this folder's
    Visit* visit;
  };

  std::shared_ptr<const Folder> folder;
  std::vector<FileName> files;
  std::vector<char> done;  // whether each file is
  std::vector<Inside> folders;

  void add(FileName file, bool is_done = false) {
    files.push_back(std::move(file));
    done.push_back(is_done);
  }
  std::vector<std::string> left_over;  // paths of temporary files
  Counts counts;
  std::string complaint;  // why this is not all, where it is not
};

// Lists all folders, many at a time, then brings what is in them in order. Neither calls itself for a folder inside another one: a tree
// may be deeper than the stack.
class Walker {
 public:
  explicit Walker(const Request& request) : request_(request) {}

  Walk run() {
    Visit& arguments = new_visit(nullptr);
    for (const std::string& path : request_.files) take_argument(path, arguments);
    run_growing(arguments.folders, [this](const Visit::Inside& folder, const auto& add) {
      list(*folder.visit);
      for (const Visit::Inside& inside : folder.visit->folders) add(inside);
    });
    return collect(arguments);
  }

 private:
  Visit& new_visit(std::shared_ptr<const Folder> folder) {
    const std::lock_guard lock(visits_mutex_);
    visits_.emplace_back().folder = std::move(folder);
    return visits_.back();
  }

  void take_argument(const std::string& path, Visit& arguments) {
    FileName file =
        FileName::from_argument(path, arguments.files.empty() ? nullptr : &arguments.files.back());
    struct stat status {};
    if (file.is_standard_stream() || !file.stat(status)) {
      arguments.add(std::move(file));  // opening it will say what is wrong
    } else if (S_ISDIR(status.st_mode)) {
      add_folder(arguments, std::make_shared<Folder>(path.back() == '/' ? path : path + '/'));
    } else {
      const Kind kind = S_ISREG(status.st_mode) ? kind_of_argument(file) : Kind::kSpecial;
      arguments.counts.add(kind);
      if (kind == Kind::kLeftOver) arguments.left_over.push_back(path);
      if (kind == Kind::kInput || kind == Kind::kDoneInput)
        arguments.add(std::move(file), kind == Kind::kDoneInput);
    }
  }

  void add_folder(Visit& around, std::shared_ptr<const Folder> folder) {
    around.folders.push_back({around.files.size(), &new_visit(std::move(folder))});
  }

  void list(Visit& visit) {
    const OpenFolder folder = visit.folder->open_to_list();
    if (!folder) {
      visit.complaint = tool_error_from_errno("cannot be read").what();
      return;
    }
    FolderEntries read = read_folder(folder->number());
    if (!read.complaint.empty()) visit.complaint = fmt::format("cannot be read: {}", read.complaint);
    const std::vector<Kind> kinds = judge(visit, read.entries);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      std::string& name = read.entries[i].name;
      visit.counts.add(kinds[i]);
      if (kinds[i] == Kind::kLeftOver)
        visit.left_over.push_back(visit.folder->path_of(name));
      else if (kinds[i] == Kind::kInput || kinds[i] == Kind::kDoneInput)
        visit.add({visit.folder, std::move(name)}, kinds[i] == Kind::kDoneInput);
      else if (kinds[i] == Kind::kFolder)
        add_folder(visit, std::make_shared<Folder>(visit.folder, std::move(name)));
    }
  }

  // Entries of a folder that one thread looks at in a row: far more work than handing them over.
  static constexpr std::size_t kEntriesGrain = 2048;

  // Sorts the entries.
  std::vector<Kind> judge(const Visit& visit, std::vector<FolderEntry>& entries) const {
    std::vector<Kind> kinds(entries.size());
    const auto by_name = [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; };
    // Names that outputs would have; none, when a folder is new.
    std::vector<std::string_view> targets;
    sort_in_parallel(entries.begin(), entries.end(), by_name);
    for (const FolderEntry& entry : entries)
      if (!is_input(entry.name)) targets.push_back(entry.name);
    run_in_parallel(entries.size(), kEntriesGrain,
                    [&](std::size_t i) { kinds[i] = kind_of(visit, entries[i], targets); });
    return kinds;
  }

  // `targets` are sorted.
  Kind kind_of(const Visit& visit, const FolderEntry& entry,
               const std::vector<std::string_view>& targets) const {
    switch (entry.type) {
      case DT_LNK:
        return Kind::kLink;
      case DT_DIR:
        return Kind::kFolder;
      case DT_UNKNOWN:  // gone meanwhile: opening it will say so
        return Kind::kInput;
      case DT_REG:
        break;
      default:
        return Kind::kSpecial;
    }
    if (is_temporary_name(entry.name)) return kind_of_temporary({visit.folder, entry.name});
    if (!is_input(entry.name)) return Kind::kOtherSuffix;
    const bool has_target =
        request_.outputs ||
        (!targets.empty() && std::binary_search(targets.begin(), targets.end(), target_of(entry.name)));
    return has_target ? kind_of_input({visit.folder, entry.name}) : Kind::kInput;
  }

  Kind kind_of_argument(const FileName& file) const {
    if (is_temporary_name(file.name)) return kind_of_temporary(file);
    if (!is_input(file.name)) return Kind::kOtherSuffix;
    return kind_of_input(file);
  }

  Kind kind_of_input(const FileName& file) const {
    if (!is_done(file)) return Kind::kInput;
    return request_.remove_source ? Kind::kDoneInput : Kind::kDone;
  }

  static Kind kind_of_temporary(const FileName& file) {
    return is_left_over(file) ? Kind::kLeftOver : Kind::kTemporary;
  }

  bool is_input(std::string_view name) const {
    return has_own_suffix(name) != (request_.action == Action::kCompress);
  }

  // The name of a file's output; the file's own where it has none.
  std::string target_of(const std::string& name) const {
    if (request_.action == Action::kCompress) return compressed_name(name, request_.compress.format);
    return restored_name(name).value_or(name);
  }

  bool is_done(const FileName& file) const {
    if (request_.to_stdout || request_.force) return false;
    if (request_.action != Action::kCompress && request_.action != Action::kRestore) return false;
    const std::optional<FileName> target = output_of(request_, file);
    return target && is_done_before(request_.action, file, *target);
  }

  // Everything in order, and once.
  Walk collect(Visit& arguments) {
    Walk walk;
    Counts counts;
    struct Place {
      Visit* visit;
      std::size_t next_file = 0, next_folder = 0;
    };
    std::vector<Place> places;
    const auto enter = [&](Visit& visit) {
      counts += visit.counts;
      if (!visit.complaint.empty()) walk.failures.push_back({visit.folder->path(), visit.complaint});
      std::move(visit.left_over.begin(), visit.left_over.end(), std::back_inserter(walk.left_over));
      places.push_back({&visit});
    };
    remember_named(arguments);
    enter(arguments);
    while (!places.empty()) {
      Place& place = places.back();
      Visit& visit = *place.visit;
      const bool has_folder = place.next_folder < visit.folders.size();
      const std::size_t end = has_folder ? visit.folders[place.next_folder].files_before : visit.files.size();
      take_files(visit, place.next_file, end, walk);
      place.next_file = end;
      if (!has_folder) {
        places.pop_back();
        continue;
      }
      Visit& inside = *visit.folders[place.next_folder++].visit;
      if (is_first_time(inside)) enter(inside);
    }
    walk.skipped = summary(counts);
    return walk;
  }

  void remember_named(const Visit& arguments) {
    may_come_twice_ = arguments.files.size() + arguments.folders.size() > 1;
    if (!may_come_twice_) return;
    for (const FileName& file : arguments.files) {
      const Folder::Identity folder = file.folder->identity();
      if (folder == Folder::Identity{} || file.is_standard_stream()) continue;
      named_folders_.insert(folder);
      named_files_.emplace(std::pair(folder, file.name), false);
    }
  }

  void take_files(Visit& visit, std::size_t begin, std::size_t end, Walk& walk) {
    const bool may_be_named =
        visit.folder ? named_folders_.contains(visit.folder->identity()) : !named_files_.empty();
    for (std::size_t i = begin; i < end; ++i)
      if (!may_be_named || is_first_time(visit.files[i]))
        (visit.done[i] ? walk.done : walk.files).push_back(std::move(visit.files[i]));
  }

  bool is_first_time(const Visit& visit) {
    return !may_come_twice_ || !visit.complaint.empty() ||
           seen_folders_.insert(visit.folder->identity()).second;
  }

  bool is_first_time(const FileName& file) {
    if (file.is_standard_stream()) return true;
    const auto named = named_files_.find({file.folder->identity(), file.name});
    return named == named_files_.end() || !std::exchange(named->second, true);
  }

  std::string summary(const Counts& counts) const {
    const std::size_t total =
        counts.other_suffix + counts.link + counts.special + counts.done + counts.temporary;
    if (total == 0) return "";
    std::string parts;
    const auto add = [&](std::size_t count, const std::string& what) {
      if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, what);
    };
    add(counts.other_suffix,
        fmt::format("{} suffix {}", request_.action == Action::kCompress ? "with" : "without",
                    FormatTable::instance().suffixes()));
    add(counts.done, "done before");
    add(counts.link, counts.link == 1 ? "link" : "links");
    add(counts.special, "special");
    add(counts.temporary, "temporary");
    return fmt::format("skipped {} {}: {}", total, total == 1 ? "file" : "files", parts);
  }

  const Request& request_;
  std::mutex visits_mutex_;
  std::deque<Visit> visits_;
  bool may_come_twice_ = false;
  // What several arguments lead to: folders as a whole, and files that an argument names.
  std::set<Folder::Identity> seen_folders_, named_folders_;
  std::map<std::pair<Folder::Identity, std::string>, bool> named_files_;  // and whether each was taken
};

}  // namespace

Walk walk_inputs(const Request& request) { return Walker(request).run(); }

}  // namespace hemstitch::cli
