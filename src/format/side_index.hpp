// An index in a file of its own beside a compressed file, made from the compressed bytes while they are
// written.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace hemstitch {

class SideIndex {
 public:
  virtual ~SideIndex() = default;

  // The suffix of the index file, appended to the whole name of the compressed file: ".gzi".
  virtual std::string_view suffix() const = 0;
  // The next compressed bytes, in pieces of any size.
  virtual void add(std::span<const std::byte> bytes) = 0;
  // The index, once all bytes were added. Call it once.
  virtual std::vector<std::byte> bytes() = 0;
};

}  // namespace hemstitch
