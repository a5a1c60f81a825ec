#include "search_inputs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "arguments.hpp"
#include "folder_entries.hpp"

namespace hemstitch::cli {

SearchInputs::SearchInputs(const SearchRequest& request, std::size_t most_files, tbb::task_arena& arena)
    : most_files_(most_files), arena_(arena) {
  std::call_once(arguments_.listed, [&] { take_arguments(request); });
  places_.push_back({&arguments_});
  arena_.execute([&] { list_ahead(arguments_); });
}

SearchInputs::~SearchInputs() {
  arena_.execute([&] {
    ahead_.cancel();
    ahead_.wait();
  });
}

void SearchInputs::take_arguments(const SearchRequest& request) {
  const auto add_folder = [&](const std::string& path, const std::string& prefix) {
    with_names_ = true;
    auto folder = std::make_unique<Folder>();
    folder->path = path;
    folder->prefix = prefix;
    folder->names_before = arguments_.names.size();
    arguments_.folders.push_back(std::move(folder));
  };
  if (request.paths.empty() && request.recursive)
    add_folder(".", "");
  else if (request.paths.empty())
    arguments_.names.emplace_back(kStandardStream);
  if (request.paths.size() > 1) with_names_ = true;
  for (const std::string& path : request.paths) {
    struct stat status {};
    if (request.recursive && path != kStandardStream && stat(path.c_str(), &status) == 0 &&
        S_ISDIR(status.st_mode))
      add_folder(path, path.ends_with('/') ? path : path + '/');
    else
      arguments_.names.push_back(path);  // opening it will say what is wrong
  }
}

std::optional<InputRun> SearchInputs::next() {
  while (!places_.empty()) {
    Place& place = places_.back();
    Folder& folder = *place.folder;
    list(folder);
    if (!folder.complaint.empty() && !place.complained) {
      place.complained = true;
      return InputRun{folder.prefix, {}, folder.path, folder.complaint};
    }
    const bool has_folder = place.next_folder < folder.folders.size();
    const std::size_t end =
        has_folder ? folder.folders[place.next_folder]->names_before : folder.names.size();
    if (place.next_name < end) {
      const std::size_t begin = place.next_name;
      place.next_name = std::min(end, begin + most_files_);
      return InputRun{folder.prefix,
                      std::span(folder.names).subspan(begin, place.next_name - begin),
                      {},
                      {},
                      &folder != &arguments_};
    }
    if (has_folder)
      places_.push_back({folder.folders[place.next_folder++].get()});
    else
      places_.pop_back();
  }
  return std::nullopt;
}

// Waits where another thread does it: that one waits for nobody.
void SearchInputs::list(Folder& folder) {
  std::call_once(folder.listed, [&] {
    read_entries(folder);
    list_ahead(folder);
  });
}

void SearchInputs::list_ahead(Folder& folder) {
  for (const std::unique_ptr<Folder>& inside : folder.folders)
    ahead_.run([this, next = inside.get()] { list(*next); });
}

void SearchInputs::read_entries(Folder& folder) {
  FolderEntries read = read_folder(folder.path);
  folder.complaint = std::move(read.complaint);
  for (FolderEntry& entry : read.entries) {
    if (entry.type == DT_REG) {
      folder.names.push_back(std::move(entry.name));
    } else if (entry.type == DT_DIR) {
      auto inside = std::make_unique<Folder>();
      inside->path = folder.prefix + entry.name;
      inside->prefix = inside->path + '/';
      folder.folders.push_back(std::move(inside));
    }
  }
  std::sort(folder.names.begin(), folder.names.end());
  std::sort(folder.folders.begin(), folder.folders.end(),
            [](const auto& a, const auto& b) { return a->path < b->path; });
  for (const std::unique_ptr<Folder>& inside : folder.folders) {
    const auto name = std::string_view(inside->path).substr(folder.prefix.size());
    inside->names_before = static_cast<std::size_t>(
        std::lower_bound(folder.names.begin(), folder.names.end(), name) - folder.names.begin());
  }
}

}  // namespace hemstitch::cli
