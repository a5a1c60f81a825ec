#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/stitch/find_tiles.cuh"
#include "match/stitch/link_table.cuh"

namespace hemstitch::cuda {
namespace {

// Builds the chains: for every position the distance to the one before it with the same hash.
//
// Mapping. One warp a segment of 64 KB; it first enters the window before the segment, which gives exactly the links of
// one pass over the whole block. 32 positions a step, in order: lanes with equal hashes find each other by match_any; a
// lane's previous position is the nearest such lane below it, or else the head; the highest lane of a class becomes the
// head.
//
// Heads are 16 bits: a position, plus one, modulo 65536. So a head that is 65536 positions old or older stands for a
// younger position q, and one that was never written stands for some q as well. Neither needs to be told here: if q had
// this hash, q itself would have become the head. The walk compares hashes and ends at the first that differs, so the
// table need not be swept, whatever the window.
//
// Memory of one warp's lanes is in order: the loads of heads of the next step do not wait for those of this one, only
// stand behind its stores. So the steps of a group overlap, and the warp waits for nothing but its next words, which set
// out a group earlier.
//
// Shared memory: 2^hash_bits heads of 2 bytes (32 KB at 14 bits: seven warps a multiprocessor). No barrier.
// CPU twin: walk_chains in hash_chain_reference.cpp.
__global__ void __launch_bounds__(32)
    build_chains(DeviceBlocks batch, Links links, std::uint32_t segments_per_block, unsigned hash_bits,
                 std::uint32_t window_bytes) {
  constexpr unsigned kSteps = 4;
  extern __shared__ uint4 sh_memory[];
  auto* sh_heads = reinterpret_cast<std::uint16_t*>(sh_memory);
  const std::uint32_t lane = threadIdx.x;
  const std::uint32_t block_index = blockIdx.x / segments_per_block;
  const std::uint32_t segment_begin = blockIdx.x % segments_per_block * kSegmentPositions;
  const DeviceBlock block = batch.d_blocks[block_index];
  if (segment_begin >= block.block_bytes) return;

  const std::uint64_t before = std::uint64_t{block.history_bytes} + segment_begin;
  const auto lead = static_cast<std::uint32_t>(min(before, std::uint64_t{window_bytes}));
  const std::uint32_t readable = block.block_bytes - segment_begin;
  const HashedRun run{block.d_block + segment_begin - lead, lead + min(readable, kSegmentPositions),
                      std::uint64_t{lead} + readable};
  // Links of the history: only the first segment leaves them, and only where there is room (above depth 1).
  std::uint16_t* lead_links =
      segment_begin == 0 && links.max_history_bytes > 0 ? links.of_history(block_index) - lead : nullptr;
  std::uint16_t* segment_links = links.of_block(block) + segment_begin - lead;

  clear_heads(sh_heads, hash_bits, lane);
  const std::uint32_t lanes_below = (1u << lane) - 1;
  std::uint32_t words[kSteps], next_words[kSteps];
  run.load_words(0, lane, words);
  for (std::uint32_t group = 0; group < run.positions; group += kSteps * 32) {
    run.load_words(group + kSteps * 32, lane, next_words);
    std::uint32_t hashes[kSteps], peers[kSteps], distances[kSteps];
#pragma unroll
    for (unsigned i = 0; i < kSteps; ++i) {
      const std::uint32_t x = group + i * 32 + lane;
      // A position without a hash is alone in a class of its own.
      hashes[i] = run.hashed(x) ? hash_word(words[i], hash_bits) : 1u << 31 | lane;
      peers[i] = __match_any_sync(~0u, hashes[i]);
    }
#pragma unroll
    for (unsigned i = 0; i < kSteps; ++i) {
      const std::uint32_t x = group + i * 32 + lane;
      const bool hashed = hashes[i] >> 31 == 0;
      std::uint32_t head = x + 1;  // a distance of 0
      if (hashed) head = sh_heads[hashes[i]];
      __syncwarp();
      if (hashed && peers[i] >> lane == 1) sh_heads[hashes[i]] = static_cast<std::uint16_t>(x + 1);
      __syncwarp();
      const std::uint32_t below = peers[i] & lanes_below;
      distances[i] = (x + 1 - head) & 0xFFFF;
      if (distances[i] > x) distances[i] = 0;  // before the first position
      if (below != 0) distances[i] = lane - (31 - __clz(below));
    }
#pragma unroll
    for (unsigned i = 0; i < kSteps; ++i) {
      const std::uint32_t x = group + i * 32 + lane;
      if (x < run.positions) {
        if (x >= lead)
          segment_links[x] = static_cast<std::uint16_t>(distances[i]);
        else if (lead_links != nullptr)
          lead_links[x] = static_cast<std::uint16_t>(distances[i]);
      }
      words[i] = next_words[i];
    }
  }
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
  const std::uint32_t thread_blocks = batch.block_count * segments_per_block(batch);
  if (thread_blocks == 0) return;
  const auto shared_bytes = static_cast<int>(sizeof(std::uint16_t) << parameters.hash_bits);
  check(cudaFuncSetAttribute(build_chains, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "hash_chain.build_chains");
  build_chains<<<thread_blocks, 32, shared_bytes, stream>>>(batch, scratch.links(d_scratch, batch),
                                                            segments_per_block(batch), parameters.hash_bits,
                                                            parameters.window_bytes);
  check_launch("hash_chain.build_chains");
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
  search.stitch = parameters.stitch;
  if (parameters.depth == 1)
    launch_find_tiles<Candidates::kNearest>(search, "hash_chain.find_tiles", stream);
  else
    launch_find_tiles<Candidates::kChain>(search, "hash_chain.find_tiles", stream);
}

}  // namespace hemstitch::cuda
