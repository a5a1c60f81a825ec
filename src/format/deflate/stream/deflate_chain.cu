// Finds the entries that make up the stream: those to which the piece's beginning leads.
//
// Each entry knows where it ended and which entry continues from there. So a way leads on from each entry, and the stream is the
// way of the first one. The beginning may be any entry that starts at a block. All ways are followed at once: in each step, every
// reached entry marks the one to which its jump leads, and jumps double in length. Then one scan gives each reached entry its
// number and its place in the content.
#include <cub/device/device_scan.cuh>

#include "format/deflate/stream/deflate_stream_stages.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 256;

__device__ bool goes_on(const DeflateEntryResult& result) {
  return result.end <= DeflateEntryEnd::kStream && result.next != kDeflateNone;
}
// Does an entry that continues in the middle of a block begin with the right token?
__device__ bool is_confirmed(const DeflatePieceWork& work, const DeflateEntryResult& result) {
  return result.end != DeflateEntryEnd::kInBlock || work.d_claims[result.next] == result.end_bit;
}

// Does the entry start at the block with which the piece begins?
__device__ bool begins_piece(const DeflatePieceWork& work, std::uint32_t index) {
  const DeflateStreamEntry& entry = work.d_entries[index];
  return entry.bit == work.begin_bit &&
         (entry.kind == DeflateEntryKind::kKnown || entry.kind == DeflateEntryKind::kBlock);
}

__global__ void __launch_bounds__(kThreads) begin_jumps(const DeflatePieceWork work) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i == 0) work.d_status->repairs = 0;
  if (i > work.entry_count) return;
  std::uint32_t next = work.entry_count;
  bool begins = false;
  if (i < work.entry_count) {
    if (goes_on(work.d_results[i])) next = work.d_results[i].next;
    // A member's header may be found twice: only the first entry counts.
    begins = begins_piece(work, i) && (i == 0 || !begins_piece(work, i - 1));
  }
  if (begins) work.d_status->begins = 1;
  work.d_jumps[i] = next;
  work.d_reached[i] = begins ? 1 : 0;
}

__global__ void __launch_bounds__(kThreads)
    double_jumps(const DeflatePieceWork work, const std::uint32_t* d_jumps, std::uint32_t* d_further) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i > work.entry_count) return;
  const std::uint32_t next = d_jumps[i];
  if (work.d_reached[i] != 0) work.d_reached[next] = 1;
  d_further[i] = d_jumps[next];
}

// Each reached entry may list a repair of the entry that continues it, and of no other. So there are at most as many repairs as
// entries, which is the room of the list, and none is listed twice. Nobody lists the first entry, which needs no repair: it begins
// with a block, so its symbols are always written.
__global__ void __launch_bounds__(kThreads) list_repairs(const DeflatePieceWork work) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= work.entry_count || work.d_reached[i] == 0) return;
  const DeflateEntryResult& result = work.d_results[i];
  if (!goes_on(result)) return;
  const std::uint32_t next = result.next;
  const bool confirmed = is_confirmed(work, result);
  if (!confirmed) work.d_forced[next] = result.end_bit;
  const bool is_restored = !work.d_results[next].counted || work.d_claims[next] == kDeflateNoBit;
  if (confirmed && is_restored) return;
  work.d_repairs[atomicAdd(&work.d_status->repairs, 1u)] = next;
}

__global__ void __launch_bounds__(kThreads) begin_sums(const DeflatePieceWork work) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i == 0) {
    work.d_status->first_bad = work.d_status->bad_source = kDeflateNone;
    work.d_status->end_chunk = 0;
  }
  if (i > work.entry_count) return;
  DeflateChainSum sum{0, 0, 0, 0};
  if (i < work.entry_count && work.d_reached[i] != 0) {
    const DeflateEntryResult& result = work.d_results[i];
    sum = {result.symbols, 0, 1, 0};
    if (result.end == DeflateEntryEnd::kStream) {
      sum.members = 1;
      sum.member_begin = result.symbols;
    }
  }
  work.d_sums[i] = sum;
}

struct AddChainSums {
  __host__ __device__ DeflateChainSum operator()(const DeflateChainSum& a, const DeflateChainSum& b) const {
    return {a.symbols + b.symbols, b.members != 0 ? a.symbols + b.member_begin : a.member_begin,
            a.chunks + b.chunks, a.members + b.members};
  }
};

