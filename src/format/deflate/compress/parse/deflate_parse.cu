// The parse of DEFLATE chunks: three kernels.
//
//   edges   what each position offers, in one word (deflate_edges.hpp): one thread a position. The same for all passes.
//   solve   the choice at each position, 2 bytes: one lane a segment, backwards over its 1024 positions and the 256 behind them
//           (deflate_solve.hpp has a lane's work).
//   walk    from choices to sequences (parse/walk/walk.cuh).
//
// Solving, mapping. A warp takes up to 32 segments of one chunk, or, where chunks are short, those of as many chunks as it
// has room for: the batch's largest chunk says how many lanes, a power of two and at least four, belong to one. All lanes go through
// their segments in step, from the last position to the first, in eights that begin at multiples of 8 *of the batch*, so that a lane
// loads its words in two of 16 bytes, and has the choices in one. So positions count from the multiple of 8 at or before a
// segment's first one. The words of the eight after the next are under way while one is solved.
//
// Shared memory: 17 KB a warp, which is a thread block, for its lanes' costs, a row of all 32 lanes a position; and less than 1 KB for
// each table of prices that the lanes have: one for a chunk of up to 32 segments, one for a unit of eight where chunks
// are split. 12 thread blocks with one table share a multiprocessor. Synchronisation: the warp's, once the tables stand. Work: 1.25
// positions a position, each about 90 instructions. Registers: at most 160, which 12 warps leave room for.
// CPU twin: parse_optimal_by_segments() as make_deflate_chunk() (deflate_chunk_reference.cpp) calls it.
#include <algorithm>
#include <bit>
#include <string>
#include <type_traits>

#include "core/status.hpp"
#include "format/deflate/compress/parse/deflate_edges.hpp"
#include "format/deflate/compress/parse/deflate_parse_cuda.hpp"
#include "format/deflate/compress/parse/deflate_solve.hpp"
#include "gpu/cuda/scratch.hpp"
#include "parse/walk/walk.cuh"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kEdgeThreads = 256;
constexpr std::uint32_t kEdgePositions = 2048;  // of a thread block

// The number of bytes from byte 3 to 5 at `here` that agree with those `offset` before them, up to the first difference; at most
// `limit`. `rest` bytes are left at `here`.
__device__ std::uint32_t agreeing_behind_three(const std::byte* here, std::uint32_t offset,
                                               std::uint32_t rest) {
  constexpr std::uint32_t kMost = kDeflateNearMatchBytes - kDeflateMinMatchBytes;
  const std::byte* const later = here + kDeflateMinMatchBytes;
  const std::byte* const earlier = later - offset;
  // The whole words around three bytes end less than eight bytes after the first of them, and begin less than three before it.
  if (rest >= kDeflateMinMatchBytes + 8) {
    const auto three_bytes = [](const std::byte* bytes) {
      const auto address = reinterpret_cast<std::uintptr_t>(bytes);
      const auto* aligned = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
      const std::uint32_t low = aligned[0], high = (address & 3) > 1 ? aligned[1] : 0;
      return __funnelshift_r(low, high, static_cast<unsigned>(address & 3) * 8);
    };
    const std::uint32_t difference = three_bytes(later) ^ three_bytes(earlier);
    return min((static_cast<std::uint32_t>(__ffs(static_cast<int>(difference | 1u << 24))) - 1) / 8, kMost);
  }
  const std::uint32_t limit = min(rest - kDeflateMinMatchBytes, kMost);
  std::uint32_t agreed = 0;
  while (agreed < limit && later[agreed] == earlier[agreed]) ++agreed;
  return agreed;
}

