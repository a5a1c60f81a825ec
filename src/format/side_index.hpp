// An index that stands in a file of its own beside a compressed one, made of that one's bytes while they are written.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace hemstitch {

class SideIndex {
 public:
  virtual ~SideIndex() = default;

  // Of its file, behind the whole name of the other one: ".gzi".
  virtual std::string_view suffix() const = 0;
  // The bytes that come next, in pieces of any size.
  virtual void add(std::span<const std::byte> bytes) = 0;
  // The index, once all of them were added.
  virtual std::vector<std::byte> bytes() const = 0;
};

}  // namespace hemstitch
