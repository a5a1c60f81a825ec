// The memory of a batch in flight: unspecified bytes, owned by an object. It is the process's own memory, or
// an engine's (BlockEngine::make_buffer()).
//
// A device's batches have tens of megabytes, and the first touch of so much memory costs as much as reading
// it: 24 ms for 64 MB in pages of 4 KB, 9 ms in huge pages (on the host of an H200). Linux gives huge pages
// on request.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace hemstitch {

class LargeBuffer {
 public:
  // From this size on huge pages are requested. Smaller buffers are touched quickly and should not take
  // more memory than they need.
  static constexpr std::size_t kHugeFromBytes = std::size_t{16} << 20;

  LargeBuffer() = default;
  // Throws std::bad_alloc.
  explicit LargeBuffer(std::size_t bytes) : memory_(static_cast<std::byte*>(allocate(bytes)), std::free) {
    if (!memory_) throw std::bad_alloc();
  }
  // Another kind of memory, which its last owner frees in its own way.
  explicit LargeBuffer(std::shared_ptr<std::byte> memory) : memory_(std::move(memory)) {}
  LargeBuffer(LargeBuffer&&) = default;
  LargeBuffer& operator=(LargeBuffer&&) = default;

  std::byte* get() const { return memory_.get(); }

 private:
  static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

  static void* allocate(std::size_t bytes) {
    if (bytes < kHugeFromBytes) return std::malloc(bytes == 0 ? 1 : bytes);
    const std::size_t rounded = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    void* const memory = rounded < bytes ? nullptr : std::aligned_alloc(kHugePageBytes, rounded);
#ifdef MADV_HUGEPAGE
    if (memory != nullptr)
      madvise(memory, rounded, MADV_HUGEPAGE);  // if this is refused, small pages are used
#endif
    return memory;
  }

  std::shared_ptr<std::byte> memory_;
};

}  // namespace hemstitch
