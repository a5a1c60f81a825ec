#include "walk.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "files.hpp"

namespace hemstitch::cli {
namespace {

namespace fs = std::filesystem;

class Walker {
 public:
  explicit Walker(const Request& request) : request_(request) {}

  Walk run() {
    for (const std::string& path : request_.files) {
      struct stat status {};
      if (path == kStandardStream || stat(path.c_str(), &status) != 0)
        walk_.files.push_back(path);  // opening it will say what is wrong
      else if (S_ISDIR(status.st_mode))
        visit_folder(path);
      else
        visit_file(path, status);
    }
    walk_.skipped = summary();
    return std::move(walk_);
  }

 private:
  void visit_folder(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      paths.push_back(entry->path().string());
    if (error) walk_.failures.push_back({folder, fmt::format("cannot be read: {}", error.message())});
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      struct stat status {};
      if (lstat(path.c_str(), &status) != 0)
        walk_.files.push_back(path);
      else if (S_ISLNK(status.st_mode))
        ++link_count_;
      else if (S_ISDIR(status.st_mode))
        visit_folder(path);
      else
        visit_file(path, status);
    }
  }

  void visit_file(const std::string& path, const struct stat& status) {
    const bool has_own_suffix = restored_name(path).has_value();
    if (!S_ISREG(status.st_mode))
      ++special_count_;
    else if (has_own_suffix == (request_.action == Action::kCompress))
      ++suffix_count_;
    else if (is_done(path, status))
      ++done_count_;
    else
      walk_.files.push_back(path);
  }

  // The output of an earlier run carries the time of its source.
  bool is_done(const std::string& path, const struct stat& source) const {
    if (request_.to_stdout || request_.force) return false;
    std::string target;
    if (request_.action == Action::kCompress)
      target = compressed_name(path);
    else if (request_.action == Action::kRestore)
      target = *restored_name(path);
    else
      return false;
    struct stat existing {};
    return stat(target.c_str(), &existing) == 0 && S_ISREG(existing.st_mode) &&
           existing.st_mtim.tv_sec == source.st_mtim.tv_sec &&
           existing.st_mtim.tv_nsec == source.st_mtim.tv_nsec;
  }

  std::string summary() const {
    const std::size_t total = suffix_count_ + link_count_ + special_count_ + done_count_;
    if (total == 0) return "";
    std::string parts;
    const auto add = [&](std::size_t count, const std::string& what) {
      if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, what);
    };
    add(suffix_count_,
        fmt::format("{} suffix {}", request_.action == Action::kCompress ? "with" : "without", kOwnSuffix));
    add(done_count_, "done before");
    add(link_count_, link_count_ == 1 ? "link" : "links");
    add(special_count_, "special");
    return fmt::format("skipped {} {}: {}", total, total == 1 ? "file" : "files", parts);
  }

  const Request& request_;
  Walk walk_;
  std::size_t suffix_count_ = 0, link_count_ = 0, special_count_ = 0, done_count_ = 0;
};

}  // namespace

Walk walk_inputs(const Request& request) { return Walker(request).run(); }

}  // namespace hemstitch::cli