// A thread block takes kEdgePositions of a chunk. No shared memory.
__global__ void __launch_bounds__(kEdgeThreads)
    list_edges(const DeviceBlock* __restrict__ d_chunks, std::uint32_t parts_per_chunk,
               const MatchRecord* __restrict__ d_records, const std::uint16_t* __restrict__ d_near_offsets,
               DeflateEdges* __restrict__ d_edges) {
  const DeviceBlock chunk = d_chunks[blockIdx.x / parts_per_chunk];
  const std::uint32_t begin = blockIdx.x % parts_per_chunk * kEdgePositions;
  if (begin >= chunk.block_bytes) return;
  if (threadIdx.x == 0) trace_mark(kTraceListEdges, begin);
  const std::uint32_t end = min(chunk.block_bytes, begin + kEdgePositions);
#pragma unroll 2
  for (std::uint32_t position = begin + threadIdx.x; position < end; position += kEdgeThreads) {
    const std::byte* const here = chunk.d_block + position;
    const std::uint32_t rest = chunk.block_bytes - position;
    const MatchRecord found = d_records[chunk.position + position];
    const std::uint32_t near_offset = d_near_offsets[chunk.position + position];

    Match record{record_offset(found), min(min(record_length(found), kDeflateMaxMatchBytes), rest)};
    if (record.length < kDeflateMinMatchBytes || record.offset > kDeflateWindowBytes) record = {0, 0};
    Match near{0, 0};
    if (near_offset != 0 && near_offset != record.offset && near_offset <= kDeflateWindowBytes &&
        rest >= kDeflateMinMatchBytes)
      near = {near_offset, kDeflateMinMatchBytes + agreeing_behind_three(here, near_offset, rest)};
    d_edges[chunk.position + position] = pack_deflate_edges(static_cast<std::uint32_t>(*here), record, near);
  }
}

constexpr unsigned kLoaded = 8;  // positions that a lane loads together
static_assert(kLoaded == 2 * kDeflateStep && kDeflateRing % kLoaded == 0);
constexpr std::uint32_t kSegment = kSegmentPositions;
constexpr std::uint32_t kUnitSegments = kDeflateSplitUnitBytes / kSegmentPositions;
static_assert(kDeflateChunkBytes / kSegmentPositions <= kUnitSegments * kDeflateChunkUnits);

// Which lanes belong to which chunk.
struct ChunkLanes {
  std::uint32_t lanes_per_chunk;  // of a warp: 4, 8, 16 or 32
  std::uint32_t warps_per_chunk;  // more than one only with 32 lanes
  std::uint32_t costs_per_chunk;

  // Number of lanes that use the same table of prices.
  __host__ __device__ std::uint32_t lanes_per_table() const {
    return costs_per_chunk == 1 ? lanes_per_chunk
                                : (lanes_per_chunk < kUnitSegments ? lanes_per_chunk : kUnitSegments);
  }
  __device__ std::uint64_t chunk(std::uint32_t lane) const {
    return warps_per_chunk > 1 ? blockIdx.x / warps_per_chunk
                               : std::uint64_t{blockIdx.x} * (32 / lanes_per_chunk) + lane / lanes_per_chunk;
  }
  __device__ std::uint32_t segment(std::uint32_t lane) const {
    return blockIdx.x % warps_per_chunk * 32 + lane % lanes_per_chunk;
  }
  __device__ std::uint64_t costs(std::uint32_t lane) const {
    return chunk(lane) * costs_per_chunk + (costs_per_chunk == 1 ? 0 : segment(lane) / kUnitSegments);
  }
};

// Four words of a lane's segment. The same lane soon needs the words before them.
__device__ inline uint4 load_edges(const DeflateEdges* d_edges) {
  uint4 words;
  asm("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
      : "l"(d_edges));
  return words;
}

struct Eight {
  DeflateEdges edges[kLoaded];
};

