// Level 1 on blocks of any size without history, tile by tile (lz4_one_pass_tile.cuh). Candidates are found before, as chains
// of depth 1 (match/stitch/build_chains.cuh). Then:
//
//   list_tiles      a thread block a tile: the matches that are taken, in lists, a list a segment
//   join_tiles      a thread block a block: tiles that began to walk from another state than the tile before left are listed
//                   again, in order; what is longer than a record can hold becomes one match (lz4_encode.hpp, "Joining").
//                   Not where blocks have one tile
//   count_tiles     a thread block a tile: the bytes of each segment's sequences
//   place_segments  a thread block a block: where each segment's sequences begin, whether the block fits or is stored
//   write_tiles     a thread block a tile: the bytes, to where they stay
//
// Synchronisation: within a thread block. Work: O(1) a byte, except for tiles that are listed again. The twins are those of the
// rows, and lz4_encode_reference.cpp.
#include <cub/block/block_scan.cuh>

#include "compact/scan/scan_cuda.hpp"
#include "format/lz4/block/lz4_copy.cuh"
#include "format/lz4/compress/lz4_one_pass_cuda.hpp"
#include "format/lz4/compress/lz4_one_pass_tile.cuh"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/shared_memory.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = kTileWarps * 32;
constexpr unsigned kTileHashBits = hash_chain_fast_bits(kTileBytes);
static_assert(kHashChainFastCapBytes == kOnePassCapBytes);

// A thread block's tile.
struct TilePlace {
  std::uint32_t block_index, tile;
  __device__ explicit TilePlace(std::uint32_t tiles_per_block)
      : block_index(blockIdx.x / tiles_per_block), tile(blockIdx.x % tiles_per_block) {}
};

template <bool kAlone>
__global__ void __launch_bounds__(kThreads, kTilesResident)
    list_tiles(DeviceBlocks blocks, std::uint32_t tiles_per_block, const std::uint16_t* d_links,
               Tiles tiles) {
  extern __shared__ uint4 sh_memory[];
  const TilePlace at(tiles_per_block);
  const DeviceBlock* const block = blocks.d_blocks + at.block_index;
  if (at.tile >= tiles_of(block->block_bytes)) return;
  const unsigned warp = warp_number();
  TilePass<kAlone> pass(*reinterpret_cast<TileShared*>(sh_memory), block, at.tile, d_links + block->position,
                        tiles.list_of(*block, at.block_index, at.tile, warp), warp, threadIdx.x % 32);
  pass.list_matches(tiles.of(*block, at.block_index) + at.tile);
}

// Joins the matches of a block's segments, one after the other, by one thread: a match that only continues the one before it passes
// its length to that one and has none then.
class MatchJoiner {
 public:
  __device__ void join(TileMatch* list, std::uint32_t matches) {
    for (std::uint32_t i = 0; i < matches; ++i) {
      const TileMatch match = list[i];
      if (head_ != nullptr && match.begin() == head_->end() && match.code() == head_->code()) {
        *head_ = TileMatch(head_->begin(), match.end(), match.code());
        list[i] = TileMatch(match.end(), match.end(), match.code());
      } else {
        head_ = list + i;
      }
    }
  }

 private:
  TileMatch* head_ = nullptr;
};

