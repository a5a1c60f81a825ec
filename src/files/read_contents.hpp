// What is found out about one file, and its contents into memory that the caller has: for all that take many files, so that they
// leave out the same ones and say the same of them.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "hemstitch/files.hpp"

namespace hemstitch {

// A small file is opened to be read once; a pipe that took its name is not waited for.
extern const int kReadContentsFlags;

// Why there are no contents.
struct NoContents {
  SkippedFile::Why why;
  std::string reason;
};

// What a number in errno says.
NoContents unreadable(int error);

// Of a folder, a pipe and the like; nothing for regular files.
std::optional<NoContents> no_regular_file(const struct stat& status);

// Of a regular file whose size is 0: it is empty, or its size is not known before it is read, as in /proc. A negative
// descriptor is one that could not be opened, for the reason in errno.
NoContents of_size_zero(int descriptor);

// Fills `into` with the whole file, which should have just that size, or says why that was not to be.
std::optional<NoContents> read_contents(int descriptor, std::span<std::byte> into);

}  // namespace hemstitch
