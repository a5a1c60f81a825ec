#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/shared_memory.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/stitch/find_tiles.cuh"
#include "match/stitch/link_table.cuh"

namespace hemstitch::cuda {
namespace {

// Builds the chains: for every position the distance to the one before it with the same hash.
//
// Mapping. One warp a segment of 64 KB; it first enters the window before the segment, which gives exactly the links of
// one pass over the whole block. Where there are many segments a warp takes several, and where one goes on from the other
// in memory the table stays as it is. 32 positions a step, in order, one a lane (match/common/enter_row.cuh): a lane's previous
// position is the nearest lane below it with its hash, or else the head; the highest lane of a hash becomes the head.
//
// Above depth 1 a walk also needs the links of the history. They are stored apart, unless the block continues the one before
// it (continues_previous): then that block's links serve for both, and nothing is entered twice.
//
// Heads are 16 bits: a position, plus one, modulo 65536. So a head that is 65536 positions old or older stands for a
// younger position q, and one that was never written stands for some q as well. That is harmless: if q had this hash, q
// itself would have become the head. So a link to a position of another hash is none, and the chain ends there; at depth 1
// the bytes differ anyway. A walk need not look at hashes where links are exact: in tables of no more than 65536 positions,
// and for windows of up to 32 KB, for which the table is swept of old heads before 65536 positions have passed since it
// was cleared, and then about every 32 KB.
//
// Steps do not overlap, but the words of a group of steps set out a group earlier.
//
// Shared memory: 2^hash_bits heads of 2 bytes (32 KB at 14 bits: seven warps a multiprocessor). No barrier.
// CPU twin: walk_chains in hash_chain_reference.cpp.
constexpr std::uint32_t kSweptWindowBytes = 32768;
// Two groups short of where heads would be mistaken: a group begins anywhere.
constexpr std::uint32_t kFirstSweep = 65536 - 2 * kBuildGroup;
constexpr std::uint32_t kSweepPositions = 32768 - 2 * kBuildGroup;

// Before position x enters: heads more than kSweptWindowBytes back, and those that were never written, become such as stay
// farther than that, and nearer than 65536, until the next sweep.
__device__ void sweep_heads(std::uint16_t* sh_heads, unsigned hash_bits, std::uint32_t x,
                            std::uint32_t lane) {
  auto* pairs = reinterpret_cast<std::uint32_t*>(sh_heads);
  const std::uint32_t far = (x - kSweptWindowBytes) & 0xFFFF, next = (x + 1) << 16;
  for (std::uint32_t i = lane; i < (1u << hash_bits) / 2; i += 32) {
    const std::uint32_t pair = pairs[i];
    const bool low_is_old = next - (pair << 16) > kSweptWindowBytes << 16;
    const bool high_is_old = next - (pair & 0xFFFF0000u) > kSweptWindowBytes << 16;
    pairs[i] = (low_is_old ? far : pair & 0xFFFF) | (high_is_old ? far << 16 : pair & 0xFFFF0000u);
  }
  __syncwarp();
}
static_assert((1u << kMinHashBits) / 2 % 32 == 0);

__global__ void __launch_bounds__(32)
    build_chains(DeviceBlocks batch, Links links, std::uint32_t segments_per_block,
                 std::uint32_t segments_per_warp, unsigned hash_bits, std::uint32_t window_bytes,
                 bool sweeping) {
  extern __shared__ uint4 sh_memory[];
  auto* sh_heads = reinterpret_cast<std::uint16_t*>(sh_memory);
  const std::uint32_t lane = threadIdx.x;
  const std::uint64_t segments = std::uint64_t{batch.block_count} * segments_per_block;

  HashedRun run{nullptr, 0, 0};
  std::uint32_t entered = 0;  // positions of the run that are in the table
  std::uint32_t next_sweep = 0;
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * segments_per_warp;
  for (std::uint64_t segment = begin; segment < min(begin + segments_per_warp, segments); ++segment) {
    const auto block_index = static_cast<std::uint32_t>(segment / segments_per_block);
    const auto segment_begin = static_cast<std::uint32_t>(segment % segments_per_block) * kSegmentPositions;
    const DeviceBlock block = batch.d_blocks[block_index];
    if (segment_begin >= block.block_bytes) continue;
    if (lane == 0) trace_mark(kTraceBuildChains, static_cast<std::uint32_t>(segment));

    const std::uint64_t before = std::uint64_t{block.history_bytes} + segment_begin;
    auto lead = static_cast<std::uint32_t>(min(before, std::uint64_t{window_bytes}));
    const std::uint32_t readable = block.block_bytes - segment_begin;
    const std::byte* here = block.d_block + segment_begin;
    // Links of the history are wanted above depth 1, which is where there is room for them; the first segment leaves them.
    const bool wants_lead = segment_begin == 0 && links.max_history_bytes > 0;
    const bool continues = wants_lead && continues_previous(batch, block_index, window_bytes);
    const bool keeps_lead = wants_lead && !continues;
    // The last three positions of a block have no hash in it, and have one for the block that continues it: which is the one
    // that leaves their links.
    const std::uint32_t left_before = continues ? kHashedBytes - 1 : 0;
    const bool leaves_last =
        links.max_history_bytes == 0 || !continues_previous(batch, block_index + 1, window_bytes);

    // Where the segment goes on from the run so far, its window is in the table already. Positions before its window may
    // be there too, but not where the history is shorter than the window: they would be within reach.
    const bool goes_on = run.first != nullptr && run.first + run.positions == here && !keeps_lead &&
                         (run.first == here - lead || (lead == window_bytes && run.first < here - lead));
    if (goes_on) {
      lead = run.positions;
    } else {
      run.first = here - lead;
      entered = 0;
      next_sweep = kFirstSweep;
      __syncwarp();
      clear_heads(sh_heads, hash_bits, lane);
    }
    run.positions = lead + min(readable, kSegmentPositions);
    run.readable = std::uint64_t{lead} + readable;
    std::uint16_t* lead_links = keeps_lead ? links.of_history(block_index) - lead : nullptr;
    std::uint16_t* segment_links = links.of_block(block) + segment_begin - lead;

    LaneWords<kBuildSteps> words, next_words;
    std::uint32_t distances[kBuildSteps];
    words.load(run, entered, lane);
    for (std::uint32_t group = entered; group < run.positions; group += kBuildGroup) {
      if (sweeping && group >= next_sweep) {
        sweep_heads(sh_heads, hash_bits, group, lane);
        next_sweep = group + kSweepPositions;
      }
      const bool in_lead = group + kBuildGroup + left_before <= lead;
      if ((in_lead || group >= lead) && group + kBuildGroup <= run.positions &&
          run.inside(group + 4, 2 * kBuildGroup)) {
        next_words.load_inside(run, group + kBuildGroup, lane);
        enter_group<true, true>(sh_heads, run, group, run.positions, lane, hash_bits, words, distances);
        std::uint16_t* links_here = in_lead ? lead_links : segment_links;
        if (links_here != nullptr)
#pragma unroll
          for (unsigned i = 0; i < kBuildSteps; ++i)
            links_here[group + i * 32 + lane] = static_cast<std::uint16_t>(distances[i]);
      } else {
        next_words.load(run, group + kBuildGroup, lane);
        enter_group<false, true>(sh_heads, run, group, run.positions, lane, hash_bits, words, distances);
#pragma unroll
        for (unsigned i = 0; i < kBuildSteps; ++i) {
          const std::uint32_t x = group + i * 32 + lane;
          if (x + left_before >= lead && x < run.positions) {
            if (leaves_last || run.hashed(x)) segment_links[x] = static_cast<std::uint16_t>(distances[i]);
          } else if (x < lead && lead_links != nullptr) {
            lead_links[x] = static_cast<std::uint16_t>(distances[i]);
          }
        }
      }
      words = next_words;
    }
    // The last three positions of a block have no hash in it, and have one for the block behind it.
    entered = static_cast<std::uint32_t>(min(
        std::uint64_t{run.positions}, run.readable < kHashedBytes ? 0 : run.readable - (kHashedBytes - 1)));
  }
}

constexpr KernelBudget kBuildBudget("hash_chain.build", "build_chains",
                                    {.threads = 32,
                                     .dynamic_shared_bytes = sizeof(std::uint16_t) << kMaxHashBits,
                                     .registers = 72,
                                     .shared_bytes = sizeof(std::uint16_t) << kMaxHashBits});
const KernelRegistration kBuildRegistration(kBuildBudget, build_chains);

constexpr KernelBudget kFindBudget = find_tiles_budget("hash_chain.find_tiles");
// One thread block a multiprocessor, so it may have the registers of two.
constexpr KernelBudget kFarFindBudget = find_tiles_budget("hash_chain.find_tiles_far", 96);
const KernelRegistration kNearestRegistration(kFindBudget, tiles::find_tiles<Candidates::kNearest>);
const KernelRegistration kRingRegistration(kFindBudget, tiles::find_tiles<Candidates::kChain, true, true>);
const KernelRegistration kRingInexactRegistration(kFarFindBudget,
                                                  tiles::find_tiles<Candidates::kChain, true, false>);
const KernelRegistration kFarRegistration(kFindBudget, tiles::find_tiles<Candidates::kChain, false, false>);
const KernelRegistration kJoinRegistration(tiles::kJoinBudget, tiles::join_segments);

// Whether every link within the window is one: positions never pass 65536 in one warp's table, or it is swept.
bool links_are_exact(const DeviceBlocks& batch, const HashChainParameters& parameters) {
  if (parameters.window_bytes <= kSweptWindowBytes) return true;
  const std::uint32_t lead =
      batch.max_history_bytes < parameters.window_bytes ? batch.max_history_bytes : parameters.window_bytes;
  return segments_per_block(batch) <= 1 && std::uint64_t{lead} + batch.max_block_bytes <= 65536;
}

struct Scratch {
  std::uint64_t carries_bytes;
  std::uint64_t links_bytes;
  std::uint32_t kept_history_bytes;  // positions of each history whose links are kept

