// Folders by descriptor, and files by their names in them.
//
// A folder inside another one is opened by its name there, never through a link, and only if it is still the
// same folder as the first time (device and inode). So nothing changes for us if a folder that we work in is
// renamed or replaced by a link, and no path is too long. Only a limited number of folders is open at a time,
// however many there are; others are opened again when needed.
//
// Threads with their own descriptors (files/load/own_descriptors.hpp) cannot share open folders. Therefore search
// opens folders again each time, down from the folder that was named, and takes whichever folder is there by
// then.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/descriptor.hpp"

namespace hemstitch::cli {

// For openat() and similar calls, as long as it is kept. Null if the folder could not be opened, with the
// reason in errno.
using OpenFolder = std::shared_ptr<const Descriptor>;

class Folder {
 public:
  using Identity = std::pair<dev_t, ino_t>;  // device and inode
  // How it is opened.
  enum class Way { kKept, kOwn, kOwnThroughLinks };

  // The process's current folder.
  static const std::shared_ptr<const Folder>& current();
  // As named on the command line, where links are followed; `prefix` ends with a '/'.
  explicit Folder(std::string prefix, Way way = Way::kKept);
  // Inside another folder, and opened in the same way.
  Folder(std::shared_ptr<const Folder> around, std::string name);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  OpenFolder open() const;
  OpenFolder open_to_list() const;
  Way way() const { return way_; }

  // The folder that contains it; null for a folder that is named on the command line.
  const Folder* around() const { return around_.get(); }
  const std::string& name() const { return name_; }

  // Only for a folder that could be opened.
  Identity identity() const;
  // The path of the folder, and of a name in it, as in messages.
  std::string path() const;
  std::string path_of(std::string_view name) const;

 private:
  std::vector<const Folder*> from_the_named() const;
  int open_in(const Descriptor* around, int flags) const;
  OpenFolder open_kept(const Descriptor* around, int flags) const;
  OpenFolder open_own(int flags) const;
  OpenFolder opened() const;

  std::shared_ptr<const Folder> around_;
  std::string name_;  // in the folder around it; without one, the prefix
  Way way_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const Descriptor> opened_;
  mutable Identity identity_;
};

struct FileName {
  std::shared_ptr<const Folder> folder;
  std::string name;
  bool is_argument = false;  // named on the command line, so it may be a link

  // Shares the folder of `neighbour` if both were named in the same way.
  static FileName from_argument(const std::string& path, const FileName* neighbour = nullptr);
  // Another name in the same folder.
  FileName beside(std::string other) const { return {folder, std::move(other)}; }

  bool is_standard_stream() const;
  // The path as in messages.
  std::string path() const { return folder->path_of(name); }

  // Like the system's functions with these names, for this file, with the reason in errno.
  int open(int flags) const;
  bool stat(struct stat& status) const;
  bool unlink() const;
};

}  // namespace hemstitch::cli
