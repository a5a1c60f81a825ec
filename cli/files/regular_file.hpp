// Small files as a whole, one after another into the same memory, which so stays in a core's cache and is not touched for the first
// time again and again.
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
  int error = 0;  // why it is unreadable
  struct stat status = {};
};

// What is met up to the file's end, which may be elsewhere than it was when the file was opened; one that may hold more than the
// room is large.
SmallFile read_small_file(const Descriptor& file, std::span<std::byte> room);

}  // namespace hemstitch::cli
