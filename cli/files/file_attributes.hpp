// What an output takes from its source besides the content: owner and group, mode, times, extended attributes of the user's
// ("user."), and the POSIX ACL. Never capabilities or others that only root may give, and never the bits that make a program run
// as somebody else.
//
// Nobody may read an output who could not read its source. Where the group or the ACL cannot be given, group and others are left
// with what everyone but the owner had. An output has its final mode last, when all else is as it should be.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hemstitch::cli {

class FileAttributes {
 public:
  // Of data that comes from no file: what a new file has.
  FileAttributes() = default;
  // Of an open file.
  FileAttributes(int descriptor, const struct stat& status);

  // For a file without a name, which nobody else can open: the mode that it will have in the end, most likely.
  mode_t creation_mode() const;

  // Instead of when the file was last changed: in seconds since 1970.
  void set_modified(std::uint32_t seconds) { status_.st_mtim = {static_cast<time_t>(seconds), 0}; }

  // What the extended attributes and the ACL take in memory.
  std::size_t bytes() const { return bytes_; }

  // To an open file of our own, for nobody else to read until now. Returns what the file system did not let it have, where that
  // is something.
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
  bool too_large_ = false;  // there are more of them than are kept
  std::string acl_;         // as the system encodes it; empty: none
};

}  // namespace hemstitch::cli