// Fewer of these thread blocks at once than of those that list first: there are few, and they use more registers.
__global__ void __launch_bounds__(kThreads, kTilesResident - 1)
    join_tiles(DeviceBlocks blocks, const std::uint16_t* d_links, Tiles tiles) {
  extern __shared__ uint4 sh_memory[];
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ Scan::TempStorage sh_scan;
  const unsigned warp = warp_number(), lane = threadIdx.x % 32;
  const DeviceBlock* const block = blocks.d_blocks + blockIdx.x;
  Tile* const first = tiles.of(*block, blockIdx.x);
  const std::uint32_t count = tiles_of(block->block_bytes);

  // In order, from the first tile that must be listed again; few must.
  for (std::uint32_t begin = 1; begin < count; begin += kThreads) {
    const std::uint32_t own = begin + threadIdx.x;
    const auto differs = [&](std::uint32_t tile) {
      return !(first[tile].entered == first[tile - 1].segments[kTileWarps - 1].left);
    };
    if (__syncthreads_or(own < count && differs(own) ? 1 : 0) == 0) continue;
    for (std::uint32_t tile = begin; tile < min(begin + kThreads, count); ++tile) {
      if (differs(tile)) {
        TilePass<false> pass(*reinterpret_cast<TileShared*>(sh_memory), block, tile,
                             d_links + block->position, tiles.list_of(*block, blockIdx.x, tile, warp), warp,
                             lane);
        pass.list_matches_again(first + tile, first[tile - 1].segments[kTileWarps - 1].left);
      }
      __syncthreads();  // for the next tile's state, and the text's room
    }
  }

  bool cut = false;
  for (std::uint32_t tile = threadIdx.x; tile < count; tile += kThreads) cut |= first[tile].cut != 0;
  if (__syncthreads_or(cut ? 1 : 0) != 0) {
    if (threadIdx.x == 0) {
      MatchJoiner joiner;
      for (std::uint32_t tile = 0; tile < count; ++tile)
        for (unsigned segment = 0; segment < kTileWarps; ++segment)
          joiner.join(tiles.list_of(*block, blockIdx.x, tile, segment),
                      first[tile].segments[segment].matches);
    }
    __syncthreads();
  }

  // Where the literals begin that precede the tile's first match.
  std::uint32_t before = 0;
  for (std::uint32_t begin = 0; begin < count; begin += kThreads) {
    const std::uint32_t own = begin + threadIdx.x;
    std::uint32_t end = 0;
    if (own < count)
      for (const Tile::Segment& segment : first[own].segments) end = max(end, segment.matches_end);
    std::uint32_t ends_before, last_end;
    const auto later = [](std::uint32_t a, std::uint32_t b) { return max(a, b); };
    Scan(sh_scan).ExclusiveScan(end, ends_before, before, later, last_end);
    if (own < count) first[own].literals_begin = ends_before;
    before = max(before, last_end);
    __syncthreads();
  }
}

// A block's text where sequences are written: in device memory.
class BlockText {
 public:
  static constexpr bool kPage = false;
  static constexpr std::uint32_t kStageBytes = kSegmentStageBytes;
  static constexpr unsigned kListed = 1;  // nothing is listed here

  __device__ explicit BlockText(const DeviceBlock& block) : text_(block) {}
  __device__ __forceinline__ std::uint32_t bytes() const { return text_.end() - text_.block(); }
  __device__ __forceinline__ std::uint32_t word(std::uint32_t position) const {
    return text_.word(text_.block() + position);
  }
  __device__ __forceinline__ std::byte byte(std::uint32_t position) const {
    return text_.byte(text_.block() + position);
  }

 private:
  DeviceText text_;
};

// A segment's sequences from its list, by a warp.
class SegmentWriter : RowWriter<BlockText> {
 public:
  using Shared = RowWriter<BlockText>::Shared;

  // `last`: this segment also has the block's last literals.
  __device__ SegmentWriter(Shared& sh, const DeviceBlock& block, const Tile& tile, unsigned segment,
                           bool last, const TileMatch* list, unsigned lane)
      : RowWriter(sh, BlockText(block), lane),
        list_(list),
        matches_(tile.segments[segment].matches),
        last_(last) {
    literals_begin_ = tile.literals_begin;
    for (unsigned before = 0; before < segment; ++before)
      literals_begin_ = max(literals_begin_, tile.segments[before].matches_end);
  }

  // The number of bytes of the sequences.
  __device__ std::uint32_t count() {
    std::uint32_t bytes = 0;
    for (std::uint32_t first = 0; first < sequences(); first += 32) {
      const Listed listed = listed_at(first);
      bytes += sequence(listed.match, listed.matches, listed.last).bytes;
    }
    return sum_over_warp(bytes);
  }
  __device__ void write(std::byte* to) {
    for (std::uint32_t first = 0; first < sequences(); first += 32) {
      const Listed listed = listed_at(first);
      const Group group = place(listed.match, listed.matches, listed.last);
      RowWriter::write(group, to);
      to += group.bytes;
    }
  }

