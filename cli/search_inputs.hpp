// The files that search goes through, in their order: the arguments, and with -r what is in folders, that of one folder
// in the order of names. Folders are listed side by side and ahead, so the first files come while others are
// still looked for.
#pragma once

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search_request.hpp"

namespace hemstitch::cli {

// Files that follow each other, all in one folder or all arguments; or a folder that could not be read.
struct InputRun {
  std::string_view prefix;             // of their names: the folder's path with a '/', where it has one
  std::span<const std::string> names;  // none where a folder could not be read
  std::string_view folder, complaint;  // that one and why
  bool listed = false;  // these are regular files, as their folder told; otherwise they may be anything
};

// One thread at a time.
class SearchInputs {
 public:
  // A run never has more files; what it refers to lives as long as this object. The arena's threads list folders.
  SearchInputs(const SearchRequest& request, std::size_t most_files, tbb::task_arena& arena);
  ~SearchInputs();

  // Nothing at the end.
  std::optional<InputRun> next();

  // Whether the output says which file it is about.
  bool with_names() const { return with_names_; }

 private:
  struct Folder {
    std::string path;
    std::string prefix;
    std::size_t names_before = 0;  // of the folder that it is in

    std::once_flag listed;  // what follows is known after that
    std::vector<std::string> names;
    std::vector<std::unique_ptr<Folder>> folders;
    std::string complaint;
  };
  struct Place {  // what of a folder was not given yet
    Folder* folder;
    std::size_t next_name = 0, next_folder = 0;
    bool complained = false;
  };

  void take_arguments(const SearchRequest& request);
  void list(Folder& folder);
  static void read_entries(Folder& folder);
  void list_ahead(Folder& folder);

  std::size_t most_files_;
  tbb::task_arena& arena_;
  Folder arguments_;
  bool with_names_ = false;
  std::vector<Place> places_;  // the innermost folder last
  tbb::task_group ahead_;      // ends before the folders do
};

}  // namespace hemstitch::cli
