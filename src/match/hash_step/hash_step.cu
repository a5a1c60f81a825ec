#include "match/hash_step/hash_step_cuda.hpp"
#include "match/stitch/find_tiles.cuh"
#include "match/stitch/link_table.cuh"

namespace hemstitch::cuda {
namespace {

// Looks every position up and enters it a group later: leaves the distance to the table's entry.
//
// Mapping. One warp a segment: the groups that begin in it, after the 65535 positions before the first of them have
// entered the table. 32 positions a step; among lanes with equal hashes (match_any) the highest enters, so the newest
// wins. A group of 32 or fewer is looked up and entered in one step; a longer one is gone through twice.
//
// Heads are 16 bits: a position, plus one, modulo 65536. One that is too old, or was never written, stands for another
// position q. If q lies before the group and its four bytes were the right ones, q itself would be in the table; so it is
// no match, and the comparison finds that out. If q lies in the group, which has not entered yet, it is dropped here.
//
// Shared memory: 2^hash_bits heads of 2 bytes. No barrier. CPU twin: look_up_in_groups in hash_step_reference.cpp.
__global__ void __launch_bounds__(32)
    look_up(DeviceBlocks batch, Links links, std::uint32_t segments_per_block, unsigned hash_bits,
            std::uint32_t group_positions) {
  extern __shared__ uint4 sh_memory[];
  auto* sh_heads = reinterpret_cast<std::uint16_t*>(sh_memory);
  const std::uint32_t lane = threadIdx.x;
  const std::uint32_t segment_begin = blockIdx.x % segments_per_block * kSegmentPositions;
  const DeviceBlock block = batch.d_blocks[blockIdx.x / segments_per_block];

  const auto whole_groups = [&](std::uint64_t position) {
    return (position + group_positions - 1) / group_positions * group_positions;
  };
  const std::uint64_t begin = whole_groups(segment_begin);
  const std::uint64_t end =
      min(whole_groups(std::uint64_t{segment_begin} + kSegmentPositions), std::uint64_t{block.block_bytes});
  if (begin >= end) return;
  const auto lead =
      static_cast<std::uint32_t>(min(block.history_bytes + begin, std::uint64_t{kMaxRecordOffset}));
  const HashedRun run{block.d_block + begin - lead, static_cast<std::uint32_t>(lead + (end - begin)),
                      lead + (block.block_bytes - begin)};
  std::uint16_t* run_links = links.of_block(block) + begin - lead;

  // The table's entry of position x, then x in its place; x is hashed for lanes of `entering` alone.
  const auto look_up_one = [&](std::uint32_t x, std::uint32_t hash, std::uint32_t group) {
    const std::uint32_t distance = (x + 1 - sh_heads[hash]) & 0xFFFF;
    // Candidates are positions 0..group-1 of the run.
    return distance > x - group && distance <= x ? distance : 0;
  };
  const auto enter = [&](std::uint32_t x, bool hashed, std::uint32_t hash) {
    const std::uint32_t peers = __match_any_sync(~0u, hashed ? hash : 1u << 31 | lane);
    if (hashed && peers >> lane == 1) sh_heads[hash] = static_cast<std::uint16_t>(x + 1);
    __syncwarp();
  };

  clear_heads(sh_heads, hash_bits, lane);
  LaneWords<1> words;
  for (std::uint32_t step = 0; step < lead; step += 32) {
    const std::uint32_t x = step + lane;
    words.load(run, step, lane);
    enter(x, x < lead && run.hashed(x), hash_word(words[0], hash_bits));
  }
  for (std::uint64_t group = lead; group < run.positions; group += group_positions) {
    const auto group_begin = static_cast<std::uint32_t>(group);
    const auto group_end =
        static_cast<std::uint32_t>(min(group + group_positions, std::uint64_t{run.positions}));
    for (std::uint32_t step = group_begin; step < group_end; step += 32) {
      const std::uint32_t x = step + lane;
      words.load(run, step, lane);
      const bool hashed = x < group_end && run.hashed(x);
      const std::uint32_t hash = hash_word(words[0], hash_bits);
      const std::uint32_t distance = hashed ? look_up_one(x, hash, group_begin) : 0;
      if (x < group_end) run_links[x] = static_cast<std::uint16_t>(distance);
      __syncwarp();
      if (group_end - group_begin <= 32) enter(x, hashed, hash);
    }
    if (group_end - group_begin > 32)
      for (std::uint32_t step = group_begin; step < group_end; step += 32) {
        const std::uint32_t x = step + lane;
        words.load(run, step, lane);
        enter(x, x < group_end && run.hashed(x), hash_word(words[0], hash_bits));
      }
  }
}

std::uint64_t carries_bytes(const DeviceBlocks& batch) {
  return std::uint64_t{batch.block_count} * segments_per_block(batch) * sizeof(MatchRecord);
}

}  // namespace

std::size_t find_hash_step_cuda_scratch_bytes(const DeviceBlocks& batch,
                                              const HashStepParameters& parameters) {
  check_hash_step_parameters(parameters);
  return carries_bytes(batch) + batch.total_block_bytes * sizeof(std::uint16_t);
}

void find_hash_step_cuda(const DeviceBlocks& batch, const HashStepParameters& parameters,
                         MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                         cudaStream_t stream) {
  check_scratch("hash_step", scratch_bytes, find_hash_step_cuda_scratch_bytes(batch, parameters));
  const std::uint32_t thread_blocks = batch.block_count * segments_per_block(batch);
  if (thread_blocks == 0) return;

  TileSearch search{};
  search.batch = batch;
  search.links = {reinterpret_cast<std::uint16_t*>(static_cast<std::byte*>(d_scratch) + carries_bytes(batch)),
                  batch.total_block_bytes, 0};
  search.d_records = d_records;
  search.d_carries = static_cast<MatchRecord*>(d_scratch);
  search.hash_bits = parameters.hash_bits;
  search.cap_bytes = parameters.cap_bytes;
  search.window_bytes = kMaxRecordOffset;
  search.stitch = parameters.stitch;

  const auto shared_bytes = static_cast<int>(sizeof(std::uint16_t) << parameters.hash_bits);
  check(cudaFuncSetAttribute(look_up, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "hash_step.look_up");
  look_up<<<thread_blocks, 32, shared_bytes, stream>>>(batch, search.links, segments_per_block(batch),
                                                       parameters.hash_bits, parameters.group_positions);
  check_launch("hash_step.look_up");
  launch_find_tiles<Candidates::kStep>(search, "hash_step.find_tiles", stream);
}

}  // namespace hemstitch::cuda
