// The hash width of each block of a batch, where its values decide (hash_width.hpp).
//
// Mapping. One thread block (256 threads) a block, a position of a stretch for each thread. Words of four stretches are loaded at
// once. A word adds one to its slot and learns the old value: 0 means that the slot was unused; otherwise it is the number of words
// with which this one makes a pair. The barrier after a stretch counts the newly used slots, so all threads know when there are too
// many: in text, after the first four stretches.
//
// Shared memory: 8 KB of slots. Reads whole words around those of the sample, which stand inside of the block. CPU twin:
// has_few_values in hash_chain_reference.cpp.
#pragma once

#include <cstdint>

#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_block.hpp"
#include "match/hash_chain/hash_width.hpp"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kChooseThreads = kStretchPositions;
inline constexpr std::uint32_t kStretchesAtOnce = 4;
static_assert(kSampledStretches % kStretchesAtOnce == 0);

// The four bytes there; whole words around them may be read.
__device__ inline std::uint32_t word_at(const std::byte* place) {
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  const auto* aligned = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  return __funnelshift_r(__ldg(aligned), __ldg(aligned + 1), (address & 3) * 8);
}

static __global__ void __launch_bounds__(kChooseThreads)
    choose_widths(const DeviceBlocks batch, std::uint32_t hash_bytes, std::uint32_t few_values_hash_bytes,
                  std::uint8_t* __restrict__ d_widths) {
  __shared__ std::uint32_t sh_words[1u << kSampleSlotBits];
  __shared__ std::uint32_t sh_pairs;
  const std::uint32_t thread = threadIdx.x;
  const DeviceBlock block = batch.d_blocks[blockIdx.x];
  if (block.block_bytes < kLeastSampledBlockBytes) {
    if (thread == 0) d_widths[blockIdx.x] = static_cast<std::uint8_t>(hash_bytes);
    return;
  }
  for (std::uint32_t slot = thread; slot < 1u << kSampleSlotBits; slot += kChooseThreads) sh_words[slot] = 0;
  if (thread == 0) sh_pairs = 0;
  __syncthreads();

  std::uint32_t used = 0, pairs = 0;
  for (std::uint32_t first = 0; first < kSampledStretches && used <= kMostUsedSlots;
       first += kStretchesAtOnce) {
    std::uint32_t words[kStretchesAtOnce];
#pragma unroll
    for (std::uint32_t i = 0; i < kStretchesAtOnce; ++i)
      words[i] = word_at(block.d_block + stretch_begin(first + i, block.block_bytes) + thread);
#pragma unroll
    for (std::uint32_t i = 0; i < kStretchesAtOnce; ++i) {
      const std::uint32_t before = atomicAdd(&sh_words[hash_word(words[i], kSampleSlotBits)], 1u);
      pairs += before;
      used += static_cast<std::uint32_t>(__syncthreads_count(before == 0));
    }
  }
  const std::uint32_t warp_pairs = sum_over_warp(pairs);
  if (thread % 32 == 0) atomicAdd(&sh_pairs, warp_pairs);
  __syncthreads();
  if (thread == 0)
    d_widths[blockIdx.x] = static_cast<std::uint8_t>(
        are_few_values(used, sh_pairs) ? few_values_width(few_values_hash_bytes, block.block_bytes)
                                       : hash_bytes);
}

constexpr KernelBudget kChooseWidthsBudget("hash_chain.choose_widths", "choose_widths",
                                           {.threads = kChooseThreads,
                                            .registers = 32,
                                            .shared_bytes = 9 * 1024});

}  // namespace hemstitch::cuda
