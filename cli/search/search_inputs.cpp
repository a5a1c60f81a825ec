#include "cli/search/search_inputs.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/files/folder_entries.hpp"

namespace hemstitch::cli {

SearchInputs::SearchInputs(const SearchRequest& request, std::size_t most_files, tbb::task_arena& arena)
    : request_(request), most_files_(most_files), ahead_(arena) {
  take_arguments();
  std::call_once(arguments_.listed, [] {});
  places_.push_back({&arguments_});
  list_ahead(arguments_);
}

void SearchInputs::take_arguments() {
  const std::vector<std::string>& paths = request_.paths;
  if (paths.empty() && request_.recursive)
    add_argument_folder(".", "");
  else if (paths.empty())
    arguments_.names.emplace_back(kStandardStream);
  if (paths.size() > 1) with_names_ = true;
  for (const std::string& path : paths) {
    struct stat status {};
    const bool is_there = path != kStandardStream && stat(path.c_str(), &status) == 0;
    const bool is_folder = is_there && S_ISDIR(status.st_mode);
    if (is_there && !(is_folder ? request_.name_rules.takes_folder_argument(path)
                                : request_.name_rules.takes_argument(path)))
      continue;
    if (is_folder && request_.recursive)
      add_argument_folder(path, path.ends_with('/') ? path : path + '/');
    else
      arguments_.names.push_back(path);  // opening it will say what is wrong
  }
}

void SearchInputs::add_argument_folder(const std::string& path, const std::string& prefix) {
  with_names_ = true;
  auto folder = std::make_unique<Folder>();
  folder->path = path;
  folder->prefix = prefix;
  folder->argument_bytes = prefix.size();
  folder->names_before = arguments_.names.size();
  arguments_.folders.push_back(std::move(folder));
}

InputFolder SearchInputs::input_folder(const Folder& folder) const {
  return {folder.prefix, folder.argument_bytes, &folder != &arguments_, request_.follow_links};
}

std::optional<InputRun> SearchInputs::next() {
  while (!places_.empty()) {
    Place& place = places_.back();
    Folder& folder = *place.folder;
    list(folder);
    if (folder.failure) std::rethrow_exception(folder.failure);
    if (!folder.complaint.empty() && !place.complained) {
      place.complained = true;
      return InputRun{input_folder(folder), {}, folder.complaint, folder.path, folder.warning};
    }
    const bool has_folder = place.next_folder < folder.folders.size();
    const std::size_t end =
        has_folder ? folder.folders[place.next_folder]->names_before : folder.names.size();
    if (place.next_name < end) {
      const std::size_t begin = place.next_name;
      place.next_name = std::min(end, begin + most_files_);
      return InputRun{
          input_folder(folder), std::span(folder.names).subspan(begin, place.next_name - begin), {}, {}};
    }
    if (has_folder)
      places_.push_back({folder.folders[place.next_folder++].get()});
    else
      places_.pop_back();
  }
  return std::nullopt;
}

// Waits where another thread does it: that one waits for nobody. What fails is kept for who asks for the files: thrown here it would
// pass through the C library's code of call_once(), or end in a task.
void SearchInputs::list(Folder& folder) {
  std::call_once(folder.listed, [&] {
    try {
      read_entries(folder);
      list_ahead(folder);
    } catch (...) {
      folder.failure = std::current_exception();
    }
  });
}

void SearchInputs::list_ahead(Folder& folder) {
  for (const std::unique_ptr<Folder>& inside : folder.folders)
    ahead_.run([this, next = inside.get()] { list(*next); });
}

// A folder that was reached through a link from inside.
bool SearchInputs::is_loop(const Folder& folder) {
  for (const Folder* around = folder.around; around != nullptr; around = around->around)
    if (around->identity == folder.identity) return true;
  return false;
}

void SearchInputs::read_entries(Folder& folder) const {
  const Descriptor open_folder = input_folder(folder).open(O_RDONLY);
  struct stat status {};
  if (open_folder.number() < 0 || fstat(open_folder.number(), &status) != 0) {
    folder.complaint = std::generic_category().message(errno);
    return;
  }
  folder.identity = {status.st_dev, status.st_ino};
  if (request_.follow_links && is_loop(folder)) {
    folder.complaint = "warning: recursive directory loop";
    folder.warning = true;
    return;
  }
  FolderEntries read = read_folder(open_folder.number());
  folder.complaint = std::move(read.complaint);
  for (FolderEntry& entry : read.entries) {
    // One that leads nowhere is told of when it is opened.
    if (entry.type == DT_LNK && request_.follow_links) {
      const bool leads = fstatat(open_folder.number(), entry.name.c_str(), &status, 0) == 0;
      entry.type = static_cast<unsigned char>(IFTODT(leads ? status.st_mode : S_IFREG));
    }
    if (entry.type == DT_REG && request_.name_rules.takes_file(entry.name)) {
      folder.names.push_back(std::move(entry.name));
    } else if (entry.type == DT_DIR && request_.name_rules.takes_folder(entry.name)) {
      auto inside = std::make_unique<Folder>();
      inside->around = &folder;
      inside->path = folder.prefix + entry.name;
      inside->prefix = inside->path + '/';
      inside->argument_bytes = folder.argument_bytes;
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
