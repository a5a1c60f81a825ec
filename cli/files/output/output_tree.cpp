#include "cli/files/output/output_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "cli/files/output/disk_sync.hpp"
#include "cli/files/output/file_attributes.hpp"
#include "cli/messages.hpp"

namespace hemstitch::cli {
namespace {

ToolError cannot_be_made(const Folder& folder) {
  return tool_error_from_errno(fmt::format("'{}' cannot be made", shown_name(folder.path())));
}

// The folders between an argument and a file that was found below it, from the top.
std::vector<const Folder*> folders_above(const FileName& source) {
  std::vector<const Folder*> way;
  if (source.is_argument) return way;
  for (const Folder* folder = source.folder.get(); folder->around() != nullptr; folder = folder->around())
    way.push_back(folder);
  std::reverse(way.begin(), way.end());
  return way;
}

// Nobody else can enter the folder before it has its mode. Its owner keeps write permission, since files are
// still to be made in it.
void give_attributes(const Folder& from, const OpenFolder& around, const std::string& name) {
  const OpenFolder source = from.open_to_list();
  const Descriptor made(
      openat(around->number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!source || made.number() < 0 || fstat(source->number(), &status) != 0) return;
  status.st_mode |= S_IRWXU;
  // An attribute that could not be kept only gives access to fewer people.
  static_cast<void>(FileAttributes(source->number(), status).give_to(made.number()));
}

void require_folder(const Folder& folder, const OpenFolder& around, const std::string& name) {
  if (folder.open()) return;
  const int error = errno;
  struct stat status {};
  if (fstatat(around->number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
    throw ToolError(fmt::format("'{}' is a link, and links below --output-dir are not followed",
                                shown_name(folder.path())));
  errno = error;
  throw tool_error_from_errno(fmt::format("'{}' cannot be opened", shown_name(folder.path())));
}

}  // namespace

OutputTree::OutputTree(const std::string& path, bool on_disk)
    : top_(std::make_shared<Folder>(path.ends_with('/') ? path : path + '/')), on_disk_(on_disk) {}

void OutputTree::make() const {
  const bool made = mkdir(top_->path_of("").c_str(), S_IRWXU | S_IRWXG | S_IRWXO) == 0;
  if (!made && errno != EEXIST) throw cannot_be_made(*top_);
  const OpenFolder top = top_->open();
  if (!top)
    throw tool_error_from_errno(fmt::format("--output-dir '{}' cannot be opened", shown_name(top_->path())));
  if (!made || !on_disk_) return;
  const Descriptor around(openat(top->number(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  sync_folder(around.number());
}

OutputTree::Shared OutputTree::inside(const Shared& around, const std::string& name) {
  const std::lock_guard lock(mutex_);
  Shared& folder = inside_[{around, name}];
  if (!folder) folder = std::make_shared<Folder>(around, name);
  return folder;
}

FileName OutputTree::place_of(const FileName& source, std::string name) {
  Shared at = top_;
  for (const Folder* folder : folders_above(source)) at = inside(at, folder->name());
  return {at, std::move(name)};
}

void OutputTree::make_folder_for(const FileName& source) {
  const std::lock_guard lock(making_);
  if (place_of(source, "").folder->open()) return;
  Shared at = top_;
  for (const Folder* folder : folders_above(source)) {
    const OpenFolder around = at->open();
    at = inside(at, folder->name());
    if (!around) throw cannot_be_made(*at);
    if (mkdirat(around->number(), folder->name().c_str(), S_IRWXU) == 0) {
      give_attributes(*folder, around, folder->name());
      if (on_disk_) sync_folder(around->number());
    } else if (errno != EEXIST) {
      throw cannot_be_made(*at);
    }
    require_folder(*at, around, folder->name());
  }
}

}  // namespace hemstitch::cli
