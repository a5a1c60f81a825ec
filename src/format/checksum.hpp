// The checksums of the formats, of bytes at once or of bytes that come in pieces.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace hemstitch {

enum class Checksum { kNone, kXxh32, kCrc32, kAdler32 };

// All of them.
inline constexpr std::size_t kChecksumBytes = 4;

// Of all bytes at once; 0 for kNone. XXH32 has seed 0.
std::uint32_t checksum_of(Checksum kind, std::span<const std::byte> bytes);

// Of those that combine: the checksum of bytes whose first ones have the checksum `before`.
std::uint32_t checksum_behind(Checksum kind, std::uint32_t before, std::span<const std::byte> bytes);

// Whether the checksum of a whole follows from those of its parts, so that the parts may be summed up side by side.
constexpr bool checksums_combine(Checksum kind) {
  return kind == Checksum::kCrc32 || kind == Checksum::kAdler32;
}
// The checksum of two parts, one behind the other; the second one has `second_bytes`. Only where they combine.
std::uint32_t combined_checksum(Checksum kind, std::uint32_t first, std::uint32_t second,
                                std::uint64_t second_bytes);

class RunningChecksum {
 public:
  // Throws std::bad_alloc.
  explicit RunningChecksum(Checksum kind);

  void reset();
  void update(std::span<const std::byte> bytes);
  // Bytes whose checksum is known. Only where checksums combine.
  void append(std::uint32_t checksum, std::uint64_t bytes);
  std::uint32_t digest() const;

 private:
  Checksum kind_;
  std::uint32_t value_ = 0;  // of those that combine
  // libxxhash's to make: its size is no part of the shared library's interface.
  std::unique_ptr<XXH32_state_t, decltype(&XXH32_freeState)> xxh32_;
};

}  // namespace hemstitch