 private:
  __device__ std::uint32_t sequences() const { return matches_ + (last_ ? 1 : 0); }
  // The lane's match of up to 32, their number, and whether the block's last literals follow them.
  struct Listed {
    ListedMatch match;
    std::uint32_t matches;
    bool last;
  };
  __device__ __forceinline__ Listed listed_at(std::uint32_t first) const {
    const std::uint32_t matches = min(matches_ - first, 32u);
    ListedMatch match{};
    if (lane_ < matches) {
      const TileMatch listed = list_[first + lane_];
      match = {listed.begin(), listed.end() - listed.begin(), kMostOffset - listed.code()};
    }
    return {match, matches, last_ && matches < 32};
  }

  const TileMatch* list_;
  std::uint32_t matches_;
  bool last_;
};

__device__ bool is_last(const DeviceBlock& block, std::uint32_t tile, unsigned segment) {
  return segment == kTileWarps - 1 && tile + 1 == tiles_of(block.block_bytes);
}

__global__ void __launch_bounds__(kThreads)
    count_tiles(DeviceBlocks blocks, std::uint32_t tiles_per_block, Tiles tiles) {
  __shared__ SegmentWriter::Shared sh[kTileWarps];
  const TilePlace at(tiles_per_block);
  const DeviceBlock block = blocks.d_blocks[at.block_index];
  if (at.tile >= tiles_of(block.block_bytes)) return;
  const unsigned warp = warp_number(), lane = threadIdx.x % 32;
  Tile& tile = tiles.of(block, at.block_index)[at.tile];
  SegmentWriter writer(sh[warp], block, tile, warp, is_last(block, at.tile, warp),
                       tiles.list_of(block, at.block_index, at.tile, warp), lane);
  const std::uint32_t bytes = writer.count();
  if (lane == 0) tile.segments[warp].bytes = bytes;
}

// Where blocks go, each to room of its own.
struct ToOutputs {
  DeviceLz4Output output;

  // By one thread, when the size of a block is known.
  __device__ void sized(const DeviceBlock&, std::uint32_t index, std::uint32_t bytes) const {
    leave_result(output, index, bytes, bytes <= output.d_capacities[index]);
  }
  // Null if the block is not written.
  __device__ std::byte* target(std::uint32_t index) const {
    return output.d_statuses[index] == HEMSTITCH_OK ? output.d_outputs[index] : nullptr;
  }
  __device__ void leave_status(std::uint32_t) const {}
  __device__ bool is_stored(std::uint32_t) const { return false; }
};

// Where blocks go one after the other. A block that would grow is stored.
struct ToSpan {
  DeviceSpan span;
  std::uint32_t* d_rooms;

  __device__ void sized(const DeviceBlock& block, std::uint32_t index, std::uint32_t bytes) const {
    const bool stored = bytes >= block.block_bytes;
    const std::uint32_t size = stored ? block.block_bytes : bytes;
    span.d_sizes[index] = stored ? size | kStoredBit : size;
    d_rooms[index] = span.lead_bytes + size + span.trail_bytes;
  }
  __device__ bool fits(std::uint32_t index) const { return span.d_offsets[index + 1] <= span.capacity_bytes; }
  __device__ std::byte* target(std::uint32_t index) const {
    return fits(index) ? span.d_span + span.d_offsets[index] + span.lead_bytes : nullptr;
  }
  __device__ void leave_status(std::uint32_t index) const {
    span.d_statuses[index] = fits(index) ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
  }
  __device__ bool is_stored(std::uint32_t index) const { return (span.d_sizes[index] & kStoredBit) != 0; }
};

template <class To>
__global__ void __launch_bounds__(kThreads) place_segments(DeviceBlocks blocks, Tiles tiles, To to) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ Scan::TempStorage sh_scan;
  const DeviceBlock block = blocks.d_blocks[blockIdx.x];
  Tile* const first = tiles.of(block, blockIdx.x);
  const std::uint32_t count = tiles_of(block.block_bytes) * kTileWarps;
  std::uint32_t written = 0;
  for (std::uint32_t begin = 0; begin < count; begin += kThreads) {
    const std::uint32_t own = begin + threadIdx.x;
    Tile::Segment* const segment =
        own < count ? &first[own / kTileWarps].segments[own % kTileWarps] : nullptr;
    std::uint32_t at, bytes;
    Scan(sh_scan).ExclusiveSum(segment != nullptr ? segment->bytes : 0, at, bytes);
    if (segment != nullptr) segment->at = written + at;
    written += bytes;
    __syncthreads();
  }
  if (threadIdx.x == 0) to.sized(block, blockIdx.x, written);
}

