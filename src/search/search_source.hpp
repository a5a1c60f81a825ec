// A file that is read in pieces: of any size as they come, or full ones for restoring.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/descriptor.hpp"
#include "core/read_ahead.hpp"
#include "format/identify.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

class SearchSource : public Source {
 public:
  explicit SearchSource(const Descriptor& file) : file_(file) {}

  // Throws std::system_error with the system's message only.
  std::size_t read_some(std::span<std::byte> into) override;
  bool comes_within(std::chrono::milliseconds time) override;

  // They will be read again. Valid until the next read.
  std::span<const std::byte> first_bytes();

 private:
  std::size_t read_file(std::span<std::byte> into) const;

  const Descriptor& file_;
  ReadAhead ahead_;
};

// Whether the file has a hole at or after `from`; `bytes` is its size. Does not change the file's position.
bool has_hole(const Descriptor& file, std::uint64_t from, std::uint64_t bytes);

}  // namespace hemstitch
