// The files of a search, in order: the arguments, and with -r the files in folders.
#pragma once

#include <tbb/task_arena.h>

#include <cstddef>
#include <optional>
#include <string>

#include "cli/files/input_file.hpp"
#include "cli/files/walk/folder_walk.hpp"
#include "cli/search/search_request.hpp"

namespace hemstitch::cli {

// One thread at a time.
class SearchInputs {
 public:
  // A run has at most `most_files`; what it refers to lives as long as this object. The arena's threads
  // list folders.
  SearchInputs(const SearchRequest& request, std::size_t most_files, tbb::task_arena& arena);

  // Nothing at the end.
  std::optional<WalkRun> next() { return walk_.next(); }

  // Whether the output names the file of each line.
  bool with_names() const { return with_names_; }

 private:
  void add_argument(const std::string& path);
  void add_folder(std::string prefix, const std::string& shown);

  const SearchRequest& request_;
  bool with_names_ = false;
  FolderWalk walk_;
};

inline InputFile input_file(const WalkRun& run, const FolderEntry& entry) {
  return {run.folder.get(), &entry.name, !run.named};
}

}  // namespace hemstitch::cli
