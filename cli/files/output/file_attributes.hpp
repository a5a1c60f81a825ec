// What an output gets from its source besides the content: owner and group, mode, times, the user's extended
// attributes ("user."), and the POSIX ACL. It never gets capabilities or other attributes that only root may
// set, nor the bits that make a program run as another user.
//
// Nobody can read an output who could not read its source. If the group or the ACL cannot be set, group and
// others get only the rights that everyone except the owner had. An output gets its final mode last, when
// everything else is right.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hemstitch::cli {

class FileAttributes {
 public:
  // For data that does not come from a file: the attributes of a new file.
  FileAttributes() = default;
  // The attributes of an open file.
  FileAttributes(int descriptor, const struct stat& status);

  // For a file without a name, which nobody else can open: the mode that it will most likely get.
  mode_t creation_mode() const;

  // Replaces the time of the last change; in seconds since 1970.
  void set_modified(std::uint32_t seconds) { status_.st_mtim = {static_cast<time_t>(seconds), 0}; }

  // How much memory the extended attributes and the ACL take.
  std::size_t bytes() const { return bytes_; }

  // Sets them on our own open file, which nobody else can read yet. Returns what the file system refused,
  // if anything.
  [[nodiscard]] std::optional<std::string> give_to(int descriptor) const;

 private:
  struct Named {
    std::string name, value;
  };

  void read_named(int descriptor);
  bool give_group(int descriptor, const struct stat& present) const;
  bool give_named(int descriptor) const;
  bool give_acl(int descriptor) const;
  mode_t common_mode() const;

  bool from_file_ = false;
  struct stat status_ {};
  std::size_t bytes_ = 0;
  std::vector<Named> named_;
  bool too_large_ = false;  // there are more of them than we keep
  std::string acl_;         // as the system encodes it; empty: none
};

}  // namespace hemstitch::cli
