// Building hash chains by threads that insert in whatever order they run: founding document 003
// (docs/founding.md), kept as evidence.
//
// One table of heads for the whole input. Every position is exchanged into the head of its hash and gets a link to what
// stood there before:
//   direct  a thread a position, the atomic exchange straight away: what the document calls the original;
//   tiled   a workgroup takes a tile of input into shared memory, hashes it, sorts its positions there by the low 8 bits
//           of the hash, and then exchanges them in that order: the document's optimisation. Its 512 entries for a
//           tile of 2048 positions lose three quarters of them; here a tile has room for all of its positions, and the
//           prefix sum over the 256 buckets is a scan by all threads, not a loop of one.
// Links are in order of arrival, which nobody controls: a link may point forward, or past nearer positions with the same
// hash. A walker has to go on at a candidate at or behind its position. The exact chains to compare with are the
// product of a stable sort by hash.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"

namespace hemstitch::bench {

inline constexpr std::uint32_t kNoLink = 0xFFFFFFFF;

struct ChainInput {
  const std::byte* d_data = nullptr;
  std::uint32_t bytes = 0;
  unsigned hash_bits = 17;
  std::uint32_t* d_heads = nullptr;  // 2^hash_bits
  std::uint32_t* d_links = nullptr;  // a link a position
};

enum class Caching { kDefault, kHinted };  // kHinted: input read through __ldg, links written by __stcg

// Each clears the heads first. Positions with fewer than 4 bytes left get no link.
void insert_directly(const ChainInput& chains, Caching caching, cudaStream_t stream);
// `tile_bytes` is 1024, 2048, 4096 or 6144 (the most that 48 KB of shared memory hold).
void insert_in_tiles(const ChainInput& chains, std::uint32_t tile_bytes, Caching caching,
                     cudaStream_t stream);
// How many workgroups of a tile a multiprocessor holds.
int tiles_a_multiprocessor(std::uint32_t tile_bytes);

// Exact links: a stable sort of positions by hash. Two-phase scratch.
std::size_t exact_links_scratch_bytes(const ChainInput& chains);
void exact_links(const ChainInput& chains, void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

struct LinkOrder {
  std::uint64_t links = 0;
  std::uint64_t forward = 0;    // to a later position
  std::uint64_t not_exact = 0;  // not the link that the exact chains have (which may be none)
};

// Added to *d_order.
void judge_links(const ChainInput& chains, const std::uint32_t* d_exact, LinkOrder* d_order,
                 cudaStream_t stream);

// The best match of up to 258 bytes among the `depth` first links of each position's chain, those within `window`; ties
// to the nearer. Candidates that are no earlier position within the window count as a link followed.
void walk_chains(const ChainInput& chains, std::uint32_t depth, std::uint32_t window, MatchRecord* d_records,
                 cudaStream_t stream);

}  // namespace hemstitch::bench
