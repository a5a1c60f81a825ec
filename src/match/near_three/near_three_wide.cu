// The nearest place with the same three bytes in windows that are too long for near_three.cu: no ring of shared memory holds four bytes for each
// of their positions, and heads of 16 bits cannot be swept in time, so a link may be stale.
//
// A stale link leads to a position whose hash is another one: if it had this one, it would have been the head instead
// (match/stitch/build_chains.cuh). So a walk computes the hash of each candidate that differs, and ends where that is not its own.
//
// Mapping: one thread block (512 threads) takes a segment of 64 KB of a block from left to right, a thread a position. Its window and its links stay
// in the multiprocessor's cache. Bounds of work: `depth` comparisons of three bytes a position. CPU twin: near_three_reference.cpp.
#include "gpu/cuda/launch.hpp"
#include "match/common/hash_word.hpp"
#include "match/near_three/near_three_wide_cuda.hpp"
#include "match/stitch/build_chains.cuh"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kWideThreads = 512;

__device__ inline std::uint32_t three_bytes_at(const std::byte* place) {
  return static_cast<std::uint32_t>(place[0]) | static_cast<std::uint32_t>(place[1]) << 8 |
         static_cast<std::uint32_t>(place[2]) << 16;
}

__global__ void __launch_bounds__(kWideThreads)
    walk_near_chains_wide(const DeviceBlocks batch, const Links links, std::uint32_t segments_per_block,
                          unsigned hash_bits, std::uint32_t depth, std::uint32_t window_bytes,
                          std::uint16_t* __restrict__ d_near_offsets) {
  const std::uint32_t block_index = blockIdx.x / segments_per_block;
  const std::uint32_t begin = blockIdx.x % segments_per_block * kSegmentPositions;
  const DeviceBlock block = batch.d_blocks[block_index];
  if (begin >= block.block_bytes) return;
  const std::uint32_t end = min(block.block_bytes, begin + kSegmentPositions);
  const std::uint16_t* const block_links = links.of_block(block);
  // Where the block continues the one before it, that one's links are those of the history.
  const std::uint16_t* const history_links =
      continues_previous(batch, block_index, window_bytes) ? block_links : links.of_history(block_index);

  for (std::uint32_t position = begin + threadIdx.x; position < end; position += kWideThreads) {
    std::uint32_t found = 0;
    if (std::uint64_t{position} + kNearThreeBytes <= block.block_bytes) {
      const std::byte* const here = block.d_block + position;
      const std::uint32_t own = three_bytes_at(here), own_hash = hash_word(own, hash_bits);
      std::uint32_t offset = 0, step = block_links[position];
      for (std::uint32_t walked = 0; walked < depth && step != 0; ++walked) {
        offset += step;
        if (offset > window_bytes) break;
        const std::uint32_t candidate = three_bytes_at(here - offset);
        if (candidate == own) {
          found = offset;
          break;
        }
        if (walked + 1 == depth || hash_word(candidate, hash_bits) != own_hash) break;
        const auto at = static_cast<std::int64_t>(position) - offset;
        step = at < 0 ? history_links[at] : block_links[at];
      }
    }
    d_near_offsets[block.position + position] = static_cast<std::uint16_t>(found);
  }
}

constexpr KernelBudget kWideBuildBudget = build_chains_budget("near_three.build_wide", "build_chains<3>");
const KernelRegistration kWideBuildRegistration(kWideBuildBudget, build_chains<kNearThreeBytes>);
constexpr KernelBudget kWideWalkBudget("near_three.walk_wide", "walk_near_chains_wide",
                                       {.threads = kWideThreads, .registers = 40});
const KernelRegistration kWideWalkRegistration(kWideWalkBudget, walk_near_chains_wide);

// Positions of each history whose links are kept.
std::uint32_t kept_history_bytes_wide(const DeviceBlocks& batch, const NearThreeParameters& parameters) {
  return parameters.depth > 1 ? batch.max_history_bytes : 0;
}

}  // namespace

std::size_t find_near_three_wide_cuda_scratch_bytes(const DeviceBlocks& batch,
                                                    const NearThreeParameters& parameters) {
  check_near_three_parameters(parameters);
  return (batch.total_block_bytes +
          std::uint64_t{batch.block_count} * kept_history_bytes_wide(batch, parameters)) *
         sizeof(std::uint16_t);
}

void find_near_three_wide_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                               std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                               cudaStream_t stream) {
  check_scratch("near_three", scratch_bytes, find_near_three_wide_cuda_scratch_bytes(batch, parameters));
  const Links links{static_cast<std::uint16_t*>(d_scratch), batch.total_block_bytes,
                    kept_history_bytes_wide(batch, parameters)};
  launch_build_chains<kNearThreeBytes>(batch, links, parameters.hash_bits, parameters.window_bytes, false, {},
                                       kWideBuildBudget.name.data(), stream);
  launch({.kernel = kWideWalkBudget,
          .grid = batch.block_count * segments_per_block(batch),
          .stream = stream,
          .work = work_of(batch)},
         walk_near_chains_wide, batch, links, segments_per_block(batch), parameters.hash_bits,
         parameters.depth, parameters.window_bytes, d_near_offsets);
}

}  // namespace hemstitch::cuda
