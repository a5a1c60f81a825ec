#include "files/save/mapped_range.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

namespace hemstitch {
namespace {

bool is_memory([[maybe_unused]] int descriptor) {
#ifdef __linux__
  struct statfs system {};
  return fstatfs(descriptor, &system) == 0 && system.f_type == TMPFS_MAGIC;
#else
  return false;
#endif
}

bool may_be_cut_by_others(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) != 0 || status.st_uid != geteuid() ||
         (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

}  // namespace

std::optional<MappedRange> MappedRange::of(int descriptor, std::uint64_t at, std::size_t count) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (count == 0 || flags < 0 || (flags & O_ACCMODE) != O_RDWR || (flags & O_APPEND) != 0 ||
      !is_memory(descriptor) || may_be_cut_by_others(descriptor) ||
      posix_fallocate(descriptor, static_cast<off_t>(at), static_cast<off_t>(count)) != 0)
    return std::nullopt;
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::size_t lead_bytes = at % page_bytes;
  void* const memory = mmap(nullptr, lead_bytes + count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                            static_cast<off_t>(at - lead_bytes));
  if (memory == MAP_FAILED) return std::nullopt;
  const std::span mapping(static_cast<std::byte*>(memory), lead_bytes + count);
  return MappedRange(mapping, mapping.subspan(lead_bytes));
}

MappedRange::~MappedRange() {
  if (!mapping_.empty()) munmap(mapping_.data(), mapping_.size());
}

}  // namespace hemstitch
