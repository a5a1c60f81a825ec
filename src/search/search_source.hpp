// A file that is read in pieces: as they come, or, for restoring, each in full.
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

  // What there is; nothing only at the end. Throws std::system_error, with the words of the system alone.
  std::size_t read_some(std::span<std::byte> into);
  std::size_t read(std::span<std::byte> into) override;

  // They are read again.
  std::span<const std::byte> first_bytes();

 private:
  const Descriptor& file_;
  std::array<std::byte, kIdentifyBytes> first_bytes_{};
  std::span<const std::byte> peeked_;  // of first_bytes_: not yet given
};

// Whether there is a hole at or behind `from` in a file of that size. Where it is read on does not change.
bool has_hole(const Descriptor& file, std::uint64_t from, std::uint64_t bytes);

}  // namespace hemstitch
