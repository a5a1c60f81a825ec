#include "core/random_access.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/status.hpp"

namespace hemstitch {

std::span<const std::byte> bytes_at(const RandomAccess& input, std::uint64_t at, std::span<std::byte> room) {
  const auto memory = input.memory();
  if (!memory) return room.first(input.read_at(at, room));
  const std::uint64_t begin = std::min<std::uint64_t>(at, memory->size());
  return memory->subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(std::min<std::uint64_t>(
                                                              room.size(), memory->size() - begin)));
}

std::size_t MemoryAccess::read_at(std::uint64_t at, std::span<std::byte> into) const {
  const std::span<const std::byte> bytes = bytes_at(*this, at, into);
  std::copy(bytes.begin(), bytes.end(), into.begin());
  return bytes.size();
}

FileAccess::FileAccess(const std::string& path)
    : FileAccess(Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path) {}

FileAccess::FileAccess(int descriptor)
    : FileAccess(Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)),
                 fmt::format("descriptor {}", descriptor)) {}

FileAccess::FileAccess(Descriptor file, std::string name) : file_(std::move(file)), name_(std::move(name)) {
  struct stat status {};
  if (file_.number() < 0 || ::fstat(file_.number(), &status) != 0)
    throw system_error(Status::kReadFailed, name_, errno);
  if (!S_ISREG(status.st_mode))
    throw Error(Status::kReadFailed, name_ + " is not a regular file, so not every place of it can be read");
  bytes_ = static_cast<std::uint64_t>(status.st_size);
}

std::size_t FileAccess::read_at(std::uint64_t at, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        ::pread(file_.number(), into.data() + done, into.size() - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error(Status::kReadFailed, name_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::size_t CallAccess::read_at(std::uint64_t at, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::size_t got = read_(at + done, into.subspan(done));
    if (got == 0) break;
    if (got > into.size() - done)
      throw Error(Status::kReadFailed,
                  fmt::format("the function for reading returned {} bytes where {} were wanted", got,
                              into.size() - done));
    done += got;
  }
  return done;
}

std::size_t RandomAccessSource::read(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::span<std::byte> rest = into.subspan(done);
    std::size_t got;
    if (at_ >= ahead_at_ && at_ - ahead_at_ < ahead_bytes_) {
      const auto from = static_cast<std::size_t>(at_ - ahead_at_);
      got = std::min(rest.size(), ahead_bytes_ - from);
      std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(from), got, rest.begin());
    } else if (rest.size() >= ahead_.size()) {
      got = input_.read_at(at_, rest);
    } else {
      ahead_at_ = at_;
      ahead_bytes_ = input_.read_at(at_, ahead_);
      if (ahead_bytes_ == 0) break;
      continue;
    }
    if (got == 0) break;
    at_ += got;
    done += got;
  }
  return done;
}

std::uint64_t RandomAccessSource::skip(std::uint64_t count) {
  const std::uint64_t total = input_.total_bytes();
  const std::uint64_t passed = std::min(count, total - std::min(at_, total));
  at_ += passed;
  return passed;
}

}  // namespace hemstitch
