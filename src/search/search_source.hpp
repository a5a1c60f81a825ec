// A file that is read in pieces: of any size as they come, or full ones for restoring.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/descriptor.hpp"
#include "format/identify.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

class SearchSource : public Source {
 public:
  explicit SearchSource(const Descriptor& file) : file_(file) {}

  // Returns what is available; nothing only at the end. Throws std::system_error with the system's message
  // only.
  std::size_t read_some(std::span<std::byte> into);
  std::size_t read(std::span<std::byte> into) override;

  // They will be read again.
  std::span<const std::byte> first_bytes();

 private:
  const Descriptor& file_;
  std::array<std::byte, kIdentifyBytes> first_bytes_{};
  std::span<const std::byte> peeked_;  // in first_bytes_: not yet returned
};

// Whether the file has a hole at or after `from`; `bytes` is its size. Does not change the file's position.
bool has_hole(const Descriptor& file, std::uint64_t from, std::uint64_t bytes);

}  // namespace hemstitch
