// Examines a file and reads its content into the caller's memory. Everything that takes many files uses this,
// so that the same files are left out with the same messages.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "hemstitch/files.hpp"

namespace hemstitch {

// For opening a small file that is read once; if a pipe has taken its name, opening does not wait.
extern const int kReadContentsFlags;

// Why there is no content.
struct NoContents {
  SkippedFile::Why why;
  std::string reason;
};

// The message for a number in errno.
NoContents unreadable(int error);

// For a folder, a pipe and the like; nothing for regular files.
std::optional<NoContents> no_regular_file(const struct stat& status);

// For a regular file whose size is 0: either it is empty, or its size is only known after reading, as in
// /proc. A negative descriptor means that opening failed, with the reason in errno.
NoContents of_size_zero(int descriptor);

// Fills `into` with the whole file, which should have exactly this size, or returns what went wrong.
std::optional<NoContents> read_contents(int descriptor, std::span<std::byte> into);

}  // namespace hemstitch