template <unsigned kTables>
__global__ void __launch_bounds__(32)
    solve_chunks(const DeviceBlock* __restrict__ d_chunks, std::uint32_t chunk_count, const ChunkLanes lanes,
                 const DeflateEdges* __restrict__ d_edges, const DeflateDeviceCosts* __restrict__ d_costs,
                 std::uint16_t* __restrict__ d_choices) {
  __shared__ alignas(16) std::uint16_t sh_costs[(kDeflateMirror + kDeflateRing) * 32];
  __shared__ DeflatePriceTable sh_prices[kTables];
  static_assert(sizeof sh_costs % sizeof(std::uint64_t) == 0);

  const unsigned lane = threadIdx.x;
  // Counted from the multiple of 8 of the batch at or before the segment: its begin, its end, the horizon.
  std::uint32_t begin = 0, own_end = 0, end = 0;
  const DeflateEdges* edges = d_edges;
  std::uint16_t* choices = d_choices;
  if (const std::uint64_t chunk_index = lanes.chunk(lane); chunk_index < chunk_count) {
    const DeviceBlock chunk = d_chunks[chunk_index];
    const std::uint32_t in_chunk = lanes.segment(lane) * kSegment;
    if (in_chunk < chunk.block_bytes) {
      const std::uint32_t rest = chunk.block_bytes - in_chunk;
      const std::uint64_t first = chunk.position + in_chunk;
      begin = static_cast<std::uint32_t>(first % kLoaded);
      own_end = begin + min(rest, kSegment);
      end = begin + min(rest, kSegment + static_cast<std::uint32_t>(kLookAheadPositions));
      edges += first - begin;
      choices += first - begin;
    }
  }
  std::uint32_t most = end;
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2)
    most = max(most, __shfl_xor_sync(~0u, most, distance));
  if (most == 0) return;
  if (lane == 0) trace_mark(kTraceSolveSegments, blockIdx.x);

  for (unsigned i = lane; i < sizeof sh_costs / sizeof(std::uint64_t); i += 32)
    reinterpret_cast<std::uint64_t*>(sh_costs)[i] = 0;
#pragma unroll 1
  for (unsigned table = 0; table < kTables; ++table) {
    const unsigned first_lane = table * (32 / kTables);
    if (lanes.chunk(first_lane) >= chunk_count) break;
    const DeflateDeviceCosts& costs = d_costs[lanes.costs(first_lane)];
    for (unsigned i = lane; i < 256; i += 32) sh_prices[table].set_literal(i, costs);
    for (unsigned i = lane; i < DeflatePriceTable::kLengths; i += 32) sh_prices[table].set_length(i, costs);
    sh_prices[table].set_distance(lane, costs);
  }
  __syncwarp();

  const auto load = [&](int eight) {
    Eight loaded;
    const std::uint32_t at = static_cast<std::uint32_t>(eight) * kLoaded;
    if (at >= begin && at + kLoaded <= end) {
      const uint4 low = load_edges(edges + at), high = load_edges(edges + at + 4);
      loaded = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    } else {
#pragma unroll
      for (unsigned i = 0; i < kLoaded; ++i)
        loaded.edges[i] = at + i >= begin && at + i < end ? edges[at + i] : kDeflateNoEdges;
    }
    return loaded;
  };
  const auto store = [&](int eight, const uint4& pairs) {
    const std::uint32_t at = static_cast<std::uint32_t>(eight) * kLoaded;
    if (at >= begin && at + kLoaded <= own_end) {
      *reinterpret_cast<uint4*>(choices + at) = pairs;
    } else if (at < own_end) {
      const std::uint32_t words[] = {pairs.x, pairs.y, pairs.z, pairs.w};
#pragma unroll
      for (unsigned i = 0; i < kLoaded; ++i)
        if (at + i >= begin && at + i < own_end)
          choices[at + i] = static_cast<std::uint16_t>(words[i / 2] >> i % 2 * 16);
    }
  };

  const int top = static_cast<int>((most + kLoaded - 1) / kLoaded) - 1;
  DeflateSolver<32> solver(sh_costs + kDeflateMirror * 32 + lane, sh_prices[lane / (32 / kTables)]);
  Eight next = load(top), after_next = top > 0 ? load(top - 1) : Eight{};
  uint4 held[3]{};  // choices of the eights after this one, up to a multiple of four
  std::uint32_t row = static_cast<std::uint32_t>(top) * kLoaded % kDeflateRing;
  for (int eight = top; eight >= 0; --eight) {
    const Eight loaded = next;
    next = after_next;
    if (eight > 1) after_next = load(eight - 2);
    const std::uint32_t first = static_cast<std::uint32_t>(eight) * kLoaded;
    DeflateChoice chosen[kLoaded];
    solver.solve(first + kDeflateStep, row + kDeflateStep, end, loaded.edges + kDeflateStep,
                 chosen + kDeflateStep);
    solver.solve(first, row, end, loaded.edges, chosen);
    row = row == 0 ? kDeflateRing - kLoaded : row - kLoaded;
    const uint4 pairs = {chosen[0] | chosen[1] << 16, chosen[2] | chosen[3] << 16,
                         chosen[4] | chosen[5] << 16, chosen[6] | chosen[7] << 16};
    if (eight % 4 != 0) {
      if (eight % 4 == 3) held[2] = pairs;
      if (eight % 4 == 2) held[1] = pairs;
      if (eight % 4 == 1) held[0] = pairs;
    } else {
      store(eight + 3, held[2]);
      store(eight + 2, held[1]);
      store(eight + 1, held[0]);
      store(eight, pairs);
    }
  }
}

