#include "gpu/cuda/kernel_trace.hpp"
#include "match/hash_step/hash_step_cuda.hpp"
#include "match/stitch/find_tiles.cuh"
#include "match/stitch/link_table.cuh"

namespace hemstitch::cuda {
namespace {

// Looks every position up and enters it a group later: leaves the distance to the table's entry.
//
// Mapping. One warp a segment: the groups that begin in it, after the 65535 positions before the first of them have
// entered the table. 32 positions a step; among lanes with equal hashes the highest enters, so the newest wins. Groups of
// 32, the level table's, are steps of the chains' build that do not see themselves; others are gone through twice.
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
  if (lane == 0) trace_mark(kTraceLookUp, segment_begin);
  const auto lead =
      static_cast<std::uint32_t>(min(block.history_bytes + begin, std::uint64_t{kMaxRecordOffset}));
  const HashedRun<> run{block.d_block + begin - lead, static_cast<std::uint32_t>(lead + (end - begin)),
                        lead + (block.block_bytes - begin)};
  std::uint16_t* run_links = links.of_block(block) + begin - lead;

  clear_heads(sh_heads, hash_bits, lane);
  enter_unlinked(sh_heads, run, lead, lane, hash_bits);

  if (group_positions == 32) {
    std::uint32_t slots[kBuildSteps], distances[kBuildSteps];
    LaneWords<kBuildSteps> words;
    words.load(run, lead, lane);
    for (std::uint32_t x = lead; x < run.positions; x += kBuildGroup) {
      take_slots(words, hash_bits, slots);
      if (x + kBuildGroup <= run.positions && run.inside(x + 4, 2 * kBuildGroup)) {
        words.load_inside(run, x + kBuildGroup, lane);
        enter_group<true, false>(sh_heads, run, x, run.positions, lane, slots, distances);
#pragma unroll
        for (unsigned i = 0; i < kBuildSteps; ++i)
          run_links[x + i * 32 + lane] = static_cast<std::uint16_t>(distances[i]);
      } else {
        words.load(run, x + kBuildGroup, lane);
        enter_group<false, false>(sh_heads, run, x, run.positions, lane, slots, distances);
#pragma unroll
        for (unsigned i = 0; i < kBuildSteps; ++i)
          if (x + i * 32 + lane < run.positions)
            run_links[x + i * 32 + lane] = static_cast<std::uint16_t>(distances[i]);
      }
    }
    return;
  }

  LaneWords<1> word;
  for (std::uint64_t group = lead; group < run.positions; group += group_positions) {
    const auto group_begin = static_cast<std::uint32_t>(group);
    const auto group_end =
        static_cast<std::uint32_t>(min(group + group_positions, std::uint64_t{run.positions}));
    for (std::uint32_t x = group_begin + lane; x - lane < group_end; x += 32) {
      word.load(run, x - lane, lane);
      if (x >= group_end) continue;
      std::uint32_t distance = 0;
      if (run.hashed(x)) distance = (x + 1 - sh_heads[hash_word(word[0], hash_bits)]) & 0xFFFF;
      // Candidates are the run's positions before the group.
      run_links[x] = static_cast<std::uint16_t>(distance > x - group_begin && distance <= x ? distance : 0);
    }
    __syncwarp();
    for (std::uint32_t x = group_begin + lane; x - lane < group_end; x += 32) {
      word.load(run, x - lane, lane);
      const bool hashed = x < group_end && run.hashed(x);
      const std::uint32_t hash = hashed ? hash_word(word[0], hash_bits) : 1u << 31 | lane;
      const std::uint32_t peers = __match_any_sync(~0u, hash);
      if (hashed && peers >> lane == 1) sh_heads[hash] = static_cast<std::uint16_t>(x + 1);
      __syncwarp();
    }
  }
}

constexpr KernelBudget kLookUpBudget("hash_step.look_up", "look_up",
                                     {.threads = 32,
                                      .dynamic_shared_bytes = sizeof(std::uint16_t) << kMaxHashBits,
                                      .registers = 72,
                                      .shared_bytes = sizeof(std::uint16_t) << kMaxHashBits});
const KernelRegistration kLookUpRegistration(kLookUpBudget, look_up);

constexpr KernelBudget kFindBudget = find_tiles_budget("hash_step.find_tiles");
const KernelRegistration kFindRegistration(kFindBudget, tiles::find_tiles<Candidates::kStep>);
const KernelRegistration kJoinRegistration(tiles::kJoinBudget, tiles::join_segments);

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

  TileFinding finding{};
  finding.batch = batch;
  finding.links = {
      reinterpret_cast<std::uint16_t*>(static_cast<std::byte*>(d_scratch) + carries_bytes(batch)),
      batch.total_block_bytes, 0};
  finding.d_records = d_records;
  finding.d_carries = static_cast<MatchRecord*>(d_scratch);
  finding.hash_bits = parameters.hash_bits;
  finding.cap_bytes = parameters.cap_bytes;
  finding.window_bytes = kMaxRecordOffset;
  finding.stitch_reach = kHashStepStitchReach;
  finding.stitch = parameters.stitch;

  const auto shared_bytes = static_cast<int>(sizeof(std::uint16_t) << parameters.hash_bits);
  check(cudaFuncSetAttribute(look_up, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        kLookUpBudget.name.data());
  look_up<<<thread_blocks, 32, shared_bytes, stream>>>(batch, finding.links, segments_per_block(batch),
                                                       parameters.hash_bits, parameters.group_positions);
  check_launch(kLookUpBudget.name.data());
  launch_find_tiles<Candidates::kStep>(finding, kFindBudget.name.data(), stream);
}

}  // namespace hemstitch::cuda
