#include "cli/files/regular_file.hpp"

#include <unistd.h>

#include <cerrno>

namespace hemstitch::cli {

SmallFile read_small_file(const Descriptor& file, std::span<std::byte> room) {
  SmallFile read{SmallFile::Kind::kUnreadable};
  const auto unreadable = [&] {
    read.error = errno;
    return read;
  };
  if (file.number() < 0 || fstat(file.number(), &read.status) != 0) return unreadable();
  if (S_ISDIR(read.status.st_mode)) {
    read.kind = SmallFile::Kind::kFolder;
    return read;
  }
  if (!S_ISREG(read.status.st_mode)) {
    read.kind = SmallFile::Kind::kSpecial;
    return read;
  }
  const auto expected_bytes = static_cast<std::size_t>(read.status.st_size);
  std::size_t bytes = 0;
  // A call that returns less than it was asked for has reached the end, if the file is then at least as long
  // as its size. Files in /proc, whose size is 0, may return less at any time.
  while (expected_bytes < room.size() && bytes < room.size()) {
    const ssize_t got = ::read(file.number(), room.data() + bytes, room.size() - bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable();
    bytes += static_cast<std::size_t>(got);
    if (got == 0 || (expected_bytes != 0 && bytes >= expected_bytes && bytes < room.size())) {
      read.kind = SmallFile::Kind::kContent;
      read.content = room.first(bytes);
      return read;
    }
  }
  read.kind = SmallFile::Kind::kLarge;
  return read;
}

}  // namespace hemstitch::cli
