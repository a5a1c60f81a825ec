// What the first kernels of hash_chain and near_three share: one warp, a table of 16-bit heads in shared memory,
// and the words that it hashes. kKeyBytes is how many bytes a hash covers: 3, 4 or kVaryingBytes, which stands for any number from 5 to
// kMostHashedBytes, as the run says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "match/common/cuda/enter_row.cuh"
#include "match/common/hash_word.hpp"
#include "match/stitch/find_tiles_tuning.hpp"

namespace hemstitch::cuda {

inline constexpr std::size_t kVaryingBytes = kMostHashedBytes;

// A run of positions that one warp hashes, counted from `first`, where its table begins.
template <std::size_t kKeyBytes = kHashedBytes>
struct HashedRun {
  const std::byte* first;
  std::uint32_t positions;
  std::uint64_t
      readable;  // bytes from `first` to the end of the data; a position with fewer than key_bytes() has no hash
  std::uint32_t varying_bytes = 0;  // of kVaryingBytes alone

  __device__ std::uint32_t key_bytes() const {
    if constexpr (kKeyBytes == kVaryingBytes)
      return varying_bytes;
    else
      return kKeyBytes;
  }

  __device__ bool hashed(std::uint32_t x) const {
    return x < positions && std::uint64_t{x} + key_bytes() <= readable;
  }

  // Whether what is hashed of the positions [x, x + count) and 8 bytes more can be read in whole words.
  __device__ bool inside(std::uint32_t x, std::uint32_t count) const {
    constexpr std::uint32_t kBehind = kKeyBytes == kVaryingBytes ? 4 + kVaryingBytes : 8;
    return x >= 4 && std::uint64_t{x} + count + kBehind <= readable;
  }
};

// The words of kSteps * 32 positions; a lane's are 32 apart. They are shifted into place only when they are used, so that a warp
// that loads them early does not wait for them early. Wide ones are in LaneWords<kSteps, kVaryingBytes> below.
template <unsigned kSteps, std::size_t kKeyBytes = kHashedBytes>
struct LaneWords {
  using Run = HashedRun<kKeyBytes>;
  std::uint32_t low[kSteps], high[kSteps], shift;

  __device__ std::uint32_t operator[](unsigned i) const {
    const std::uint32_t word = __funnelshift_r(low[i], high[i], shift);
    return kKeyBytes == 3 ? word & 0xFFFFFF : word;
  }

  // Only where run.inside(x, kSteps * 32).
  __device__ void load_inside(const Run& run, std::uint32_t x, std::uint32_t lane) {
    const auto address = reinterpret_cast<std::uintptr_t>(run.first + x + lane);
    const auto* aligned = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
    shift = (address & 3) * 8;
#pragma unroll
    for (unsigned i = 0; i < kSteps; ++i)
      low[i] = __ldg(aligned + i * 8), high[i] = __ldg(aligned + i * 8 + 1);
  }
  // At any place; 0 where there is no word.
  __device__ void load(const Run& run, std::uint32_t x, std::uint32_t lane) {
    if (run.inside(x, kSteps * 32)) return load_inside(run, x, lane);
    shift = 0;
#pragma unroll
    for (unsigned i = 0; i < kSteps; ++i) {
      const std::uint32_t at = x + i * 32 + lane;
      low[i] = high[i] = 0;
      if (std::uint64_t{at} + kKeyBytes <= run.readable)
        for (std::uint32_t k = 0; k < kKeyBytes; ++k)
          low[i] |= static_cast<std::uint32_t>(run.first[at + k]) << (8 * k);
    }
  }
};

// The value to hash for more than four bytes: the first and the last four of them, as one word.
template <unsigned kSteps>
struct LaneWords<kSteps, kVaryingBytes> {
  using Run = HashedRun<kVaryingBytes>;
  LaneWords<kSteps> first, last;

  __device__ std::uint32_t operator[](unsigned i) const { return wide_word(first[i], last[i]); }

