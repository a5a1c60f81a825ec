// A file that gets its name only when it is complete. It is written under a temporary name in the same
// folder, at places in any order, and then renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/descriptor.hpp"

namespace hemstitch {

class NewFile {
 public:
  // An existing file keeps its name until complete(), which replaces it by a file with the same
  // permissions. If the name is a link, the link is replaced. Throws kWriteFailed.
  explicit NewFile(const std::string& path);
  ~NewFile();  // without complete(), nothing remains
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Any number of threads may call it at once. Throws kWriteFailed.
  void write(std::uint64_t at, std::span<const std::byte> bytes) const;
  // Writes the file to the disk, so that it is complete after a crash.
  void sync() const;
  void complete();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::string temporary_path_;  // empty once it is renamed
  Descriptor descriptor_;
};

}  // namespace hemstitch
