#include "search/search_source.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace hemstitch {

std::size_t SearchSource::read_file(std::span<std::byte> into) const {
  for (;;) {
    const ssize_t got = ::read(file_.number(), into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN)
      is_readable_within(file_, std::chrono::milliseconds(-1));
    else if (errno != EINTR)
      throw std::system_error(errno, std::generic_category());
  }
}

std::size_t SearchSource::read_some(std::span<std::byte> into) {
  return ahead_.take(into, [&](std::span<std::byte> to) { return read_file(to); });
}

bool SearchSource::comes_within(std::chrono::milliseconds time) {
  return !ahead_.kept().empty() || is_readable_within(file_, time);
}

std::span<const std::byte> SearchSource::first_bytes() {
  return ahead_.look_at(kIdentifyBytes, [&](std::span<std::byte> to) { return read_file(to); });
}

bool has_hole(const Descriptor& file, std::uint64_t from, std::uint64_t bytes) {
#ifdef SEEK_HOLE
  if (bytes <= from) return false;
  const off_t place = lseek(file.number(), 0, SEEK_CUR);
  if (place < 0) return false;
  const off_t hole = lseek(file.number(), static_cast<off_t>(from), SEEK_HOLE);
  lseek(file.number(), place, SEEK_SET);
  return hole >= 0 && static_cast<std::uint64_t>(hole) < bytes;
#else
  return false;
#endif
}

}  // namespace hemstitch
