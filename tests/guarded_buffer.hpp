// A buffer between two pages that cannot be touched: one byte read or written outside of it ends the test at
// once. The bytes stand either right before the upper guard page or right behind the lower one.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>

namespace hemstitch::testing {

enum class Against { kUpperGuard, kLowerGuard };

class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t bytes, Against against = Against::kUpperGuard) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = std::max<std::size_t>(1, (bytes + page - 1) / page) * page;
    mapped_bytes_ = inner + 2 * page;
    void* const mapped = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    mapped_ = static_cast<std::byte*>(mapped);
    std::byte* const begin = mapped_ + page;
    if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    bytes_ = {against == Against::kUpperGuard ? begin + inner - bytes : begin, bytes};
  }
  GuardedBuffer(std::span<const std::byte> content, Against against = Against::kUpperGuard)
      : GuardedBuffer(content.size(), against) {
    std::copy(content.begin(), content.end(), bytes_.begin());
  }
  ~GuardedBuffer() { munmap(mapped_, mapped_bytes_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::span<std::byte> bytes() { return bytes_; }

 private:
  std::byte* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::span<std::byte> bytes_;
};

}  // namespace hemstitch::testing
