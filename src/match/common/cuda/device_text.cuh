// The bytes that a kernel of the finders reads: a block with the history before it, as 32-bit indices from an aligned
// address, so that 4 and 16 bytes can be loaded at once whatever the block's own alignment.
//
// Nothing outside of the text is read: an aligned load that straddles an end of the text is replaced by loads of its
// single bytes, and bytes outside read as 0. Only the first and the last load of a text can take that path. Indices begin at 16 or
// above, so that a kernel may subtract up to 16 before it checks whether the text reaches that far.
#pragma once

#include <cstddef>
#include <cstdint>

#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

// Indices are 32-bit, and differences of them signed: the history, the block and kMostBegin must fit in 31 bits.
inline constexpr std::uint64_t kMaxTextBytes = std::uint64_t{1} << 31;

class DeviceText {
 public:
  static constexpr std::uint32_t kAlignment = 16;              // bytes
  static constexpr std::uint32_t kMostBegin = 2 * kAlignment;  // bytes

  __device__ explicit DeviceText(const DeviceBlock& block) {
    const std::byte* const first = block.d_block - block.history_bytes;
    begin_ = kAlignment + static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(first) % kAlignment);
    base_ = first - begin_;
    block_ = begin_ + block.history_bytes;
    end_ = block_ + block.block_bytes;
  }

  __device__ std::uint32_t begin() const { return begin_; }  // of the history
  __device__ std::uint32_t block() const { return block_; }  // the block's first byte
  __device__ std::uint32_t end() const { return end_; }

  // Whether byte `place` of the match at `position` with that offset agrees.
  __device__ bool same_byte(std::uint32_t position, std::uint32_t offset, std::uint32_t place) const {
    return base_[position + place] == base_[position + place - offset];
  }

  __device__ std::byte byte(std::uint32_t index) const { return base_[index]; }

  // `index` is a multiple of 4.
  __device__ std::uint32_t aligned_word(std::uint32_t index) const {
    if (index >= begin_ && index + 4 <= end_) return *reinterpret_cast<const std::uint32_t*>(base_ + index);
    return word_of_bytes(index);
  }

  // `index` is a multiple of 16.
  __device__ uint4 aligned_words(std::uint32_t index) const {
    if (index >= begin_ && index + 16 <= end_) return *reinterpret_cast<const uint4*>(base_ + index);
    return {aligned_word(index), aligned_word(index + 4), aligned_word(index + 8), aligned_word(index + 12)};
  }

  // The four bytes from any index on, in little-endian order.
  __device__ std::uint32_t word(std::uint32_t index) const {
    const std::uint32_t aligned = index & ~3u;
    return __funnelshift_r(aligned_word(aligned), aligned_word(aligned + 4), 8 * (index & 3));
  }

  // The number of bytes in which the texts at `later` and `earlier` agree, from 0 to `limit`; those before `known` are
  // known to agree. `later` has `limit` bytes.
  __device__ std::uint32_t common_length(std::uint32_t later, std::uint32_t earlier, std::uint32_t known,
                                         std::uint32_t limit) const {
    std::uint32_t a = later + known, b = earlier + known;
    const std::uint32_t shift_a = 8 * (a & 3), shift_b = 8 * (b & 3);
    std::uint32_t low_a = aligned_word(a &= ~3u), low_b = aligned_word(b &= ~3u);
    for (std::uint32_t length = known; length < limit; length += 4) {
      const std::uint32_t high_a = aligned_word(a += 4), high_b = aligned_word(b += 4);
      const std::uint32_t difference =
          __funnelshift_r(low_a, high_a, shift_a) ^ __funnelshift_r(low_b, high_b, shift_b);
      if (difference != 0) return min(limit, length + ((__ffs(static_cast<int>(difference)) - 1) >> 3));
      low_a = high_a;
      low_b = high_b;
    }
    return limit;
  }

 private:
  __device__ std::uint32_t word_of_bytes(std::uint32_t index) const {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < 4; ++i)
      if (index + i >= begin_ && index + i < end_)
        value |= static_cast<std::uint32_t>(base_[index + i]) << (8 * i);
    return value;
  }

  const std::byte* base_;
  std::uint32_t begin_;
  std::uint32_t block_;
  std::uint32_t end_;
};

}  // namespace hemstitch::cuda
