#include "cli/files/output/special_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <string>
#include <utility>

#include "cli/messages.hpp"

namespace hemstitch::cli {
namespace {

constexpr int kMostLinks = 40;  // the system follows as many
constexpr int kFlags = O_WRONLY | O_NOCTTY | O_CLOEXEC;

// A link in /proc whose name is a number stands for a descriptor of a process.
std::optional<int> descriptor_number(int folder, const std::string& name) {
  struct statfs system {};
  const Descriptor opened(openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (fstatfs(opened.number(), &system) != 0 || system.f_type != PROC_SUPER_MAGIC) return std::nullopt;
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// Whether the folder contains the descriptors of this process.
bool has_own_descriptors(int folder) {
  struct stat own {
  }, status{};
  if (fstat(folder, &status) != 0) return false;
  for (const char* path : {"/proc/self/fd", "/proc/thread-self/fd"})
    if (stat(path, &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino) return true;
  return false;
}

// Shares a descriptor of this process, with its position in the file, if it was inherited: descriptors that
// we opened ourselves are closed on exec. It checks only the number, never the file behind it, since another
// thread may open or close one at the same time.
Descriptor open_descriptor(int folder, const std::string& name, int number) {
  // The file position of another process is not available; appending loses nothing.
  if (!has_own_descriptors(folder)) return Descriptor(openat(folder, name.c_str(), kFlags | O_APPEND));
  if (const int flags = fcntl(number, F_GETFD); flags >= 0 && (flags & FD_CLOEXEC) == 0)
    return Descriptor(fcntl(number, F_DUPFD_CLOEXEC, 0));
  errno = EBADF;
  return Descriptor();
}

std::optional<std::string> link_text(int folder, const std::string& name) {
  std::string text(PATH_MAX, '\0');
  const ssize_t bytes = readlinkat(folder, name.c_str(), text.data(), text.size());
  if (bytes <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace

std::optional<Descriptor> open_special_output(const FileName& file) {
  const auto checked = [&](Descriptor opened) {
    struct stat status {};
    if (opened.number() < 0 || fstat(opened.number(), &status) != 0)
      throw tool_error_from_errno(fmt::format("'{}' cannot be opened", shown_name(file.path())));
    return std::optional(std::move(opened));
  };
  const OpenFolder begin = file.folder->open();
  if (!begin) return std::nullopt;
  Descriptor behind;  // the folder that links have led to
  std::string name = file.name;
  for (int links = 0; links <= kMostLinks; ++links) {
    const int folder = behind.number() < 0 ? begin->number() : behind.number();
    struct stat status {};
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return std::nullopt;
    if (!S_ISLNK(status.st_mode)) {
      Descriptor device(openat(folder, name.c_str(), kFlags | O_NOFOLLOW));
      // If a regular file has just taken the name, it is not written to.
      if (device.number() >= 0 && fstat(device.number(), &status) == 0 && S_ISREG(status.st_mode))
        return std::nullopt;
      return checked(std::move(device));
    }
    if (const auto number = descriptor_number(folder, name))
      return checked(open_descriptor(folder, name, *number));
    const std::optional<std::string> text = link_text(folder, name);
    if (!text) return std::nullopt;
    const std::size_t begin_of_name = text->rfind('/') + 1;  // 0 if there is no slash
    name = text->substr(begin_of_name);
    if (name.empty()) return std::nullopt;
    if (begin_of_name > 0) {
      behind = Descriptor(
          openat(folder, text->substr(0, begin_of_name).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (behind.number() < 0) return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace hemstitch::cli
