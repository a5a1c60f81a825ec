#include "cli/files/input_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "files/read_contents.hpp"

namespace hemstitch::cli {

Descriptor InputFolder::open(int flags) const {
  flags |= O_DIRECTORY | O_CLOEXEC;
  std::string_view inside = prefix.substr(argument_bytes);
  const bool is_argument = inside.empty() || follow_links;
  const std::string argument(is_argument ? prefix : prefix.substr(0, argument_bytes));
  Descriptor folder(::open(argument.empty() ? "." : argument.c_str(),
                           is_argument ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC));
  while (!is_argument && folder.number() >= 0 && !inside.empty()) {
    const std::string name(inside.substr(0, inside.find('/')));
    inside.remove_prefix(name.size() + 1);
    const int how = inside.empty() ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    folder = Descriptor(openat(folder.number(), name.c_str(), how | O_NOFOLLOW));
  }
  return folder;
}

FolderOfFiles::FolderOfFiles(const InputFolder& folder)
    : folder_(folder.prefix.empty() ? Descriptor() : folder.open(O_PATH)),
      flags_(kReadContentsFlags | (folder.listed && !folder.follow_links ? O_NOFOLLOW : 0)) {
  if (!folder.prefix.empty() && folder_.number() < 0) error_ = errno;
}

Descriptor FolderOfFiles::open(const std::string& name) const {
  if (error_ != 0) {
    errno = error_;
    return Descriptor();
  }
  return Descriptor(openat(folder_.number() < 0 ? AT_FDCWD : folder_.number(), name.c_str(), flags_));
}

}  // namespace hemstitch::cli
