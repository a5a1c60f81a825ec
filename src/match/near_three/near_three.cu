// The nearest place with the same three bytes, by walking chains. The first kernel leaves them (match/stitch/build_chains.cuh);
// this is the second.
//
// Mapping. One thread block (1024 threads) owns a segment of 64 KB of one block of the batch, and takes it in tiles of 2048
// positions from left to right, two positions a thread. A ring in shared memory holds a word for each position of the window
// before the tile and of the tile, so that a walk never leaves shared memory: its reads are scattered. The next tile's words
// are on their way while a tile is walked.
//
// A word is the position's link and its first two bytes. That suffices to compare three: links are exact (the table is swept),
// so all of a chain has the same hash, and three bytes are told by their hash and the first two. For where the third
// bytes differ by d, so do the highest 16 bits of the hashed products by d * 0x79B9 modulo 65536, which is 148 or farther
// from 0: hashes of 9 bits and more differ (same_hash_and_two_bytes_suffice()). A step of a walk is then one read.
//
// The ring is as long as the window and two tiles: what the next tile's words overwrite no walk of this tile reads. So one
// barrier a tile does. Where a device has too little shared memory for it, walks read the same words from device memory.
//
// Bounds of work: `depth` reads a position. Shared memory: 4 bytes a position of the ring, 144 KB for a window of 32 KB: one
// thread block a multiprocessor. Registers: at most 64. CPU twin: near_three_reference.cpp.
#include <algorithm>
#include <string>

#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/shared_memory.hpp"
#include "match/common/hash_word.hpp"
#include "match/near_three/near_three_cuda.hpp"
#include "match/stitch/build_chains.cuh"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kThreads = 1024;
constexpr std::uint32_t kTile = 2048;
constexpr std::uint32_t kPerThread = kTile / kThreads;
static_assert(kSegmentPositions % kTile == 0);
static_assert(kMostNearThreeWindowBytes <= kSweptWindowBytes, "links are exact");

// Two different words of three bytes whose first two agree have different hashes. They differ by d << 16, so their products
// by the highest 16 bits alone.
consteval bool same_hash_and_two_bytes_suffice(unsigned hash_bits) {
  for (std::uint32_t difference = 1; difference < 256; ++difference) {
    const std::uint32_t apart = hash_word(difference << 16, 16);
    if (std::min(apart, 65536 - apart) < 1u << (16 - hash_bits)) return false;
  }
  return true;
}
static_assert(same_hash_and_two_bytes_suffice(kLeastNearThreeHashBits));

constexpr std::uint32_t ring_words(std::uint32_t reach_bytes) { return reach_bytes + 2 * kTile; }

// The words of a segment's positions and of those before it, which are negative: in device memory, what the ring holds.
class SegmentWords {
 public:
  __device__ SegmentWords(const DeviceBlocks& batch, const Links& links, const DeviceBlock& block,
                          std::uint32_t block_index, std::uint32_t segment_begin, std::uint32_t window_bytes,
                          std::uint32_t depth)
      : here_(block.d_block + segment_begin),
        block_links_(links.of_block(block) + segment_begin),
        history_links_(links.of_history(block_index) + segment_begin),
        readable_(block.block_bytes - segment_begin),
        // At depth 1 nobody follows links of positions before the segment, and there may be none.
        follows_(depth > 1) {
    std::uint32_t linked_before = segment_begin;
    if (continues_previous(batch, block_index, window_bytes)) linked_before += window_bytes;
    first_block_position_ = -static_cast<std::int32_t>(min(linked_before, 2 * kMaxRecordOffset));
  }

  __device__ std::uint32_t before(std::int32_t position) const {
    std::uint32_t link = 0;
    if (follows_)
      link = position >= first_block_position_ ? block_links_[position] : history_links_[position];
    return word(link, position);
  }
  // 0 where the position has no hash, or is behind the block; a chain ends there.
  __device__ std::uint32_t own(std::uint32_t position) const {
    if (std::uint64_t{position} + kNearThreeBytes > readable_) return 0;
    return word(block_links_[position], static_cast<std::int32_t>(position));
  }