__global__ void __launch_bounds__(kThreads)
    place_chunks(const DeflatePieceWork work, std::uint32_t first_bad) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= work.entry_count) return;
  work.d_orders[i] = kDeflateNone;
  if (work.d_reached[i] == 0) return;
  const DeflateEntryResult& result = work.d_results[i];
  const DeflateChainSum before = work.d_offsets[i];
  trace_mark(kTracePlaceChunk, before.chunks);
  DeflateChunk chunk;
  chunk.begin = before.symbols;
  chunk.member_begin = before.members != 0 ? static_cast<std::int64_t>(before.member_begin)
                                           : -static_cast<std::int64_t>(work.window_bytes);
  chunk.symbols = result.symbols;
  chunk.entry = i;
  chunk.member = before.members;
  chunk.place = result.place;
  work.d_chunks[before.chunks] = chunk;
  work.d_orders[i] = before.chunks;
  const bool is_bad = before.chunks >= first_bad || result.counted || result.end > DeflateEntryEnd::kStream ||
                      (goes_on(result) && !is_confirmed(work, result)) ||
                      before.symbols + result.symbols > work.output_capacity;
  if (is_bad) atomicMin(&work.d_status->first_bad, before.chunks);
}

// Finds the last confirmed end. It is in a chunk up to the first bad one; the bad one may have a confirmed end inside, unless its
// symbols were only counted. Chunks from `first_bad` on do not count.
__global__ void __launch_bounds__(kThreads) find_end(const DeflatePieceWork work, std::uint32_t first_bad) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= work.entry_count || work.d_reached[i] == 0) return;
  const DeflateEntryResult& result = work.d_results[i];
  const DeflateChainSum before = work.d_offsets[i];
  if (before.chunks > work.d_status->first_bad || before.chunks >= first_bad || result.counted ||
      result.sound_bit == kDeflateNoBit || before.symbols + result.sound_symbols > work.output_capacity)
    return;
  atomicMax(&work.d_status->end_chunk, before.chunks + 1);
}

__device__ DeflatePieceEnd why_of(DeflateEntryEnd end) {
  switch (end) {
    case DeflateEntryEnd::kInput:
      return DeflatePieceEnd::kInput;
    case DeflateEntryEnd::kUnsound:
      return DeflatePieceEnd::kUnsound;
    case DeflateEntryEnd::kMemory:
      return DeflatePieceEnd::kMemory;
    default:
      return DeflatePieceEnd::kGivenUp;
  }
}

// Cuts the last chunk off at its confirmed end. One thread.
__global__ void __launch_bounds__(32) cut_chain(const DeflatePieceWork work, std::uint32_t first_bad) {
  if (threadIdx.x != 0) return;
  DeflateStreamStatus& status = *work.d_status;
  status.why = DeflatePieceEnd::kStream;
  if (status.first_bad != kDeflateNone) {
    const DeflateChunk& bad = work.d_chunks[status.first_bad];
    status.why = status.first_bad >= first_bad                    ? DeflatePieceEnd::kUnsound
                 : bad.begin + bad.symbols > work.output_capacity ? DeflatePieceEnd::kRoom
                                                                  : why_of(work.d_results[bad.entry].end);
  }
  if (status.end_chunk == 0) {
    // Not even the first entry's last block has room.
    status.end_chunk = status.chunks = 1;
    status.members = status.ended = 0;
    status.content_bytes = 0;
    status.end_bit = work.begin_bit;
    work.d_chunks[0].symbols = 0;
    work.d_chunks[0].place = {0, 0};
    return;
  }
  DeflateChunk& chunk = work.d_chunks[status.end_chunk - 1];
  const DeflateEntryResult& result = work.d_results[chunk.entry];
  // A bad chunk is not cut at its whole end, unless the stream stops there.
  const bool whole = status.end_chunk - 1 != status.first_bad;
  status.ended = whole && result.end == DeflateEntryEnd::kStream ? 1 : 0;
  chunk.symbols = result.sound_symbols;
  chunk.place = result.sound_place;
  status.chunks = status.end_chunk;
  status.members = chunk.member + status.ended;
  status.content_bytes = chunk.begin + chunk.symbols;
  status.end_bit = result.sound_bit;
}

