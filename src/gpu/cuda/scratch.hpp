// Two-phase scratch: a function on the host says how many bytes a device function needs, the caller brings
// them, and both cut them into the same arrays.
//
//   Carver carve(d_scratch);                        // nullptr: only count
//   auto* d_counts = carve.take<std::uint32_t>(n);
//   ...
//   return carve.bytes();                           // what a caller has to bring
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hemstitch::cuda {

// Every array begins at a multiple of this: what cudaMalloc gives, and more than any access needs.
inline constexpr std::size_t kScratchAlignmentBytes = 256;

class Carver {
 public:
  explicit Carver(void* d_scratch)
      : d_begin_(static_cast<std::byte*>(d_scratch)), lead_bytes_(misalignment(d_scratch)) {}

  template <class T>
  T* take(std::size_t count) {
    T* d_array = d_begin_ == nullptr ? nullptr : reinterpret_cast<T*>(d_begin_ + lead_bytes_ + used_bytes_);
    used_bytes_ +=
        (count * sizeof(T) + kScratchAlignmentBytes - 1) / kScratchAlignmentBytes * kScratchAlignmentBytes;
    return d_array;
  }

  // Enough for scratch at any address.
  std::size_t bytes() const { return used_bytes_ == 0 ? 0 : used_bytes_ + kScratchAlignmentBytes - 1; }

 private:
  static std::size_t misalignment(const void* d_scratch) {
    const auto rest = reinterpret_cast<std::uintptr_t>(d_scratch) % kScratchAlignmentBytes;
    return rest == 0 ? 0 : kScratchAlignmentBytes - rest;
  }

  std::byte* d_begin_;
  std::size_t lead_bytes_;  // up to the first multiple of the alignment
  std::size_t used_bytes_ = 0;
};

// Throws kInvalidOption unless `scratch_bytes` reaches `needed_bytes` (and there is an address, where any are needed).
void check_scratch(std::string_view function, std::size_t needed_bytes, const void* d_scratch,
                   std::size_t scratch_bytes);

}  // namespace hemstitch::cuda
