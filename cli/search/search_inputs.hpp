// The files that search goes through, in their order: the arguments, and with -r what is in folders, that of one folder
// in the order of names. Folders are listed side by side and ahead, so the first files come while others are
// still looked for.
#pragma once

#include <sys/types.h>
#include <tbb/task_arena.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/files/input_file.hpp"
#include "cli/search/search_request.hpp"
#include "cli/search/tasks_ahead.hpp"

namespace hemstitch::cli {

// Files that follow each other, all in one folder or all arguments; or a folder that could not be read.
struct InputRun {
  InputFolder folder;
  std::span<const std::string> names;  // none where the folder could not be read
  std::string_view complaint, about;   // why and which
  bool warning = false;                // the complaint is no error

  InputFile file(const std::string& name) const { return {folder, &name}; }
};

// One thread at a time.
class SearchInputs {
 public:
  // A run never has more files; what it refers to lives as long as this object. The arena's threads list folders.
  SearchInputs(const SearchRequest& request, std::size_t most_files, tbb::task_arena& arena);

  // Nothing at the end.
  std::optional<InputRun> next();

  // Whether the output says which file it is about.
  bool with_names() const { return with_names_; }

 private:
  struct Folder {
    const Folder* around = nullptr;
    std::string path;
    std::string prefix;
    std::size_t argument_bytes = 0;  // of the prefix
    std::size_t names_before = 0;    // of the folder that it is in

    std::once_flag listed;  // what follows is known after that
    std::pair<dev_t, ino_t> identity{};
    std::vector<std::string> names;
    std::vector<std::unique_ptr<Folder>> folders;
    std::string complaint;
    bool warning = false;
    std::exception_ptr failure;  // memory ran out
  };
  struct Place {  // what of a folder was not given yet
    Folder* folder;
    std::size_t next_name = 0, next_folder = 0;
    bool complained = false;
  };

  void take_arguments();
  void add_argument_folder(const std::string& path, const std::string& prefix);
  void list(Folder& folder);
  void read_entries(Folder& folder) const;
  static bool is_loop(const Folder& folder);
  void list_ahead(Folder& folder);
  InputFolder input_folder(const Folder& folder) const;

  const SearchRequest& request_;
  std::size_t most_files_;
  Folder arguments_;
  bool with_names_ = false;
  std::vector<Place> places_;  // the innermost folder last
  TasksAhead ahead_;           // ends before the folders do
};

}  // namespace hemstitch::cli