template <class To>
__global__ void __launch_bounds__(kThreads, kWritersResident)
    write_tiles(DeviceBlocks blocks, std::uint32_t tiles_per_block, Tiles tiles, To to) {
  __shared__ SegmentWriter::Shared sh[kTileWarps];
  const TilePlace at(tiles_per_block);
  const DeviceBlock block = blocks.d_blocks[at.block_index];
  if (at.tile >= tiles_of(block.block_bytes)) return;
  if (at.tile == 0 && threadIdx.x == 0) to.leave_status(at.block_index);
  std::byte* const target = to.target(at.block_index);
  if (target == nullptr) return;
  if (to.is_stored(at.block_index)) {
    const std::uint32_t begin = at.tile * kTileBytes;
    copy_bytes(target + begin, block.d_block + begin, min(kTileBytes, block.block_bytes - begin),
               block.d_block, block.d_block + block.block_bytes, threadIdx.x, kThreads);
    return;
  }
  const unsigned warp = warp_number(), lane = threadIdx.x % 32;
  if (lane == 0) trace_mark(kTraceWriteSegment, at.tile * kTileBytes + warp * kSegmentBytes);
  const Tile& tile = tiles.of(block, at.block_index)[at.tile];
  SegmentWriter writer(sh[warp], block, tile, warp, is_last(block, at.tile, warp),
                       tiles.list_of(block, at.block_index, at.tile, warp), lane);
  writer.write(target + tile.segments[warp].at);
}

constexpr auto kTileSharedBytes = static_cast<std::uint32_t>(sizeof(TileShared));
constexpr KernelLimits kListLimits{.threads = kThreads,
                                   .dynamic_shared_bytes = kTileSharedBytes,
                                   .registers = 64,
                                   .shared_bytes = kTileSharedBytes + 2048};
constexpr KernelLimits kWriteLimits{.threads = kThreads, .registers = 64, .shared_bytes = 16 * 1024};
constexpr KernelBudget kListBudget("lz4.list_tiles", "list_tiles", kListLimits);
constexpr KernelBudget kJoinBudget("lz4.join_tiles", "join_tiles",
                                   {.threads = kThreads,
                                    .dynamic_shared_bytes = kTileSharedBytes,
                                    .registers = 96,
                                    .shared_bytes = kTileSharedBytes + 2048});
constexpr KernelBudget kCountBudget("lz4.count_tiles", "count_tiles", kWriteLimits);
constexpr KernelBudget kPlaceBudget("lz4.place_segments", "place_segments", kWriteLimits);
constexpr KernelBudget kWriteBudget("lz4.write_tiles", "write_tiles", kWriteLimits);
const KernelRegistration kListRegistration(kListBudget, list_tiles<false>);
const KernelRegistration kListAloneRegistration(kListBudget, list_tiles<true>);
const KernelRegistration kJoinRegistration(kJoinBudget, join_tiles);
const KernelRegistration kCountRegistration(kCountBudget, count_tiles);
const KernelRegistration kPlaceRegistration(kPlaceBudget, place_segments<ToOutputs>);
const KernelRegistration kPlaceSpanRegistration(kPlaceBudget, place_segments<ToSpan>);
const KernelRegistration kWriteRegistration(kWriteBudget, write_tiles<ToOutputs>);
const KernelRegistration kWriteSpanRegistration(kWriteBudget, write_tiles<ToSpan>);

// What stands between the kernels.
struct TileScratch {
  Carver carver;
  Tiles tiles;
  std::uint32_t* d_rooms;
  std::size_t chains_bytes, scan_bytes;
  std::byte *d_chains, *d_scan;

  TileScratch(const DeviceBlocks& blocks, const HashChainParameters& chain, void* d_scratch)
      : carver(d_scratch),
        chains_bytes(find_hash_chain_cuda_scratch_bytes(blocks, chain)),
        scan_bytes(scan_sizes_cuda_scratch_bytes(blocks.block_count)) {
    tiles.d_tiles = carver.take<Tile>(Tiles::most_tiles(blocks.total_block_bytes, blocks.block_count));
    tiles.d_matches =
        carver.take<TileMatch>(Tiles::most_matches(blocks.total_block_bytes, blocks.block_count));
    d_rooms = carver.take<std::uint32_t>(blocks.block_count);
    d_chains = carver.take<std::byte>(chains_bytes);
    d_scan = carver.take<std::byte>(scan_bytes);
  }
};

