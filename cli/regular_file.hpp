// Whole files into memory that the caller has: small ones one after another into the same, which so stays in a core's
// cache and is not touched for the first time again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "files.hpp"
#include "hemstitch/files.hpp"

namespace hemstitch::cli {

// A folder whose files are opened by name, so that nobody goes down its path for each of them.
class FolderOfFiles {
 public:
  // The folder's path with a '/' behind it; nothing for the one that the process is in.
  explicit FolderOfFiles(std::string_view prefix);

  // As open() does, and as it says in errno.
  Descriptor open(const std::string& name) const;

 private:
  Descriptor folder_;
  std::string prefix_;  // where the folder itself cannot be opened
};

struct RegularFile {
  std::span<const std::byte> content;
  std::optional<SkippedFile::Why> skipped;  // and then
  std::string reason;
  std::uint64_t bytes = 0;  // of one that is too large
};

// A file that the room is too small for is skipped.
RegularFile read_regular_file(const Descriptor& file, std::span<std::byte> room);

}  // namespace hemstitch::cli
