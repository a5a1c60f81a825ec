// A file that search was told to search, or found in a folder, and how it is opened: through no link, but for those that the user
// named or lets be followed, whatever became of the folders meanwhile.
#pragma once

#include <string>

#include "cli/files/folder.hpp"

namespace hemstitch::cli {

// What it refers to lives as long as the inputs.
struct InputFile {
  const Folder* folder = nullptr;
  const std::string* name = nullptr;
  bool listed = false;  // found in the folder, and a regular one; otherwise the user named it

  std::string path() const { return folder->path_of(*name); }
};

// A folder whose files are opened by name, so that nobody goes down its path for each of them. Of the thread that opens it.
class FolderOfFiles {
 public:
  explicit FolderOfFiles(const Folder& folder);

  // As open() does, and as it says in errno. Nobody waits for a pipe.
  Descriptor open(const InputFile& file) const;

 private:
  OpenFolder folder_;
  int error_;
  bool through_links_;
};

}  // namespace hemstitch::cli
