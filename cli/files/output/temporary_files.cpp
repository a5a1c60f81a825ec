#include "cli/files/output/temporary_files.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <ctime>

namespace hemstitch::cli {
namespace {

// An empty file that was made just now may not be locked yet.
constexpr std::time_t kSecondsToLock = 2;

bool is_new(const struct stat& status) {
  return status.st_size == 0 && std::time(nullptr) < status.st_ctim.tv_sec + kSecondsToLock;
}

}  // namespace

bool is_left_over(const FileName& file) {
  const Descriptor opened(file.open(O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat status {
  }, named{};
  if (opened.number() < 0 || fstat(opened.number(), &status) != 0 || is_new(status)) return false;
  if (flock(opened.number(), LOCK_SH | LOCK_NB) != 0) return false;
  // The run that made it may have given it its final name just now.
  return file.stat(named) && named.st_dev == status.st_dev && named.st_ino == status.st_ino;
}

}  // namespace hemstitch::cli
