// A warp over 32 neighbouring positions of a block of Zstandard, a lane for each: what both of its walks share. And the bytes that a
// near offset gives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/sequence.hpp"
#include "format/zstd/compress/parse/zstd_lazy.hpp"
#include "format/zstd/compress/zstd_block_plan.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_block.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// How many of the first lanes' bits are set in a row.
__device__ inline std::uint32_t leading_lanes(std::uint32_t mask) {
  return static_cast<std::uint32_t>(__clz(static_cast<int>(__brev(~mask))));
}

// A block's bytes, which matches may go before.
struct ZstdText {
  const std::byte* d_block;
  std::uint32_t block_bytes;
  unsigned lane;

  // Whether the lane's position, which counts from `begin`, is in the block and agrees with the place `offset` before it. That place exists.
  __device__ bool agrees(std::uint32_t begin, std::uint32_t offset) const {
    const std::uint32_t position = begin + lane;
    if (position >= block_bytes) return false;
    const std::byte* const here = d_block + position;
    return *here == *(here - offset);
  }

  // How many bytes from `position` on agree with those `offset` before them, up to the end of the block. By all lanes of the warp.
  __device__ std::uint32_t agreement(std::uint32_t position, std::uint32_t offset) const {
    std::uint32_t bytes = 0;
    for (; position + bytes < block_bytes; bytes += 32) {
      const std::uint32_t same = __ballot_sync(kAllLanes, agrees(position + bytes, offset));
      if (same != kAllLanes) return bytes + leading_lanes(same);
    }
    return bytes;
  }
};

// Writes a block's list. By all lanes of the warp, of which the first one writes.
class ZstdListWriter {
 public:
  __device__ ZstdListWriter(const DeviceBlock& block, std::uint32_t block_index,
                            const DeviceSequences& sequences, unsigned lane)
      : out_(sequences.d_sequences + first_sequence(block.position, block_index, zstd_block_plan())),
        lane_(lane) {}

  __device__ void match(std::uint32_t position, std::uint32_t length, std::uint32_t offset) {
    if (lane_ == 0) *out_ = {position - literals_begin_, length, offset};
    ++out_;
    ++written_;
    literals_begin_ = position + length;
  }
  // Behind the last match.
  __device__ void finish(std::uint32_t block_bytes, std::uint32_t block_index,
                         const DeviceSequences& sequences) {
    match(block_bytes, 0, 0);
    if (lane_ != 0) return;
    sequences.d_counts[block_index] = written_;
    atomicAdd(reinterpret_cast<unsigned long long*>(sequences.d_total),
              static_cast<unsigned long long>(written_));
  }

 private:
  Sequence* out_;  // where the next one goes
  unsigned lane_;
  std::uint32_t written_ = 0;
  std::uint32_t literals_begin_ = 0;
};

// Near places are known by three bytes that agree, if as many are left; up to three behind them are compared. Whole words around three bytes end less than eight bytes behind the first of
// them, and begin less than three before it.
constexpr std::uint32_t kNearKnown = 3, kNearMore = kZstdNearMatchBytes - kNearKnown;
constexpr std::uint32_t kNearWordsBytes = kNearKnown + 8;

// The words around those three bytes of a position, or of the place `offset` before it: asked for, and looked at later.
struct NearWords {
  std::uint32_t low = 0, high = 0;
};
__device__ inline NearWords words_around(const std::byte* bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  return {__ldg(words), (address & 3) > 1 ? __ldg(words + 1) : 0};
}
// Of a position of a block, or the place `offset` before it. None if they are not `wanted`, nor near the block's end.
__device__ inline NearWords load_near_words(const DeviceBlock& block, std::uint32_t position,
                                            std::uint32_t offset, bool wanted) {
  if (!wanted || position + kNearWordsBytes > block.block_bytes) return {};
  return words_around(block.d_block + position + kNearKnown - offset);
}
struct NearPair {
  NearWords here, there;
};
// How many bytes agree at a near place, at most kZstdNearMatchBytes of those that are left of the block. `words` are those of the position and of that place.
__device__ inline std::uint32_t zstd_near_length(const DeviceBlock& block, std::uint32_t position,
                                                 std::uint32_t near, const NearPair& words) {
  const std::uint32_t left = block.block_bytes - position;
  if (left <= kNearKnown) return left;
  const std::byte* const later = block.d_block + position + kNearKnown;
  if (left >= kNearWordsBytes) {
    // Shifts are taken by their lowest five bits.
    const auto byte = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(later));
    const std::uint32_t differs = __funnelshift_r(words.here.low, words.here.high, 8 * byte) ^
                                  __funnelshift_r(words.there.low, words.there.high, 8 * (byte - near));
    return kNearKnown +
           static_cast<std::uint32_t>(__ffs(static_cast<int>(differs | 1u << 8 * kNearMore)) - 1) / 8;
  }
  const std::uint32_t most = min(left - kNearKnown, kNearMore);
  const std::byte* const earlier = later - near;
  std::uint32_t more = 0;
  while (more < most && later[more] == earlier[more]) ++more;
  return kNearKnown + more;
}

}  // namespace hemstitch::cuda
