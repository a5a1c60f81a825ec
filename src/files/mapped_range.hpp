// A range of a file as memory, for many threads to fill at once.
//
// Where files are memory (tmpfs), whoever writes one is bound by its pages: each has to be found and entered, and write() does that
// under a lock of the file, so sixteen threads write no faster than one: 2.7 to 3.4 GB/s on the host of an H200. Pages of a mapping
// are entered by whoever touches them, side by side: 7.1 GB/s there by sixteen threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace hemstitch {

class MappedRange {
 public:
  // `count` bytes from place `at` on of a file that is open to be read and written and that nobody else makes shorter; it grows to their
  // end where it ends before. All of it has its room afterwards, so that filling it cannot fail. Nothing where the file cannot be had so,
  // or it would not be of use: then write() does it, and says what is wrong.
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
