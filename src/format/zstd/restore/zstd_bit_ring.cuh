// Bits of a stream of Zstandard that is read from its end (RFC 8878, 4.1), for lanes of which each has a stream of its own.
//
// They come through a ring of 128 bytes in shared memory, which asynchronous copies fill for all lanes at the same time: a load in a
// branch that some lanes take makes the whole warp wait for it. Bits are counted from d_base, the multiple of 16 bytes at or before the stream's data.
//
// Nothing outside of [d_begin, d_end) is read. What lies there before the stream, or outside, may be any bits: who reads them has
// gone too far, and finds that out when the last bit of the stream is not where it should be.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {

inline constexpr unsigned kZstdRingBytes = 128, kZstdPartBytes = 16,
                          kZstdRingParts = kZstdRingBytes / kZstdPartBytes;
// Four words more, so that lanes' rings begin in different banks.
struct alignas(16) ZstdRing {
  std::uint32_t words[kZstdRingBytes / 4 + 4];
};

// 96 bits of a stream, from bit() downwards, the highest first.
struct ZstdWindow {
  std::uint32_t high, middle, low;
};

class ZstdBits {
 public:
  // `d_begin`, `d_end`: bytes that may be read. The stream's last byte is not 0; `bit()` is then the highest bit below its mark.
  __device__ ZstdBits(ZstdRing& ring, const std::uint8_t* d_begin, const std::uint8_t* d_end,
                      const std::uint8_t* d_stream, std::uint32_t stream_bytes)
      : ring_(ring.words), d_begin_(d_begin), d_end_(d_end) {
    const auto address = reinterpret_cast<std::uintptr_t>(d_stream);
    const auto lead = static_cast<std::uint32_t>(address % kZstdPartBytes);
    d_base_ = d_stream - lead;
    first_ = 8 * lead;
    const std::uint32_t last = lead + stream_bytes - 1;
    bit_ = static_cast<std::int32_t>(8 * last) + 31 - __clz(std::uint32_t{d_base_[last]}) - 1;
    next_ = static_cast<std::int32_t>(last / kZstdPartBytes);
    // The stream's last part may end behind what may be read, and its first part begin before.
    most_whole_ =
        d_base_ + (next_ + 1) * static_cast<std::int32_t>(kZstdPartBytes) <= d_end ? next_ : next_ - 1;
    least_whole_ = d_base_ >= d_begin ? 0 : 1;
    for (unsigned i = 0; i + 1 < kZstdRingParts && next_ >= 0; ++i) fetch();
  }
  // For lanes without a stream, which take part all the same.
  __device__ explicit ZstdBits(ZstdRing& ring) : ring_(ring.words) {}

  // All lanes: asks for parts, so that all that the next 48 bytes need are there after the copies before these have arrived.
  __device__ void ask() {
    const std::int32_t needed = (bit_ >> 7) - static_cast<std::int32_t>(kZstdRingParts - 2);
    const std::int32_t until = needed > 0 ? needed : 0;
    while (__any_sync(kAllLanes, next_ >= until))
      if (next_ >= until) fetch();
  }

  __device__ ZstdWindow window() const {
    const std::uint32_t w0 = word(bit_), w1 = word(bit_ - 32), w2 = word(bit_ - 64), w3 = word(bit_ - 96);
    const std::uint32_t up = ~static_cast<std::uint32_t>(bit_);  // shifts are modulo 32
    return {__funnelshift_l(w1, w0, up), __funnelshift_l(w2, w1, up), __funnelshift_l(w3, w2, up)};
  }

  __device__ std::int32_t bit() const { return bit_; }
  __device__ void skip(std::uint32_t count) { bit_ -= static_cast<std::int32_t>(count); }
  // Whether exactly the stream's bits were taken.
  __device__ bool is_used_up() const { return bit_ + 1 == first_; }

 private:
  __device__ std::uint32_t word(std::int32_t bit) const {
    return ring_[static_cast<std::uint32_t>(bit) / 32 % (kZstdRingBytes / 4)];
  }
  __device__ void fetch() {
    const std::uint8_t* const d_part = d_base_ + next_ * static_cast<std::int32_t>(kZstdPartBytes);
    auto* const sh_part = ring_ + static_cast<std::uint32_t>(next_) % kZstdRingParts * (kZstdPartBytes / 4);
    if (next_ >= least_whole_ && next_ <= most_whole_) {
      __pipeline_memcpy_async(sh_part, d_part, kZstdPartBytes);
    } else {
      auto* const sh_bytes = reinterpret_cast<std::uint8_t*>(sh_part);
#pragma unroll 1
      for (unsigned i = 0; i < kZstdPartBytes; ++i)
        sh_bytes[i] = d_part + i >= d_begin_ && d_part + i < d_end_ ? d_part[i] : 0;
    }
    --next_;
  }

  std::uint32_t* ring_;
  const std::uint8_t *d_base_ = nullptr, *d_begin_ = nullptr, *d_end_ = nullptr;
  std::int32_t first_ = 0;  // the stream's first bit
  std::int32_t bit_ = 0;    // the highest one that is left
  std::int32_t next_ = -1;  // the next part to ask for
  std::int32_t least_whole_ = 0, most_whole_ = -1;
};

}  // namespace hemstitch::cuda
