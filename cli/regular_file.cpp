#include "regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "files/read_contents.hpp"

namespace hemstitch::cli {
namespace {

RegularFile without(NoContents none) {
  return {.content = {}, .skipped = none.why, .reason = std::move(none.reason)};
}

}  // namespace

FolderOfFiles::FolderOfFiles(std::string_view prefix) {
  if (prefix.empty()) return;
  const std::string path(prefix);
  folder_ = Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder_.number() < 0) prefix_ = path;
}

Descriptor FolderOfFiles::open(const std::string& name) const {
  if (folder_.number() >= 0) return Descriptor(::openat(folder_.number(), name.c_str(), kReadContentsFlags));
  return Descriptor(::open((prefix_ + name).c_str(), kReadContentsFlags));
}

RegularFile read_regular_file(const Descriptor& file, std::span<std::byte> room) {
  struct stat status {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) return without(unreadable(errno));
  if (auto none = no_regular_file(status)) return without(std::move(*none));
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes == 0) return without(of_size_zero(file.number()));
  if (bytes > room.size()) {
    RegularFile file_beyond = without({SkippedFile::Why::kTooLarge, fmt::format("{} bytes", bytes)});
    file_beyond.bytes = bytes;
    return file_beyond;
  }
  if (auto none = read_contents(file.number(), room.first(bytes))) return without(std::move(*none));
  return {.content = room.first(bytes), .skipped = {}, .reason = {}};
}

}  // namespace hemstitch::cli
