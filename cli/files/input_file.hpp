// A file that search was told to search, or found in a folder, and how it is opened: through no link, but for those that the user
// named or lets be followed, whatever became of the folders meanwhile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"

namespace hemstitch::cli {

// What it refers to lives as long as the inputs.
struct InputFolder {
  std::string_view prefix;  // its path with a '/' behind it; nothing for the one that the process is in
  std::size_t argument_bytes = 0;  // of the prefix: as the user named it
  bool listed = false;  // its files were found in it, and are regular ones; otherwise the user named them
  bool follow_links = false;

  // With the flags of open(). No number where it cannot be opened, with the reason in errno.
  Descriptor open(int flags) const;
};

struct InputFile {
  InputFolder folder;
  const std::string* name = nullptr;

  std::string path() const { return std::string(folder.prefix).append(*name); }
};

// A folder whose files are opened by name, so that nobody goes down its path for each of them.
class FolderOfFiles {
 public:
  explicit FolderOfFiles(const InputFolder& folder);

  // As open() does, and as it says in errno. Nobody waits for a pipe.
  Descriptor open(const std::string& name) const;

 private:
  Descriptor folder_;
  int error_ = 0;
  int flags_;
};

}  // namespace hemstitch::cli
