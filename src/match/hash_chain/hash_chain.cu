#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/shared_memory.hpp"
#include "match/hash_chain/choose_widths.cuh"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/stitch/build_chains.cuh"
#include "match/stitch/find_tiles.cuh"

namespace hemstitch::cuda {
namespace {

constexpr KernelBudget kBuildBudget = build_chains_budget("hash_chain.build", "build_chains<4>");
const KernelRegistration kBuildRegistration(kBuildBudget, build_chains<kHashedBytes>);

constexpr KernelBudget kBuildWideBudget = build_chains_budget("hash_chain.build_wide", "build_chains<8>", 80);
const KernelRegistration kBuildWideRegistration(kBuildWideBudget, build_chains<kVaryingBytes>);
const KernelRegistration kChooseRegistration(kChooseWidthsBudget, choose_widths);

constexpr KernelBudget kFindBudget = find_tiles_budget("hash_chain.find_tiles");
// One thread block a multiprocessor, so it may have the registers of two.
constexpr KernelBudget kFarFindBudget =
    find_tiles_budget("hash_chain.find_tiles_far", "find_tiles<(cuda::Candidates)1, true, false, 64>", 96);
const KernelRegistration kNearestRegistration(kFindBudget, tiles::find_tiles<Candidates::kNearest>);
const KernelRegistration kRingRegistration(kFindBudget, tiles::find_tiles<Candidates::kChain, true, true>);
const KernelRegistration kRingDeepRegistration(
    kFindBudget, tiles::find_tiles<Candidates::kChain, true, true, kDeepNearBytes>);
const KernelRegistration kRingInexactRegistration(kFarFindBudget,
                                                  tiles::find_tiles<Candidates::kChain, true, false>);
const KernelRegistration kFarRegistration(kFindBudget, tiles::find_tiles<Candidates::kChain, false, false>);
const KernelRegistration kJoinRegistration(tiles::kJoinBudget, tiles::join_segments);

// Whether every link within the window is valid: positions in one warp's table never pass 65536, or the table is swept.
bool links_are_exact(const DeviceBlocks& batch, const HashChainParameters& parameters) {
  if (parameters.window_bytes <= kSweptWindowBytes) return true;
  const std::uint32_t lead =
      batch.max_history_bytes < parameters.window_bytes ? batch.max_history_bytes : parameters.window_bytes;
  return segments_per_block(batch) <= 1 && std::uint64_t{lead} + batch.max_block_bytes <= 65536;
}

// Whether blocks of the batch may differ in their hash width.
bool chooses_widths(const DeviceBlocks& batch, const HashChainParameters& parameters) {
  return parameters.few_values_hash_bytes != 0 && batch.max_block_bytes >= kLeastSampledBlockBytes;
}

struct Scratch {
  std::uint64_t carries_bytes;
  std::uint64_t links_bytes;
  std::uint64_t widths_bytes;
  std::uint32_t kept_history_bytes;  // positions of each history whose links are kept
  std::uint32_t hash_bytes;

  Scratch(const DeviceBlocks& batch, const HashChainParameters& parameters)
      : carries_bytes(std::uint64_t{batch.block_count} * segments_per_block(batch) * sizeof(MatchRecord)),
        widths_bytes(chooses_widths(batch, parameters) ? batch.block_count : 0),
        kept_history_bytes(parameters.depth > 1 ? batch.max_history_bytes : 0),
        hash_bytes(parameters.hash_bytes) {
    links_bytes = (batch.total_block_bytes + std::uint64_t{batch.block_count} * kept_history_bytes) *
                  sizeof(std::uint16_t);
  }
  std::size_t bytes() const { return carries_bytes + links_bytes + widths_bytes; }

  MatchRecord* carries(void* d_scratch) const { return static_cast<MatchRecord*>(d_scratch); }
  Links links(void* d_scratch, const DeviceBlocks& batch) const {
    return {reinterpret_cast<std::uint16_t*>(static_cast<std::byte*>(d_scratch) + carries_bytes),
            batch.total_block_bytes, kept_history_bytes};
  }
  // nullptr if all blocks have the same width.
  std::uint8_t* chosen_widths(void* d_scratch) const {
    if (widths_bytes == 0) return nullptr;
    return static_cast<std::uint8_t*>(d_scratch) + carries_bytes + links_bytes;
  }
  HashWidths widths(void* d_scratch) const { return {chosen_widths(d_scratch), hash_bytes}; }
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
  const bool chooses = chooses_widths(batch, parameters);
  if (chooses)
    launch(
        {.kernel = kChooseWidthsBudget, .grid = batch.block_count, .stream = stream, .work = work_of(batch)},
        choose_widths, batch, parameters.hash_bytes, parameters.few_values_hash_bytes,
        scratch.chosen_widths(d_scratch));
  const Links links = scratch.links(d_scratch, batch);
  const HashWidths widths = scratch.widths(d_scratch);
  const bool sweeping = parameters.depth > 1 && parameters.window_bytes <= kSweptWindowBytes;
  if (chooses || parameters.hash_bytes == kHashedBytes)
    launch_build_chains<kHashedBytes>(batch, links, parameters.hash_bits, parameters.window_bytes, sweeping,
                                      widths, kBuildBudget.name.data(), stream);
  if (chooses || parameters.hash_bytes > kHashedBytes)
    launch_build_chains<kVaryingBytes>(batch, links, parameters.hash_bits, parameters.window_bytes, sweeping,
                                       widths, kBuildWideBudget.name.data(), stream);
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
  TileFinding finding{};
  finding.batch = batch;
  finding.links = scratch.links(d_scratch, batch);
  finding.widths = scratch.widths(d_scratch);
  finding.d_records = d_records;
  finding.d_carries = scratch.carries(d_scratch);
  finding.hash_bits = parameters.hash_bits;
  finding.depth = parameters.depth;
  finding.cap_bytes = parameters.cap_bytes;
  finding.window_bytes = parameters.window_bytes;
  finding.stitch_reach = parameters.stitch_reach;
  finding.stitch = parameters.stitch;
  const char* const name = kFindBudget.name.data();
  const bool exact_links = links_are_exact(batch, parameters);
  // Includes the most bytes that a comparison may read of the ring.
  const std::uint32_t ring_links_bytes =
      tiles::shared_bytes<kDeepNearBytes>(ring_positions<kDeepNearBytes>(batch, parameters.window_bytes),
                                          true) +
      sizeof(tiles::TileState);
  const bool ring_links =
      ring_links_bytes <= most_shared_bytes() &&
      (parameters.window_bytes <= kRingLinksWindowBytes || parameters.depth >= kRingLinksDepth);
  if (parameters.depth == 1)
    launch_find_tiles<Candidates::kNearest>(finding, name, stream);
  else if (exact_links && ring_links && parameters.cap_bytes > kNearBytes)
    launch_find_tiles<Candidates::kChain, true, true, kDeepNearBytes>(finding, name, stream);
  else if (exact_links && ring_links)
    launch_find_tiles<Candidates::kChain, true, true>(finding, name, stream);
  else if (ring_links)
    launch_find_tiles<Candidates::kChain, true, false>(finding, kFarFindBudget.name.data(), stream);
  else
    launch_find_tiles<Candidates::kChain, false, false>(finding, name, stream);
}

}  // namespace hemstitch::cuda
