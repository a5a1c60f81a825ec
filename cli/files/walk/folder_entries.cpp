#include "cli/files/walk/folder_entries.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

#include "core/descriptor.hpp"

namespace hemstitch::cli {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Some file systems do not report the type with the name.
unsigned char type_of(DIR* folder, const dirent& entry) {
  struct stat status {};
  if (entry.d_type != DT_UNKNOWN || fstatat(dirfd(folder), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return entry.d_type;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

}  // namespace

FolderEntries read_folder(int folder) {
  Descriptor own(fcntl(folder, F_DUPFD_CLOEXEC, 0));
  const std::unique_ptr<DIR, CloseFolder> opened(own.number() < 0 ? nullptr : fdopendir(own.number()));
  FolderEntries read;
  int error = opened ? 0 : errno;
  if (opened) own.release();  // closed together with it
  while (opened) {
    errno = 0;
    const dirent* const entry = readdir(opened.get());
    error = errno;
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..")
      read.entries.push_back({std::string(name), type_of(opened.get(), *entry)});
  }
  if (error != 0) read.complaint = std::generic_category().message(error);
  return read;
}

}  // namespace hemstitch::cli
