// A buffer between two pages that cannot be touched. Kernels load and store in aligned words of 16 bytes, and these pages begin at multiples of that: so where
// AddressSanitizer is at hand, what is left of the buffer's own pages cannot be touched either, down to multiples of eight bytes.
#pragma once

#include "guarded_buffer.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define HEMSTITCH_POISONS_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEMSTITCH_POISONS_MEMORY
#endif
#endif
#if defined(HEMSTITCH_POISONS_MEMORY)
#include <sanitizer/asan_interface.h>
#endif

namespace hemstitch::testing {

#if defined(HEMSTITCH_POISONS_MEMORY)

// Fibers take many times as long here, so tests try one of so many cases.
inline constexpr std::size_t kTriedOneOf = 7;

class KernelBuffer {
 public:
  explicit KernelBuffer(std::size_t bytes, Against against = Against::kUpperGuard) : buffer_(bytes, against) {
    rest_bytes_ = (bytes + page_ - 1) / page_ * page_ - bytes;
    if (bytes == 0) rest_bytes_ = page_;
    rest_ = against == Against::kUpperGuard ? buffer_.bytes().data() - rest_bytes_
                                            : buffer_.bytes().data() + bytes;
    __asan_poison_memory_region(rest_, rest_bytes_);
  }
  KernelBuffer(std::span<const std::byte> content, Against against = Against::kUpperGuard)
      : KernelBuffer(content.size(), against) {
    std::copy(content.begin(), content.end(), bytes().begin());
  }
  ~KernelBuffer() { __asan_unpoison_memory_region(rest_, rest_bytes_); }
  KernelBuffer(const KernelBuffer&) = delete;
  KernelBuffer& operator=(const KernelBuffer&) = delete;

  std::span<std::byte> bytes() { return buffer_.bytes(); }

 private:
  const std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  GuardedBuffer buffer_;
  std::byte* rest_;
  std::size_t rest_bytes_;
};

#else

inline constexpr std::size_t kTriedOneOf = 1;

using KernelBuffer = GuardedBuffer;

#endif

}  // namespace hemstitch::testing