  // Only where run.inside(x, kSteps * 32).
  __device__ void load_inside(const Run& run, std::uint32_t x, std::uint32_t lane) {
    const HashedRun<> words{run.first, run.positions, run.readable};
    first.load_inside(words, x, lane);
    last.load_inside(words, x + run.key_bytes() - 4, lane);
  }
  __device__ void load(const Run& run, std::uint32_t x, std::uint32_t lane) {
    const HashedRun<> words{run.first, run.positions, run.readable};
    first.load(words, x, lane);
    last.load(words, x + run.key_bytes() - 4, lane);
  }
};

// Steps of 32 positions that a warp has in flight at once.
inline constexpr unsigned kBuildSteps = kLinkSteps;
inline constexpr std::uint32_t kBuildGroup = kBuildSteps * 32;

// A group's words become slots of the table before the next group's words are loaded into the same registers. With two sets of
// words the compiler copied some from one to the other in the middle of a group, which then waits for the device's memory every
// time: that cost a sixth of the speed.
template <std::size_t kKeyBytes>
__device__ void take_slots(const LaneWords<kBuildSteps, kKeyBytes>& words, unsigned hash_bits,
                           std::uint32_t (&slots)[kBuildSteps]) {
#pragma unroll
  for (unsigned i = 0; i < kBuildSteps; ++i) slots[i] = hash_word(words[i], hash_bits);
}

// Enters the positions [group, group + kBuildGroup) before `end` in their slots and returns the distance of each to the previous
// one with its hash, 0 for none. kInside: all of them have hashes.
template <bool kInside, std::size_t kKeyBytes>
__device__ void enter_group(std::uint16_t* sh_heads, const HashedRun<kKeyBytes>& run, std::uint32_t group,
                            std::uint32_t end, std::uint32_t lane, const std::uint32_t (&slots)[kBuildSteps],
                            std::uint32_t (&distances)[kBuildSteps]) {
#pragma unroll
  for (unsigned i = 0; i < kBuildSteps; ++i) {
    const std::uint32_t x = group + i * 32 + lane;
    const bool hashed = kInside || (x < end && run.hashed(x));
    const std::uint32_t head = RowEntry(sh_heads, slots[i], hashed, x + 1).finish(lane);
    distances[i] = hashed ? (x + 1 - head) & 0xFFFF : 0;
    if (distances[i] > x) distances[i] = 0;  // before the first position
  }
}

// Enters the positions [0, end) of a run into a cleared table when nobody needs their links. `end` is below 65536.
template <std::size_t kKeyBytes>
__device__ void enter_unlinked(std::uint16_t* sh_heads, const HashedRun<kKeyBytes>& run, std::uint32_t end,
                               std::uint32_t lane, unsigned hash_bits) {
  const std::uint32_t key_bytes = run.key_bytes();
  const auto hashed_end = static_cast<std::uint32_t>(
      min(std::uint64_t{end}, run.readable < key_bytes ? 0 : run.readable - (key_bytes - 1)));
  LaneWords<kBuildSteps, kKeyBytes> words;
  words.load(run, 0, lane);
  for (std::uint32_t group = 0; group < hashed_end; group += kBuildGroup) {
    std::uint32_t slots[kBuildSteps];
    take_slots(words, hash_bits, slots);
    words.load(run, group + kBuildGroup, lane);
    bool enters[kBuildSteps];
#pragma unroll
    for (unsigned i = 0; i < kBuildSteps; ++i) enters[i] = group + i * 32 + lane < hashed_end;
    enter_rows_unlinked(sh_heads, slots, enters, group + lane + 1);
  }
}

__device__ inline void clear_heads(std::uint16_t* sh_heads, unsigned hash_bits, std::uint32_t lane) {
  auto* vectors = reinterpret_cast<uint4*>(sh_heads);
  for (std::uint32_t i = lane; i < (1u << hash_bits) / 8; i += 32) vectors[i] = {0, 0, 0, 0};
  __syncwarp();
}
static_assert((1u << kMinHashBits) % 8 == 0);

}  // namespace hemstitch::cuda
