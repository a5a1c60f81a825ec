#include "files/load/read_contents.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace hemstitch {

using Why = SkippedFile::Why;

const int kReadContentsFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

NoContents unreadable(int error) { return {Why::kUnreadable, std::generic_category().message(error)}; }

std::optional<NoContents> no_regular_file(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return NoContents{Why::kFolder, std::generic_category().message(EISDIR)};
  if (!S_ISREG(status.st_mode)) return NoContents{Why::kNotRegular, "not a regular file"};
  return std::nullopt;
}

NoContents of_size_zero(int descriptor) {
  std::byte first;
  const ssize_t got = descriptor < 0 ? -1 : read(descriptor, &first, 1);
  if (got < 0) return unreadable(errno);
  if (got == 0) return {Why::kEmpty, "empty"};
  return {Why::kNotRegular, "its size is not known in advance"};
}

std::optional<NoContents> read_contents(int descriptor, std::span<std::byte> into) {
  // If the file has the expected size, this takes one system call, which also asks for a byte after its end.
  std::size_t done = 0;
  std::byte beyond;
  while (done <= into.size()) {
    const iovec parts[] = {{into.data() + done, into.size() - done}, {&beyond, 1}};
    const ssize_t got = readv(descriptor, parts, 2);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(errno);
    done += static_cast<std::size_t>(got);
    if (got == 0 || done == into.size()) break;
  }
  if (done == into.size()) return std::nullopt;
  return NoContents{Why::kChanged,
                    fmt::format("its size changed from {} bytes while it was read", into.size())};
}

}  // namespace hemstitch