 private:
  __device__ std::uint32_t word(std::uint32_t link, std::int32_t position) const {
    return link << 16 | static_cast<std::uint32_t>(here_[position + 1]) << 8 |
           static_cast<std::uint32_t>(here_[position]);
  }

  const std::byte* here_;
  const std::uint16_t* block_links_;
  const std::uint16_t* history_links_;
  std::uint32_t readable_;
  bool follows_;
  std::int32_t first_block_position_;
};

template <bool kRing>
__global__ void __launch_bounds__(kThreads)
    walk_near_chains(const DeviceBlocks batch, const Links links, std::uint32_t segments_per_block,
                     std::uint32_t ring_positions, std::uint32_t depth, std::uint32_t window_bytes,
                     std::uint16_t* __restrict__ d_near_offsets) {
  extern __shared__ std::uint32_t sh_ring[];
  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t block_index = blockIdx.x / segments_per_block;
  const std::uint32_t segment_begin = blockIdx.x % segments_per_block * kSegmentPositions;
  const DeviceBlock block = batch.d_blocks[block_index];
  if (segment_begin >= block.block_bytes) return;
  const std::uint32_t positions = min(block.block_bytes - segment_begin, kSegmentPositions);
  const auto lead = static_cast<std::uint32_t>(
      min(std::uint64_t{block.history_bytes} + segment_begin, std::uint64_t{window_bytes}));
  std::uint16_t* const near_offsets = d_near_offsets + block.position + segment_begin;
  const SegmentWords words(batch, links, block, block_index, segment_begin, window_bytes, depth);

  // The window before the segment fills the ring's first slots, the first tile those behind it.
  if constexpr (kRing) {
#pragma unroll 4
    for (std::uint32_t i = thread; i < lead; i += kThreads)
      sh_ring[i] = words.before(static_cast<std::int32_t>(i) - static_cast<std::int32_t>(lead));
#pragma unroll
    for (std::uint32_t index = thread; index < kTile; index += kThreads)
      sh_ring[lead + index] = words.own(index);
    __syncthreads();
  }

  std::uint32_t tile_slot = lead;  // of the tile's first position
  for (std::uint32_t tile = 0; tile < positions; tile += kTile) {
    if (thread == 0) trace_mark(kTraceFindTile, tile);
    const auto slot_in_tile = [&](std::uint32_t index) {  // up to two tiles behind its first position
      const std::uint32_t slot = tile_slot + index;
      return slot < ring_positions ? slot : slot - ring_positions;
    };
    std::uint32_t next_words[kPerThread];
    if constexpr (kRing)
#pragma unroll
      for (std::uint32_t row = 0; row < kPerThread; ++row)
        next_words[row] = words.own(tile + kTile + row * kThreads + thread);

#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = row * kThreads + thread, position = tile + index;
      if (position >= positions) continue;
      const std::uint32_t slot = slot_in_tile(index);
      const auto word_before = [&](std::uint32_t offset) {
        if constexpr (kRing) {
          const std::uint32_t back = slot - offset;  // huge where it is negative
          return sh_ring[min(back, back + ring_positions)];
        } else {
          return offset == 0 ? words.own(position)
                             : words.before(static_cast<std::int32_t>(position - offset));
        }
      };
      const std::uint32_t own = word_before(0);
      std::uint32_t step = own >> 16, offset = 0, found = 0;
      for (std::uint32_t walked = 0; walked < depth; ++walked) {
        offset += step;
        if (step == 0 || offset > window_bytes) break;
        const std::uint32_t candidate = word_before(offset);
        if (((candidate ^ own) & 0xFFFF) == 0) {
          found = offset;
          break;
        }
        step = candidate >> 16;
      }
      near_offsets[position] = static_cast<std::uint16_t>(found);
    }

    if constexpr (kRing) {
#pragma unroll
      for (std::uint32_t row = 0; row < kPerThread; ++row)
        sh_ring[slot_in_tile(kTile + row * kThreads + thread)] = next_words[row];
      tile_slot = slot_in_tile(kTile);
      __syncthreads();
    }
  }
}

