#include "cli/search/search_inputs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cli/request.hpp"

namespace hemstitch::cli {
namespace {

void choose_by_names(const NameRules& rules, std::vector<FolderEntry>& entries) {
  std::erase_if(entries, [&](const FolderEntry& entry) {
    if (entry.type == DT_DIR) return !rules.takes_folder(entry.name);
    return entry.type != DT_REG || !rules.takes_file(entry.name);
  });
}

}  // namespace

SearchInputs::SearchInputs(const SearchRequest& request, std::size_t most_files, tbb::task_arena& arena)
    : request_(request),
      walk_(
          {.choose = [&request](const auto&, auto& entries) { choose_by_names(request.name_rules, entries); },
           .most_entries = most_files},
          arena) {
  const std::vector<std::string>& paths = request.paths;
  if (paths.empty() && request.recursive)
    add_folder("", ".");
  else if (paths.empty())
    walk_.add_file(Folder::current(), {.name = kStandardStream});
  if (paths.size() > 1) with_names_ = true;
  for (const std::string& path : paths) add_argument(path);
}

void SearchInputs::add_argument(const std::string& path) {
  struct stat status {};
  const bool is_there = path != kStandardStream && stat(path.c_str(), &status) == 0;
  const bool is_folder = is_there && S_ISDIR(status.st_mode);
  if (is_there && !(is_folder ? request_.name_rules.takes_folder_argument(path)
                              : request_.name_rules.takes_argument(path)))
    return;
  if (is_folder && request_.recursive)
    add_folder(path.ends_with('/') ? path : path + '/', path);
  else
    walk_.add_file(Folder::current(), {.name = path});  // opening it will report what is wrong
}

void SearchInputs::add_folder(std::string prefix, const std::string& shown) {
  with_names_ = true;
  const Folder::Way way = request_.follow_links ? Folder::Way::kOwnThroughLinks : Folder::Way::kOwn;
  walk_.add_folder(std::make_shared<Folder>(std::move(prefix), way), shown);
}

}  // namespace hemstitch::cli
