#include "cli/files/output/disk_sync.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "cli/messages.hpp"

namespace hemstitch::cli {
namespace {

// These are known to record every failure so that syncfs() finds it. overlayfs and FUSE, for example, do not.
constexpr std::array<unsigned long, 5> kTellingFileSystems{EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,
                                                           BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC};

bool kernel_tells_errors() {
  static const bool tells = [] {
    utsname system{};
    int major = 0, minor = 0;
    return uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(5, 8);
  }();
  return tells;
}

bool syncfs_tells_errors(int number) {
  struct statfs file_system {};
  return kernel_tells_errors() && fstatfs(number, &file_system) == 0 &&
         std::find(kTellingFileSystems.begin(), kTellingFileSystems.end(),
                   static_cast<unsigned long>(file_system.f_type)) != kTellingFileSystems.end();
}

ToolError not_on_disk() {
  return tool_error_from_errno("the output cannot be written to the disk, so the source is kept");
}

// Opens a folder again for syncing: a descriptor with O_PATH cannot be synced.
Descriptor reopen_folder(int number) {
  return Descriptor(openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

void sync_descriptor(int number) {
  // EINVAL: the file system has nothing to sync.
  if (fsync(number) != 0 && errno != EINVAL) throw not_on_disk();
}

void sync_folder(int number) {
  const Descriptor opened = reopen_folder(number);
  if (opened.number() >= 0)
    sync_descriptor(opened.number());
  else
    sync();  // if the folder may be written to but not read, syncs all file systems
}

void sync_file(const FileName& file) {
  const OpenFolder folder = file.folder->open();
  const Descriptor opened(file.open(O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (!folder || opened.number() < 0) throw not_on_disk();
  sync_descriptor(opened.number());
  sync_folder(folder->number());
}

bool BatchSync::take(const Folder& folder) {
  const OpenFolder for_names = folder.open();
  if (!for_names) return false;
  const dev_t device = folder.identity().first;
  if (file_systems_.contains(device)) return true;
  Descriptor opened = reopen_folder(for_names->number());
  if (opened.number() < 0 || !syncfs_tells_errors(opened.number())) return false;
  file_systems_.emplace(device, std::move(opened));
  return true;
}

void BatchSync::finish() {
  for (const auto& [device, file_system] : file_systems_)
    if (syncfs(file_system.number()) != 0) throw not_on_disk();
}

}  // namespace hemstitch::cli
