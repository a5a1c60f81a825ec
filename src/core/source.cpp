#include "core/source.hpp"

#include <algorithm>
#include <array>

#include "core/parallel.hpp"

namespace hemstitch {

std::size_t Source::read(std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const std::size_t bytes = read_some(into.subspan(filled));
    if (bytes == 0) break;
    filled += bytes;
  }
  return filled;
}

std::uint64_t Source::skip(std::uint64_t count) {
  std::array<std::byte, 16 << 10> discarded;
  std::uint64_t passed = 0;
  while (passed < count) {
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(discarded.size(), count - passed));
    const std::size_t got = read(std::span(discarded).first(wanted));
    passed += got;
    if (got < wanted) break;
  }
  return passed;
}

std::size_t MemorySource::read(std::span<std::byte> into) {
  const std::size_t bytes = std::min(into.size(), rest_.size());
  std::copy_n(rest_.begin(), bytes, into.begin());
  rest_ = rest_.subspan(bytes);
  return bytes;
}

std::size_t MemorySource::read_in_parallel(std::span<std::byte> into) {
  const std::size_t bytes = std::min(into.size(), rest_.size());
  copy_in_parallel(into.data(), rest_.data(), bytes);
  rest_ = rest_.subspan(bytes);
  return bytes;
}

std::uint64_t MemorySource::skip(std::uint64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(std::min<std::uint64_t>(count, rest_.size()));
  rest_ = rest_.subspan(bytes);
  return bytes;
}

bool MemorySource::seek(std::uint64_t position) {
  rest_ = all_.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(position, all_.size())));
  return true;
}

}  // namespace hemstitch
