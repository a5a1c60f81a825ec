// Reads small files whole, one after the other into the same memory, which so stays in a core's cache.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/descriptor.hpp"

namespace hemstitch::cli {

struct SmallFile {
  enum class Kind { kContent, kUnreadable, kFolder, kLarge, kSpecial };
  Kind kind;
  std::span<const std::byte> content = {};
  int error = 0;  // why it cannot be read
  struct stat status = {};
};

// Reads up to the end of the file, wherever that is by now. A file that may be larger than the room is
// kLarge.
SmallFile read_small_file(const Descriptor& file, std::span<std::byte> room);

}  // namespace hemstitch::cli