// The walk's decisions: lengths from choices.
struct ChosenLength {
  static constexpr unsigned kAlignment = StoredDecision::kAlignment;
  const std::uint16_t* d_choices;  // one a position of the batch; aligned to 16 bytes

  template <class Put>
  __device__ void operator()(const DeviceBlock& chunk, std::uint32_t begin, unsigned count,
                             const Put& put) const {
    StoredDecision{d_choices}(chunk, begin, count, [&](unsigned i, auto choices) {
      if constexpr (std::is_same_v<decltype(choices), uint4>)
        put(i, uint4{lengths(choices.x), lengths(choices.y), lengths(choices.z), lengths(choices.w)});
      else
        put(i, choice_length(static_cast<DeflateChoice>(choices)));
    });
  }

 private:
  static __device__ std::uint32_t lengths(std::uint32_t pair) {
    return choice_length(pair & 0xFFFF) | choice_length(pair >> 16) << 16;
  }
};

// And its offsets: of the candidate that was chosen.
struct ChosenOffset {
  const std::uint16_t* d_choices;
  const MatchRecord* d_records;
  const std::uint16_t* d_near_offsets;

  __device__ std::uint32_t operator()(const DeviceBlock& chunk, std::uint32_t position) const {
    const std::uint64_t at = chunk.position + position;
    return choice_is_near(__ldg(d_choices + at)) ? __ldg(d_near_offsets + at)
                                                 : record_offset(__ldg(d_records + at));
  }
};

constexpr KernelBudget kEdgesBudget("deflate.list_edges", "list_edges",
                                    {.threads = kEdgeThreads, .registers = 40});
const KernelRegistration kEdgesRegistration(kEdgesBudget, list_edges);
constexpr KernelBudget kSolveBudget("deflate.solve_chunks", "solve_chunks",
                                    {.threads = 32, .registers = 160, .shared_bytes = 25 * 1024});
const KernelRegistration kSolveRegistration1(kSolveBudget, solve_chunks<1>);
const KernelRegistration kSolveRegistration2(kSolveBudget, solve_chunks<2>);
const KernelRegistration kSolveRegistration4(kSolveBudget, solve_chunks<4>);
const KernelRegistration kSolveRegistration8(kSolveBudget, solve_chunks<8>);
const KernelRegistration kWalkRegistration(kWalkBudget,
                                           walk_block<kWalkTilePositions, ChosenLength, ChosenOffset>);

struct Scratch {
  DeflateEdges* d_edges;
  std::uint16_t* d_choices;
  std::size_t bytes;

  Scratch(const DeviceBlocks& chunks, void* d_scratch) {
    Carver carver(d_scratch);
    d_edges = carver.take<DeflateEdges>(chunks.total_block_bytes);
    d_choices = carver.take<std::uint16_t>(chunks.total_block_bytes);
    bytes = carver.bytes();
  }
};