  Scratch(const DeviceBlocks& batch, const HashChainParameters& parameters)
      : carries_bytes(std::uint64_t{batch.block_count} * segments_per_block(batch) * sizeof(MatchRecord)),
        kept_history_bytes(parameters.depth > 1 ? batch.max_history_bytes : 0) {
    links_bytes = (batch.total_block_bytes + std::uint64_t{batch.block_count} * kept_history_bytes) *
                  sizeof(std::uint16_t);
  }
  std::size_t bytes() const { return carries_bytes + links_bytes; }

  MatchRecord* carries(void* d_scratch) const { return static_cast<MatchRecord*>(d_scratch); }
  Links links(void* d_scratch, const DeviceBlocks& batch) const {
    return {reinterpret_cast<std::uint16_t*>(static_cast<std::byte*>(d_scratch) + carries_bytes),
            batch.total_block_bytes, kept_history_bytes};
  }
};

}  // namespace

std::size_t find_hash_chain_cuda_scratch_bytes(const DeviceBlocks& batch,
                                               const HashChainParameters& parameters) {
  check_hash_chain_parameters(parameters);
  return Scratch(batch, parameters).bytes();
}

void build_hash_chains_cuda(const DeviceBlocks& batch, const HashChainParameters& parameters, void* d_scratch,
                            std::size_t scratch_bytes, cudaStream_t stream) {
  check_hash_chain_parameters(parameters);
  const Scratch scratch(batch, parameters);
  check_scratch("hash_chain", scratch_bytes, scratch.bytes());
  const std::uint64_t segments = std::uint64_t{batch.block_count} * segments_per_block(batch);
  if (segments == 0) return;
  // Several segments a warp spare it the windows before them, as long as there are warps enough.
  std::uint32_t segments_per_warp = 1;
  const bool have_windows = segments_per_block(batch) > 1 || batch.max_history_bytes != 0;
  while (have_windows && segments_per_warp < kMostSegmentsPerWarp &&
         segments / (2 * segments_per_warp) >= kLeastWarps)
    segments_per_warp *= 2;
  const auto shared_bytes = static_cast<int>(sizeof(std::uint16_t) << parameters.hash_bits);
  check(cudaFuncSetAttribute(build_chains, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        kBuildBudget.name.data());
  build_chains<<<static_cast<unsigned>((segments + segments_per_warp - 1) / segments_per_warp), 32,
                 shared_bytes, stream>>>(
      batch, scratch.links(d_scratch, batch), segments_per_block(batch), segments_per_warp,
      parameters.hash_bits, parameters.window_bytes,
      parameters.depth > 1 && parameters.window_bytes <= kSweptWindowBytes);
  check_launch(kBuildBudget.name.data());
}

const std::uint16_t* hash_chain_links(const DeviceBlocks& batch, const HashChainParameters& parameters,
                                      void* d_scratch) {
  return Scratch(batch, parameters).links(d_scratch, batch).d_links;
}

void find_hash_chain_cuda(const DeviceBlocks& batch, const HashChainParameters& parameters,
                          MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream) {
  build_hash_chains_cuda(batch, parameters, d_scratch, scratch_bytes, stream);
  const Scratch scratch(batch, parameters);
  TileSearch search{};
  search.batch = batch;
  search.links = scratch.links(d_scratch, batch);
  search.d_records = d_records;
  search.d_carries = scratch.carries(d_scratch);
  search.hash_bits = parameters.hash_bits;
  search.depth = parameters.depth;
  search.cap_bytes = parameters.cap_bytes;
  search.window_bytes = parameters.window_bytes;
  search.stitch_reach = parameters.stitch_reach;
  search.stitch = parameters.stitch;
  const char* const name = kFindBudget.name.data();
  const bool exact_links = links_are_exact(batch, parameters);
  const std::uint32_t ring_links_bytes =
      tiles::shared_bytes(ring_positions(batch, parameters.window_bytes), true) +
      sizeof(tiles::TileState<kHashChainMostStitchReach>);
  const bool ring_links =
      ring_links_bytes <= most_shared_bytes() &&
      (parameters.window_bytes <= kRingLinksWindowBytes || parameters.depth >= kRingLinksDepth);
  if (parameters.depth == 1)
    launch_find_tiles<Candidates::kNearest>(search, name, stream);
  else if (exact_links && ring_links)
    launch_find_tiles<Candidates::kChain, true, true>(search, name, stream);
  else if (ring_links)
    launch_find_tiles<Candidates::kChain, true, false>(search, kFarFindBudget.name.data(), stream);
  else
    launch_find_tiles<Candidates::kChain, false, false>(search, name, stream);
}

}  // namespace hemstitch::cuda
