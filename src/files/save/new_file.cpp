#include "files/save/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/status.hpp"
#include "files/save/mapped_range.hpp"
#include "files/save/temporary_name.hpp"

namespace hemstitch {
namespace {

// Smaller content is written faster than it would be mapped.
constexpr std::size_t kMappedFromBytes = std::size_t{1} << 20;

}  // namespace

NewFile::NewFile(const std::string& path) : path_(path) {
  struct stat existing {};
  const bool replaces = lstat(path.c_str(), &existing) == 0 && !S_ISLNK(existing.st_mode);
  if (replaces && !S_ISREG(existing.st_mode))
    throw Error(Status::kWriteFailed, fmt::format("'{}' is not a regular file; give another name", path));
  const std::string folder = path.substr(0, path.find_last_of('/') + 1);
  // Until the file is complete, nobody may read it who could not read the file that it replaces.
  const mode_t mode =
      replaces ? S_IRUSR | S_IWUSR : S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  do {
    temporary_path_ = folder + new_temporary_name();
    descriptor_ = Descriptor(open(temporary_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  } while (descriptor_.number() < 0 && errno == EEXIST);
  if (descriptor_.number() < 0) {
    temporary_path_.clear();
    fail("cannot be created");
  }
  mark_in_use(descriptor_.number());
  if (replaces && fchmod(descriptor_.number(), existing.st_mode & 0777) != 0) {
    const int error = errno;
    unlink(temporary_path_.c_str());
    errno = error;
    fail("cannot be given the permissions of the old file");
  }
}

NewFile::~NewFile() {
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

void NewFile::write(std::uint64_t at, std::span<const std::byte> bytes) const {
  if (bytes.size() >= kMappedFromBytes)
    if (const auto range = MappedRange::of(descriptor_.number(), at, bytes.size())) {
      std::memcpy(range->bytes().data(), bytes.data(), bytes.size());
      return;
    }
  while (!bytes.empty()) {
    const ssize_t count = pwrite(descriptor_.number(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot be written");
    at += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void NewFile::sync() const {
  if (fsync(descriptor_.number()) != 0) fail("cannot be written to the disk");
}

void NewFile::complete() {
  // This keeps the lock until the file has its name.
  const Descriptor in_use(fcntl(descriptor_.number(), F_DUPFD_CLOEXEC, 0));
  // Some file systems report a full disk only here.
  if (close(descriptor_.release()) != 0 && errno != EINTR) fail("cannot be closed");
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0)
    fail("cannot be renamed from its temporary name");
  temporary_path_.clear();
}

void NewFile::fail(const char* what) const {
  throw system_error(Status::kWriteFailed, fmt::format("'{}' {}", path_, what), errno);
}

}  // namespace hemstitch
