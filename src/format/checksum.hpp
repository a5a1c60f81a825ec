// The checksums of the formats, for bytes at once or in pieces.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace hemstitch {

enum class Checksum { kNone, kXxh32, kCrc32, kAdler32, kXxh64 };

// The size of each of them.
inline constexpr std::size_t kChecksumBytes = 4;

// Of all bytes at once; 0 for kNone. XXH32 and XXH64 have seed 0; of XXH64 it is the
// lower half.
std::uint32_t checksum_of(Checksum kind, std::span<const std::byte> bytes);

// For kinds that combine: the checksum of some bytes followed by `bytes`, where `before` is the checksum of
// the first.
std::uint32_t checksum_behind(Checksum kind, std::uint32_t before, std::span<const std::byte> bytes);

// Whether the checksum of a whole follows from those of its parts, so that parts can be processed in
// parallel.
constexpr bool checksums_combine(Checksum kind) {
  return kind == Checksum::kCrc32 || kind == Checksum::kAdler32;
}
// The checksum of two parts, one after the other; the second one has `second_bytes`. Only for kinds that
// combine.
std::uint32_t combined_checksum(Checksum kind, std::uint32_t first, std::uint32_t second,
                                std::uint64_t second_bytes);

class RunningChecksum {
 public:
  // Throws std::bad_alloc.
  explicit RunningChecksum(Checksum kind);

  void reset();
  void update(std::span<const std::byte> bytes);
  // Appends bytes whose checksum is known. Only for kinds that combine.
  void append(std::uint32_t checksum, std::uint64_t bytes);
  std::uint32_t digest() const;

 private:
  Checksum kind_;
  std::uint32_t value_ = 0;  // for kinds that combine
  // libxxhash allocates it: its size is not part of the shared library's interface.
  std::unique_ptr<XXH32_state_t, decltype(&XXH32_freeState)> xxh32_;
  std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> xxh64_;
};

}  // namespace hemstitch
