// The bytes that the kernels of far read: a run of up to some megabytes, as 32-bit indices from an aligned address, of which any eight or sixteen
// can be loaded at once.
//
// Nothing outside of the run is read: words that straddle one of its ends are gathered byte by byte, and bytes outside are 0. Indices begin at 16 or
// above, so that a kernel may subtract up to 16 before it checks whether the run reaches that far.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

class FarText {
 public:
  __device__ FarText(const std::byte* d_first, std::uint32_t bytes)
      : begin_(kAlignment +
               static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(d_first) % kAlignment)),
        end_(begin_ + bytes),
        base_(d_first - begin_) {}

  __device__ std::uint32_t begin() const { return begin_; }
  __device__ std::uint32_t end() const { return end_; }

  // The eight and the sixteen bytes from any index on: a load for each eight, and one more unless the index is a multiple of 8.
  __device__ uint2 pair(std::uint32_t index) const {
    const std::uint32_t aligned = index & ~7u, shift = 8 * (index & 3);
    if (aligned < begin_ || aligned + 16 > end_) return pair_of_bytes(index);
    const auto* const pairs = reinterpret_cast<const uint2*>(base_ + aligned);
    const uint2 a = __ldg(pairs);
    if ((index & 7) == 0) return a;
    const uint2 b = __ldg(pairs + 1);
    const bool is_upper = (index & 4) != 0;
    const std::uint32_t middle = is_upper ? b.x : a.y;
    return {__funnelshift_r(is_upper ? a.y : a.x, middle, shift),
            __funnelshift_r(middle, is_upper ? b.y : b.x, shift)};
  }
  __device__ uint4 words(std::uint32_t index) const {
    const std::uint32_t aligned = index & ~7u, shift = 8 * (index & 3);
    if (aligned < begin_ || aligned + 24 > end_) {
      const uint2 low = pair_of_bytes(index), high = pair_of_bytes(index + 8);
      return {low.x, low.y, high.x, high.y};
    }
    const auto* const pairs = reinterpret_cast<const uint2*>(base_ + aligned);
    const uint2 a = __ldg(pairs), b = __ldg(pairs + 1);
    if ((index & 7) == 0) return {a.x, a.y, b.x, b.y};
    const uint2 c = __ldg(pairs + 2);
    const bool is_upper = (index & 4) != 0;
    const std::uint32_t second = is_upper ? b.x : a.y, third = is_upper ? b.y : b.x,
                        fourth = is_upper ? c.x : b.y;
    return {__funnelshift_r(is_upper ? a.y : a.x, second, shift), __funnelshift_r(second, third, shift),
            __funnelshift_r(third, fourth, shift), __funnelshift_r(fourth, is_upper ? c.y : c.x, shift)};
  }

 private:
  static constexpr std::uint32_t kAlignment = 16;  // bytes

  // Of few instructions, since it is in many places.
  __device__ uint2 pair_of_bytes(std::uint32_t index) const {
    uint2 value{0, 0};
#pragma unroll 1
    for (std::uint32_t i = 8; i-- > 0;) {
      value.y = __funnelshift_l(value.x, value.y, 8);
      value.x <<= 8;
      if (index + i >= begin_ && index + i < end_)
        value.x |= __ldg(reinterpret_cast<const unsigned char*>(base_) + index + i);
    }
    return value;
  }

  std::uint32_t begin_, end_;
  const std::byte* base_;
};

}  // namespace hemstitch::cuda
