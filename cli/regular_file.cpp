#include "regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace hemstitch::cli {
namespace {

constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

RegularFile skipped(SkippedFile::Why why, std::string reason) {
  return {.content = {}, .skipped = why, .reason = std::move(reason)};
}

}  // namespace

FolderOfFiles::FolderOfFiles(std::string_view prefix) {
  if (prefix.empty()) return;
  const std::string path(prefix);
  folder_ = Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder_.number() < 0) prefix_ = path;
}

Descriptor FolderOfFiles::open(const std::string& name) const {
  if (folder_.number() >= 0) return Descriptor(::openat(folder_.number(), name.c_str(), kReadFlags));
  return Descriptor(::open((prefix_ + name).c_str(), kReadFlags));
}

RegularFile unreadable_file() {
  return skipped(SkippedFile::Why::kUnreadable, std::generic_category().message(errno));
}

RegularFile read_regular_file(const Descriptor& file, std::span<std::byte> room) {
  struct stat status {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) return unreadable_file();
  if (S_ISDIR(status.st_mode))
    return skipped(SkippedFile::Why::kFolder, std::generic_category().message(EISDIR));
  if (!S_ISREG(status.st_mode)) return skipped(SkippedFile::Why::kNotRegular, "not a regular file");
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes == 0) {  // or of a size that is not known before, as files of /proc are
    std::byte first;
    const bool is_empty = read(file.number(), &first, 1) == 0;
    return is_empty ? skipped(SkippedFile::Why::kEmpty, "empty")
                    : skipped(SkippedFile::Why::kNotRegular, "its size is not known before");
  }
  if (bytes >= room.size()) {
    RegularFile file_beyond = skipped(SkippedFile::Why::kTooLarge, fmt::format("{} bytes", bytes));
    file_beyond.bytes = bytes;
    return file_beyond;
  }
  // One call of the system, where a file is what it should be.
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t got = read(file.number(), room.data() + done, bytes + 1 - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable_file();
    if (got == 0) break;
    done += static_cast<std::uint64_t>(got);
  }
  if (done != bytes)
    return skipped(SkippedFile::Why::kChanged,
                   fmt::format("its size changed from {} bytes while it was read", bytes));
  return {.content = room.first(bytes), .skipped = {}, .reason = {}};
}

}  // namespace hemstitch::cli