__global__ void __launch_bounds__(kThreads) list_members(const DeflatePieceWork work) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  const DeflateStreamStatus& status = *work.d_status;
  if (i >= status.end_chunk || i >= status.first_bad) return;
  const DeflateChunk& chunk = work.d_chunks[i];
  const DeflateEntryResult& result = work.d_results[chunk.entry];
  if (result.end == DeflateEntryEnd::kStream)
    work.d_members[chunk.member] = {result.end_bit, chunk.begin + chunk.symbols, result.member_begin};
}

constexpr KernelLimits kLimits{.threads = kThreads, .registers = 40};
constexpr KernelBudget kBeginJumpsBudget("deflate_stream.begin_jumps", "begin_jumps", kLimits);
constexpr KernelBudget kDoubleJumpsBudget("deflate_stream.double_jumps", "double_jumps", kLimits);
constexpr KernelBudget kRepairsBudget("deflate_stream.list_repairs", "list_repairs", kLimits);
constexpr KernelBudget kBeginSumsBudget("deflate_stream.begin_sums", "begin_sums", kLimits);
constexpr KernelBudget kPlaceBudget("deflate_stream.place_chunks", "place_chunks", kLimits);
constexpr KernelBudget kEndBudget("deflate_stream.find_end", "find_end", kLimits);
constexpr KernelBudget kCutBudget("deflate_stream.cut_chain", "cut_chain", {.threads = 32, .registers = 40});
constexpr KernelBudget kMembersBudget("deflate_stream.list_members", "list_members", kLimits);
const KernelRegistration kBeginJumpsRegistration(kBeginJumpsBudget, begin_jumps);
const KernelRegistration kDoubleJumpsRegistration(kDoubleJumpsBudget, double_jumps);
const KernelRegistration kRepairsRegistration(kRepairsBudget, list_repairs);
const KernelRegistration kBeginSumsRegistration(kBeginSumsBudget, begin_sums);
const KernelRegistration kPlaceRegistration(kPlaceBudget, place_chunks);
const KernelRegistration kEndRegistration(kEndBudget, find_end);
const KernelRegistration kCutRegistration(kCutBudget, cut_chain);
const KernelRegistration kMembersRegistration(kMembersBudget, list_members);

cudaError_t sum_chain(void* d_cub, std::size_t& cub_bytes, const DeflateChainSum* d_sums,
                      DeflateChainSum* d_offsets, std::uint32_t count, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveScan(d_cub, cub_bytes, d_sums, d_offsets, AddChainSums{},
                                        DeflateChainSum{0, 0, 0, 0}, static_cast<int>(count), stream);
}

}  // namespace

std::size_t deflate_chain_cub_bytes(const DeflatePieceLimits& limits) {
  std::size_t bytes = 0;
  check(sum_chain(nullptr, bytes, nullptr, nullptr, limits.entries + 1, nullptr), "deflate_stream: sum");
  return bytes;
}

void follow_deflate_entries(const DeflatePieceWork& work, cudaStream_t stream) {
  const unsigned grid = work.entry_count / kThreads + 1;
  launch({.kernel = kBeginJumpsBudget, .grid = grid, .stream = stream}, begin_jumps, work);
  std::uint32_t *d_jumps = work.d_jumps, *d_further = work.d_further_jumps;
  for (std::uint64_t step = 1; step <= work.entry_count; step *= 2) {
    launch({.kernel = kDoubleJumpsBudget, .grid = grid, .stream = stream}, double_jumps, work, d_jumps,
           d_further);
    std::swap(d_jumps, d_further);
  }
  launch({.kernel = kRepairsBudget, .grid = grid, .stream = stream}, list_repairs, work);
}

void chain_deflate_entries(const DeflatePieceWork& work, std::uint32_t first_bad, cudaStream_t stream) {
  const unsigned grid = work.entry_count / kThreads + 1;
  launch({.kernel = kBeginSumsBudget, .grid = grid, .stream = stream}, begin_sums, work);
  std::size_t cub_bytes = work.cub_bytes;
  check(sum_chain(work.d_cub, cub_bytes, work.d_sums, work.d_offsets, work.entry_count + 1, stream),
        "deflate_stream: sum");
  launch({.kernel = kPlaceBudget, .grid = grid, .stream = stream}, place_chunks, work, first_bad);
  launch({.kernel = kEndBudget, .grid = grid, .stream = stream}, find_end, work, first_bad);
  launch({.kernel = kCutBudget, .grid = 1, .stream = stream}, cut_chain, work, first_bad);
  launch({.kernel = kMembersBudget, .grid = grid, .stream = stream}, list_members, work);
}

}  // namespace hemstitch::cuda