class TileWay {
 public:
  TileWay(const DeviceBlocks& blocks, const Lz4Level& level, void* d_scratch, std::size_t scratch_bytes,
          cudaStream_t stream)
      : blocks_(blocks),
        chain_(std::get<HashChainParameters>(level.finder)),
        scratch_(blocks, chain_, d_scratch),
        tiles_per_block_(tiles_of(blocks.max_block_bytes)),
        stream_(stream) {
    check_scratch("compress_lz4", scratch_.carver.bytes(), d_scratch, scratch_bytes);
  }

  const TileScratch& scratch() const { return scratch_; }

  void find_sizes(const auto& to) const {
    build_hash_chains_cuda(blocks_, chain_, scratch_.d_chains, scratch_.chains_bytes, stream_);
    const std::uint16_t* const d_links = hash_chain_links(blocks_, chain_, scratch_.d_chains);
    if (tiles_per_block_ == 1) {
      launch(a_tile(kListBudget), list_tiles<true>, blocks_, tiles_per_block_, d_links, scratch_.tiles);
    } else {
      launch(a_tile(kListBudget), list_tiles<false>, blocks_, tiles_per_block_, d_links, scratch_.tiles);
      launch(a_block(kJoinBudget), join_tiles, blocks_, d_links, scratch_.tiles);
    }
    launch(a_tile(kCountBudget), count_tiles, blocks_, tiles_per_block_, scratch_.tiles);
    launch(a_block(kPlaceBudget), place_segments<std::decay_t<decltype(to)>>, blocks_, scratch_.tiles, to);
  }
  void write(const auto& to) const {
    launch(a_tile(kWriteBudget), write_tiles<std::decay_t<decltype(to)>>, blocks_, tiles_per_block_,
           scratch_.tiles, to);
  }

 private:
  Launch a_tile(const KernelBudget& kernel) const {
    return {.kernel = kernel,
            .grid = blocks_.block_count * tiles_per_block_,
            .stream = stream_,
            .work = work_of(blocks_)};
  }
  Launch a_block(const KernelBudget& kernel) const {
    return {.kernel = kernel, .grid = blocks_.block_count, .stream = stream_, .work = work_of(blocks_)};
  }

  DeviceBlocks blocks_;
  const HashChainParameters& chain_;
  TileScratch scratch_;
  std::uint32_t tiles_per_block_;
  cudaStream_t stream_;
};

}  // namespace

bool tiles_take(const DeviceBlocks& blocks, const Lz4Level& level) {
  const auto* chain = std::get_if<HashChainParameters>(&level.finder);
  if (chain == nullptr || blocks.max_history_bytes != 0 ||
      blocks.max_block_bytes > TileMatch::kMostBlockBytes)
    return false;
  // Thread blocks for tiles that a block does not have cost a little.
  const std::uint64_t thread_blocks = std::uint64_t{blocks.block_count} * tiles_of(blocks.max_block_bytes);
  return thread_blocks <= 16 * Tiles::most_tiles(blocks.total_block_bytes, blocks.block_count) &&
         chain->hash_bits == kTileHashBits && chain->depth == 1 && chain->cap_bytes == kOnePassCapBytes &&
         chain->window_bytes == kMaxRecordOffset && chain->stitch &&
         chain->stitch_reach == kHashChainFastStitchReach && is_plain_lazy(level.parse) &&
         fits_shared_memory(kListBudget);
}

std::size_t compress_tiles_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level) {
  return TileScratch(blocks, std::get<HashChainParameters>(level.finder), nullptr).carver.bytes();
}

void compress_tiles_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                         void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  const TileWay way(blocks, level, d_scratch, scratch_bytes, stream);
  const ToOutputs to{output};
  way.find_sizes(to);
  way.write(to);
}

void compress_tiles_span_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceSpan& span,
                              void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  const TileWay way(blocks, level, d_scratch, scratch_bytes, stream);
  const ToSpan to{span, way.scratch().d_rooms};
  way.find_sizes(to);
  scan_sizes_cuda(to.d_rooms, blocks.block_count, span.d_offsets, way.scratch().d_scan,
                  way.scratch().scan_bytes, stream);
  way.write(to);
}

}  // namespace hemstitch::cuda
