// A file that appears under its name only when it is complete: it grows under a temporary name in the same folder, at places in
// any order, and is renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/descriptor.hpp"

namespace hemstitch {

class NewFile {
 public:
  // What has the name keeps it until complete(), which replaces it: a file of the same permissions takes its place, and where it
  // is a link, the link's. Throws kWriteFailed.
  explicit NewFile(const std::string& path);
  ~NewFile();  // without complete(), nothing is left
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // From any number of threads at once. Throws kWriteFailed.
  void write(std::uint64_t at, std::span<const std::byte> bytes) const;
  // To the disk: for who wants to find it complete after a crash.
  void sync() const;
  void complete();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::string temporary_path_;  // empty once it is renamed
  Descriptor descriptor_;
};

}  // namespace hemstitch
