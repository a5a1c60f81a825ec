#include "cli/files/temporary_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <ctime>
#include <random>

namespace hemstitch::cli {
namespace {

constexpr std::string_view kPrefix = ".hemstitch-";
constexpr std::size_t kDigits = 8;
// A file that was made just now and is empty may not be locked yet.
constexpr std::time_t kSecondsToLock = 2;

bool is_new(const struct stat& status) {
  return status.st_size == 0 && std::time(nullptr) < status.st_ctim.tv_sec + kSecondsToLock;
}

}  // namespace

std::string new_temporary_name() {
  std::random_device random;
  return fmt::format("{}{:0{}x}", kPrefix, random(), kDigits);
}

bool is_temporary_name(std::string_view name) {
  return name.size() == kPrefix.size() + kDigits && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

// Not every file system has locks. Without them nothing is said of what is left over.
void mark_in_use(int descriptor) { static_cast<void>(flock(descriptor, LOCK_EX | LOCK_NB)); }

bool is_left_over(const FileName& file) {
  const Descriptor opened(file.open(O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat status {
  }, named{};
  if (opened.number() < 0 || fstat(opened.number(), &status) != 0 || is_new(status)) return false;
  if (flock(opened.number(), LOCK_SH | LOCK_NB) != 0) return false;
  // Its run may have given it its final name just now.
  return file.stat(named) && named.st_dev == status.st_dev && named.st_ino == status.st_ino;
}

}  // namespace hemstitch::cli
