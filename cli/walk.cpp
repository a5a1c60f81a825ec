#include "walk.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "files.hpp"
#include "folder_entries.hpp"

namespace hemstitch::cli {
namespace {

// What one folder, or one argument, comes to; those below it are added in order.
struct Found {
  std::vector<std::string> files;
  std::vector<Walk::Failure> failures;
  std::size_t suffix_count = 0, link_count = 0, special_count = 0, done_count = 0;

  void add(Found&& other) {
    if (files.empty())
      files.swap(other.files);
    else
      std::move(other.files.begin(), other.files.end(), std::back_inserter(files));
    std::move(other.failures.begin(), other.failures.end(), std::back_inserter(failures));
    suffix_count += other.suffix_count;
    link_count += other.link_count;
    special_count += other.special_count;
    done_count += other.done_count;
  }
};

class Walker {
 public:
  explicit Walker(const Request& request) : request_(request) {}

  Walk run() {
    Found all;
    for (const std::string& path : request_.files) {
      struct stat status {};
      if (path == kStandardStream || stat(path.c_str(), &status) != 0)
        all.files.push_back(path);  // opening it will say what is wrong
      else if (S_ISDIR(status.st_mode))
        all.add(visit_folder(path));
      else if (!S_ISREG(status.st_mode))
        ++all.special_count;
      else
        visit_file(path, true, all);
    }
    return {std::move(all.files), std::move(all.failures), summary(all)};
  }

 private:
  static std::vector<FolderEntry> entries_of(const std::string& folder, Found& found) {
    FolderEntries read = read_folder(folder);
    if (!read.complaint.empty())
      found.failures.push_back({folder, fmt::format("cannot be read: {}", read.complaint)});
    tbb::parallel_sort(read.entries.begin(), read.entries.end(),
                       [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
    return std::move(read.entries);
  }

  // Entries of a folder that one thread looks at in a row: far more work than handing them over.
  static constexpr std::size_t kEntriesGrain = 2048;

  // Entries are looked at, and folders below it visited, at the same time.
  Found visit_folder(const std::string& folder) const {
    Found found;
    const std::vector<FolderEntry> entries = entries_of(folder, found);
    const std::string prefix = folder.back() == '/' ? folder : folder + '/';
    // Names that outputs would have; none, when a folder is new.
    std::vector<std::string_view> targets;
    for (const FolderEntry& entry : entries)
      if (!is_input(entry.name)) targets.push_back(entry.name);
    std::vector<Found> parts((entries.size() + kEntriesGrain - 1) / kEntriesGrain);
    tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) {
      const std::size_t begin = i * kEntriesGrain;
      parts[i] = visit_entries(
          prefix, std::span(entries).subspan(begin, std::min(kEntriesGrain, entries.size() - begin)),
          targets);
    });
    for (Found& part : parts) found.add(std::move(part));
    return found;
  }

  // `targets` are sorted.
  Found visit_entries(const std::string& prefix, std::span<const FolderEntry> entries,
                      std::span<const std::string_view> targets) const {
    const auto has_target = [&](const std::string& name) {
      return !targets.empty() && std::binary_search(targets.begin(), targets.end(), target_of(name));
    };
    // Files between two folders are found before the second one's.
    std::vector<Found> parts(1);
    std::vector<std::pair<std::string, std::size_t>> folders;  // and the part that each comes to
    for (const FolderEntry& entry : entries) {
      const std::string path = prefix + entry.name;
      switch (entry.type) {
        case DT_LNK:
          ++parts.back().link_count;
          break;
        case DT_DIR:
          folders.emplace_back(path, parts.size());
          parts.resize(parts.size() + 2);
          break;
        case DT_REG:
          visit_file(path, is_input(entry.name) && has_target(entry.name), parts.back());
          break;
        case DT_UNKNOWN:  // gone meanwhile: opening it will say so
          parts.back().files.push_back(path);
          break;
        default:
          ++parts.back().special_count;
      }
    }
    tbb::parallel_for(std::size_t{0}, folders.size(),
                      [&](std::size_t i) { parts[folders[i].second] = visit_folder(folders[i].first); });
    Found found;
    for (Found& part : parts) found.add(std::move(part));
    return found;
  }

  void visit_file(const std::string& path, bool target_may_exist, Found& found) const {
    if (!is_input(path))
      ++found.suffix_count;
    else if (target_may_exist && is_done(path))
      ++found.done_count;
    else
      found.files.push_back(path);
  }

  bool is_input(std::string_view path) const {
    return has_own_suffix(path) != (request_.action == Action::kCompress);
  }

  // The name of a file's output; the file's own where it has none.
  std::string target_of(const std::string& path) const {
    if (request_.action == Action::kCompress) return compressed_name(path);
    return restored_name(path).value_or(path);
  }

  // The output of an earlier run carries the time of its source.
  bool is_done(const std::string& path) const {
    if (request_.to_stdout || request_.force) return false;
    if (request_.action != Action::kCompress && request_.action != Action::kRestore) return false;
    struct stat source {
    }, existing{};
    return stat(target_of(path).c_str(), &existing) == 0 && S_ISREG(existing.st_mode) &&
           stat(path.c_str(), &source) == 0 && existing.st_mtim.tv_sec == source.st_mtim.tv_sec &&
           existing.st_mtim.tv_nsec == source.st_mtim.tv_nsec;
  }

  std::string summary(const Found& found) const {
    const std::size_t total = found.suffix_count + found.link_count + found.special_count + found.done_count;
    if (total == 0) return "";
    std::string parts;
    const auto add = [&](std::size_t count, const std::string& what) {
      if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, what);
    };
    add(found.suffix_count,
        fmt::format("{} suffix {}", request_.action == Action::kCompress ? "with" : "without", kOwnSuffix));
    add(found.done_count, "done before");
    add(found.link_count, found.link_count == 1 ? "link" : "links");
    add(found.special_count, "special");
    return fmt::format("skipped {} {}: {}", total, total == 1 ? "file" : "files", parts);
  }

  const Request& request_;
};

}  // namespace

Walk walk_inputs(const Request& request) { return Walker(request).run(); }

}  // namespace hemstitch::cli