constexpr KernelBudget kBuildBudget = build_chains_budget("near_three.build", "build_chains<3>");
const KernelRegistration kBuildRegistration(kBuildBudget, build_chains<kNearThreeBytes>);

constexpr std::uint32_t kMostSharedBytes = ring_words(kMostNearThreeWindowBytes) * sizeof(std::uint32_t);
constexpr KernelBudget kWalkBudget("near_three.walk", "walk_near_chains",
                                   {.threads = kThreads,
                                    .dynamic_shared_bytes = kMostSharedBytes,
                                    .registers = 64,
                                    .shared_bytes = kMostSharedBytes});
const KernelRegistration kWalkRegistration(kWalkBudget, walk_near_chains<true>);
const KernelRegistration kRinglessRegistration(kWalkBudget, walk_near_chains<false>);

void check_parameters(const NearThreeParameters& parameters) {
  check_near_three_parameters(parameters);
  if (parameters.hash_bits < kLeastNearThreeHashBits)
    throw Error(Status::kInvalidOption, "near_three: hash_bits is " + std::to_string(parameters.hash_bits) +
                                            ", must be at least " + std::to_string(kLeastNearThreeHashBits) +
                                            " on a CUDA device");
  if (parameters.window_bytes > kMostNearThreeWindowBytes)
    throw Error(Status::kInvalidOption, "near_three: window_bytes is " +
                                            std::to_string(parameters.window_bytes) + ", must be at most " +
                                            std::to_string(kMostNearThreeWindowBytes) + " on a CUDA device");
}

// Positions of each history whose links are kept.
std::uint32_t kept_history_bytes(const DeviceBlocks& batch, const NearThreeParameters& parameters) {
  return parameters.depth > 1 ? batch.max_history_bytes : 0;
}

}  // namespace

std::size_t find_near_three_cuda_scratch_bytes(const DeviceBlocks& batch,
                                               const NearThreeParameters& parameters) {
  check_parameters(parameters);
  return (batch.total_block_bytes +
          std::uint64_t{batch.block_count} * kept_history_bytes(batch, parameters)) *
         sizeof(std::uint16_t);
}

void find_near_three_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                          std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream) {
  find_near_three_cuda(batch, parameters, d_near_offsets, d_scratch, scratch_bytes, stream,
                       kMostSharedBytes <= most_shared_bytes() ? NearWords::kRing : NearWords::kDeviceMemory);
}

void find_near_three_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                          std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream, NearWords near_words) {
  check_scratch("near_three", scratch_bytes, find_near_three_cuda_scratch_bytes(batch, parameters));
  const Links links{static_cast<std::uint16_t*>(d_scratch), batch.total_block_bytes,
                    kept_history_bytes(batch, parameters)};
  launch_build_chains<kNearThreeBytes>(batch, links, parameters.hash_bits, parameters.window_bytes, true, {},
                                       kBuildBudget.name.data(), stream);
  const std::uint32_t thread_blocks = batch.block_count * segments_per_block(batch);
  if (thread_blocks == 0) return;
  const std::uint64_t longest = std::uint64_t{batch.max_history_bytes} + batch.max_block_bytes;
  const std::uint32_t ring_positions =
      ring_words(static_cast<std::uint32_t>(std::min<std::uint64_t>(longest, parameters.window_bytes)));
  const char* const name = kWalkBudget.name.data();
  const auto walk = [&](auto kernel, std::uint32_t shared_bytes) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)),
          name);
    kernel<<<thread_blocks, kThreads, shared_bytes, stream>>>(batch, links, segments_per_block(batch),
                                                              ring_positions, parameters.depth,
                                                              parameters.window_bytes, d_near_offsets);
    check_launch(name, work_of(batch));
  };
  if (near_words == NearWords::kRing)
    walk(walk_near_chains<true>, ring_positions * sizeof(std::uint32_t));
  else
    walk(walk_near_chains<false>, 0);
}

}  // namespace hemstitch::cuda