void check_parameters(const DeviceBlocks& chunks, std::uint32_t costs_per_chunk, const Scratch& scratch,
                      const void* d_scratch, std::size_t scratch_bytes) {
  if (chunks.max_block_bytes > kDeflateChunkBytes)
    throw Error(Status::kInvalidOption, "parse_deflate: a chunk has " +
                                            std::to_string(chunks.max_block_bytes) + " bytes, the most is " +
                                            std::to_string(kDeflateChunkBytes));
  if (costs_per_chunk != 1 && costs_per_chunk != kDeflateChunkUnits)
    throw Error(Status::kInvalidOption, "parse_deflate: costs_per_chunk is " +
                                            std::to_string(costs_per_chunk) + ", must be 1 or " +
                                            std::to_string(kDeflateChunkUnits));
  check_scratch("parse_deflate", scratch.bytes, d_scratch, scratch_bytes);
}

void solve(const DeviceBlocks& chunks, const DeflateDeviceCosts* d_costs, std::uint32_t costs_per_chunk,
           const Scratch& scratch, cudaStream_t stream) {
  const std::uint32_t segments = (chunks.max_block_bytes + kSegment - 1) / kSegment;
  const ChunkLanes lanes{std::clamp<std::uint32_t>(std::bit_ceil(segments), 4, 32),
                         std::max<std::uint32_t>((segments + 31) / 32, 1), costs_per_chunk};
  const std::uint32_t chunks_per_warp = 32 / lanes.lanes_per_chunk;
  const std::uint32_t warps = chunks.block_count / chunks_per_warp * lanes.warps_per_chunk +
                              (chunks.block_count % chunks_per_warp != 0);
  const auto launch_solve = [&](auto kernel) {
    kernel<<<warps, 32, 0, stream>>>(chunks.d_blocks, chunks.block_count, lanes, scratch.d_edges, d_costs,
                                     scratch.d_choices);
  };
  switch (32 / lanes.lanes_per_table()) {
    case 1:
      launch_solve(solve_chunks<1>);
      break;
    case 2:
      launch_solve(solve_chunks<2>);
      break;
    case 4:
      launch_solve(solve_chunks<4>);
      break;
    default:
      launch_solve(solve_chunks<8>);
      break;
  }
  check_launch(kSolveBudget.name.data(), work_of(chunks));
}

}  // namespace

std::size_t parse_deflate_cuda_scratch_bytes(const DeviceBlocks& chunks) {
  return Scratch(chunks, nullptr).bytes;
}

void parse_deflate_cuda(const DeviceBlocks& chunks, const MatchRecord* d_records,
                        const std::uint16_t* d_near_offsets, const DeflateDeviceCosts* d_costs,
                        std::uint32_t costs_per_chunk, const DeviceSequences& sequences, void* d_scratch,
                        std::size_t scratch_bytes, cudaStream_t stream) {
  const Scratch scratch(chunks, d_scratch);
  check_parameters(chunks, costs_per_chunk, scratch, d_scratch, scratch_bytes);
  const std::uint32_t parts = (chunks.max_block_bytes + kEdgePositions - 1) / kEdgePositions;
  if (const std::uint32_t grid = chunks.block_count * parts; grid != 0) {
    list_edges<<<grid, kEdgeThreads, 0, stream>>>(chunks.d_blocks, parts, d_records, d_near_offsets,
                                                  scratch.d_edges);
    check_launch(kEdgesBudget.name.data(), work_of(chunks));
  }
  parse_deflate_again_cuda(chunks, d_records, d_near_offsets, d_costs, costs_per_chunk, sequences, d_scratch,
                           scratch_bytes, stream);
}

void parse_deflate_again_cuda(const DeviceBlocks& chunks, const MatchRecord* d_records,
                              const std::uint16_t* d_near_offsets, const DeflateDeviceCosts* d_costs,
                              std::uint32_t costs_per_chunk, const DeviceSequences& sequences,
                              void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  const Scratch scratch(chunks, d_scratch);
  check_parameters(chunks, costs_per_chunk, scratch, d_scratch, scratch_bytes);
  if (chunks.block_count != 0) solve(chunks, d_costs, costs_per_chunk, scratch, stream);
  walk_blocks(chunks, ChosenLength{scratch.d_choices},
              ChosenOffset{scratch.d_choices, d_records, d_near_offsets}, deflate_block_plan(), sequences,
              stream);
}

}  // namespace hemstitch::cuda
