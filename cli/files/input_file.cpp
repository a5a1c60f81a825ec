#include "cli/files/input_file.hpp"

#include <fcntl.h>

#include <cerrno>

#include "files/load/read_contents.hpp"

namespace hemstitch::cli {

FolderOfFiles::FolderOfFiles(const Folder& folder)
    : folder_(folder.open()),
      error_(folder_ ? 0 : errno),
      through_links_(folder.way() == Folder::Way::kOwnThroughLinks) {}

Descriptor FolderOfFiles::open(const InputFile& file) const {
  if (!folder_) {
    errno = error_;
    return Descriptor();
  }
  const int links = file.listed && !through_links_ ? O_NOFOLLOW : 0;
  return Descriptor(openat(folder_->number(), file.name->c_str(), kReadContentsFlags | links));
}

}  // namespace hemstitch::cli
