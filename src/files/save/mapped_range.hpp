// A range of a file as memory, which many threads fill at once.
//
// If files are in memory (tmpfs), pages limit the speed of writing: the system must find and map each one,
// and write() does that under a lock of the file. So sixteen threads write no faster than one: 2.7 to 3.4
// GB/s on the host of an H200. Pages of a mapping are mapped by the threads that touch them, in parallel: 7.1
// GB/s there with sixteen threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace hemstitch {

class MappedRange {
 public:
  // Maps `count` bytes at `at` of a file that is open for reading and writing and that nobody else shortens:
  // whoever touches a page that was cut off gets SIGBUS. A file that another user owns or may write to is
  // therefore not mapped. The file grows to the end of the range if needed. Its space is allocated, so filling the
  // range cannot fail. Nothing if the file does not support this, or if it would not help: then use
  // write(), which also reports what is wrong.
  static std::optional<MappedRange> of(int descriptor, std::uint64_t at, std::size_t count);

  ~MappedRange();
  MappedRange(MappedRange&& other) noexcept
      : mapping_(std::exchange(other.mapping_, {})), bytes_(std::exchange(other.bytes_, {})) {}
  MappedRange& operator=(MappedRange&&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  MappedRange(std::span<std::byte> mapping, std::span<std::byte> bytes) : mapping_(mapping), bytes_(bytes) {}

  std::span<std::byte> mapping_;  // whole pages
  std::span<std::byte> bytes_;
};

}  // namespace hemstitch
