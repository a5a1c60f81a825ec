// A file that search was given, or found in a folder, and how to open it: never through a link, except links
// that the user named or wants followed, whatever happened to the folders meanwhile.
#pragma once

#include <string>

#include "cli/files/walk/folder.hpp"

namespace hemstitch::cli {

// What it refers to lives as long as the inputs.
struct InputFile {
  const Folder* folder = nullptr;
  const std::string* name = nullptr;
  bool listed = false;  // found in the folder, and regular; otherwise the user named it

  std::string path() const { return folder->path_of(*name); }
};

// A folder whose files are opened by name, so that the path is not walked for each of them. Belongs to the
// thread that opens it.
class FolderOfFiles {
 public:
  explicit FolderOfFiles(const Folder& folder);

  // Like open(), with the reason in errno. Does not wait for a pipe.
  Descriptor open(const InputFile& file) const;

 private:
  OpenFolder folder_;
  int error_;
  bool through_links_;
};

}  // namespace hemstitch::cli
