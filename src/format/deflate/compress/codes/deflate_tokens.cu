// From the sequences of a chunk to its tokens, and how often each symbol occurs.
//
// Mapping. A thread block of kThreads a chunk, which takes the chunk's list in tiles of one sequence a thread:
//
//   scan      two prefix sums, of literals and of match bytes, say where each sequence's tokens and its content begin. In a warp
//             they share a word: its matches have at most 32 * 258 bytes.
//   matches   every thread counts the symbols of its own one.
//   tokens    a warp lays out the tokens of its 32 sequences, 32 at a time, one a lane. A word with a bit for each token
//             that is a sequence's first tells which sequence a lane's token belongs to.
//   long      runs of more than kLongLiterals literals are left out there, and taken by the whole thread block afterwards.
//
// Only the last sequence of a list may be empty. Shared memory: four sets of counts, one for every second warp, or one for each unit, up to 10 KB.
// Synchronisation: three barriers a tile. Work: O(1) a token. CPU twin: deflate_tokens.hpp.
#include "format/deflate/compress/deflate_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
constexpr unsigned kCopies = 4;  // of the counts, so that warps wait less for each other
constexpr std::uint32_t kLongLiterals = 512;
constexpr unsigned kMostLongRuns = kDeflateChunkBytes / kLongLiterals;

// What a warp's prefix sum holds: literals, and above them bytes of matches.
constexpr unsigned kLiteralBits = 17;
static_assert(kDeflateChunkBytes < 1u << kLiteralBits);
static_assert(std::uint64_t{32} * kDeflateMaxMatchBytes << kLiteralBits < std::uint64_t{1} << 32);

struct LongRun {
  std::uint32_t token, content, count;
};

template <bool kSplits>
struct TokenShared {
  std::uint32_t counts[kSplits ? kDeflateChunkUnits : kCopies][kDeflateCountedSymbols];
  std::uint32_t warp_literals[kWarps], warp_match_bytes[kWarps];
  std::uint32_t long_count;
  LongRun long_runs[kMostLongRuns];
};

template <bool kSplits, bool kWrites>
__global__ void __launch_bounds__(kThreads)
    count_tokens(const DeviceChunks chunks, const DeviceSequences sequences, const DeviceTokens tokens) {
  __shared__ TokenShared<kSplits> sh;
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const unsigned lanes_up_to_this = ~0u >> (31 - lane);
  const DeviceBlock chunk = chunks.blocks.d_blocks[blockIdx.x];
  DeflateUnitBegin* const unit_begins = tokens.d_unit_begins + std::size_t{blockIdx.x} * kDeflateUnitBegins;
  if (chunk.block_bytes == 0) return;  // the whole thread block
  const std::uint32_t unit_count = kSplits ? deflate_unit_count(chunk.block_bytes) : 1;
  constexpr unsigned kSets = kSplits ? kDeflateChunkUnits : kCopies;
  for (unsigned i = thread; i < kSets * kDeflateCountedSymbols; i += kThreads) (&sh.counts[0][0])[i] = 0;
  if (thread == 0) sh.long_count = 0;
  __syncthreads();

  // The counts to which a token that begins at `position` is added.
  const auto counts_at = [&](std::uint32_t position) -> std::uint32_t* {
    return kSplits ? sh.counts[deflate_unit_of(position, unit_count)] : sh.counts[warp % kCopies];
  };
  const auto literal_at = [&](std::uint32_t position) {
    return static_cast<std::uint32_t>(
        __ldg(reinterpret_cast<const unsigned char*>(chunk.d_block) + position));
  };
  // For a token whose next one begins at `next` and has the number `next_token`.
  const auto begin_unit = [&](std::uint32_t position, std::uint32_t next, std::uint32_t next_token) {
    if (!kSplits) return;
    const std::uint32_t unit = deflate_unit_of(next, unit_count);
    if (unit != deflate_unit_of(position, unit_count)) unit_begins[unit] = {next_token, next};
  };

  const Sequence* const list =
      sequences.d_sequences + first_sequence(chunk.position, blockIdx.x, deflate_block_plan());
  const std::uint32_t sequence_count = sequences.d_counts[blockIdx.x];
  DeflateDeviceToken* const out = kWrites ? tokens.d_tokens + chunk.position : nullptr;
  std::uint32_t tile_token = 0, tile_content = 0;  // where the tile's begin
  for (std::uint32_t tile = 0; tile < sequence_count; tile += kThreads) {
    if (thread == 0) trace_mark(kTraceCountTokens, tile);
    Sequence own{};
    if (tile + thread < sequence_count) own = list[tile + thread];
    const bool is_match = own.match_length != 0;

    const std::uint32_t sum = sum_up_to_lane(own.literal_count | own.match_length << kLiteralBits, lane);
    constexpr std::uint32_t kLiteralMask = (1u << kLiteralBits) - 1;
    if (lane == 31) {
      sh.warp_literals[warp] = sum & kLiteralMask;
      sh.warp_match_bytes[warp] = sum >> kLiteralBits;
    }
    __syncthreads();
    std::uint32_t literals = (sum & kLiteralMask) - own.literal_count;  // of the tile, before this sequence
    std::uint32_t match_bytes = (sum >> kLiteralBits) - own.match_length;
    std::uint32_t tile_literals = 0, tile_match_bytes = 0;
    for (unsigned i = 0; i < kWarps; ++i) {
      if (i < warp) {
        literals += sh.warp_literals[i];
        match_bytes += sh.warp_match_bytes[i];
      }
      tile_literals += sh.warp_literals[i];
      tile_match_bytes += sh.warp_match_bytes[i];
    }
    // All sequences before this one have a match: only the last one of a list may have none.
    const std::uint32_t token = tile_token + literals + thread;
    const std::uint32_t content = tile_content + literals + match_bytes;

    DeflateDeviceToken match = 0;
    if (is_match) {
      const std::uint32_t position = content + own.literal_count;
      const std::uint32_t length_symbol = deflate_length_symbol(own.match_length);
      const std::uint32_t distance_symbol = deflate_distance_symbol(own.offset);
      std::uint32_t* const counts = counts_at(position);
      atomicAdd(&counts[length_symbol], 1u);
      atomicAdd(&counts[kDeflateFixedLitlenCount + distance_symbol], 1u);
      match = deflate_match_token(length_symbol, own.match_length, distance_symbol, own.offset);
      begin_unit(position, position + own.match_length, token + own.literal_count + 1);
    }

    const bool is_long = own.literal_count > kLongLiterals;
    if (is_long) sh.long_runs[atomicAdd(&sh.long_count, 1u)] = {token, content, own.literal_count};
    // The warp's tokens without those of long runs: where each sequence's tokens begin among these, and what must be added to get
    // their numbers and their places in the content.
    const std::uint32_t left_out = is_long ? own.literal_count : 0;
    const std::uint32_t here = own.literal_count - left_out + (is_match ? 1 : 0);
    std::uint32_t begin = sum_up_to_lane(here, lane);
    const std::uint32_t warp_tokens = __shfl_sync(~0u, begin, 31);
    begin -= here;
    const std::uint32_t to_token = token + left_out - begin, to_content = content + left_out - begin;
    const std::uint32_t literals_end = begin + own.literal_count - left_out;
    std::uint32_t begun = 0;  // sequences of the warp whose first token was met; empty ones come last
    for (std::uint32_t group = 0; group < warp_tokens; group += 32) {
      const unsigned firsts = bits_over_warp(here != 0 && begin / 32 == group / 32 ? 1u << begin % 32 : 0u);
      const auto owner = static_cast<int>(begun + __popc(firsts & lanes_up_to_this)) - 1;
      begun += __popc(firsts);
      const std::uint32_t add_token = __shfl_sync(~0u, to_token, owner);
      const std::uint32_t add_content = __shfl_sync(~0u, to_content, owner);
      const std::uint32_t owner_literals_end = __shfl_sync(~0u, literals_end, owner);
      const DeflateDeviceToken owner_match = __shfl_sync(~0u, match, owner);
      const std::uint32_t index = group + lane;
      if (index >= warp_tokens) continue;  // the last group's; all lanes meet in no other one
      DeflateDeviceToken value = owner_match;
      if (index < owner_literals_end) {
        const std::uint32_t position = index + add_content;
        value = literal_at(position);
        atomicAdd(&counts_at(position)[value], 1u);
        begin_unit(position, position + 1, index + add_token + 1);
      }
      if (kWrites) out[index + add_token] = value;
    }

    __syncthreads();
    const unsigned long_count = sh.long_count;
    for (unsigned run = 0; run < long_count; ++run) {
      const LongRun literal_run = sh.long_runs[run];
      for (std::uint32_t i = thread; i < literal_run.count; i += kThreads) {
        const std::uint32_t position = literal_run.content + i;
        const DeflateDeviceToken value = literal_at(position);
        atomicAdd(&counts_at(position)[value], 1u);
        begin_unit(position, position + 1, literal_run.token + i + 1);
        if (kWrites) out[literal_run.token + i] = value;
      }
    }
    __syncthreads();
    if (thread == 0) sh.long_count = 0;
    const std::uint32_t tile_sequences = min(kThreads, sequence_count - tile);
    // The list's last sequence may have no match. But its tile is the last one, after which only the end is needed.
    tile_token += tile_literals + tile_sequences;
    tile_content += tile_literals + tile_match_bytes;
    if (tile + thread + 1 == sequence_count) {
      unit_begins[0] = {0, 0};
      unit_begins[unit_count] = {token + own.literal_count + (is_match ? 1 : 0), chunk.block_bytes};
    }
  }
  __syncthreads();
  DeflateSymbolCounts* const counts =
      tokens.d_counts + std::size_t{blockIdx.x} * (kSplits ? kDeflateChunkUnits : 1);
  auto* const words = reinterpret_cast<std::uint32_t*>(counts);
  for (unsigned i = thread; i < (kSplits ? unit_count : 1) * kDeflateCountedSymbols; i += kThreads) {
    std::uint32_t count = (&sh.counts[0][0])[i];
    if (!kSplits)
      for (unsigned copy = 1; copy < kCopies; ++copy) count += sh.counts[copy][i];
    words[i] = count;
  }
}

constexpr KernelBudget kCountBudget("deflate.count_tokens", "count_tokens",
                                    {.threads = kThreads, .registers = 64, .shared_bytes = 16 * 1024});
const KernelRegistration kCountRegistration(kCountBudget, count_tokens<false, false>);
const KernelRegistration kWriteRegistration(kCountBudget, count_tokens<false, true>);
const KernelRegistration kCountUnitsRegistration(kCountBudget, count_tokens<true, false>);
const KernelRegistration kWriteUnitsRegistration(kCountBudget, count_tokens<true, true>);

}  // namespace

void count_deflate_tokens_cuda(const DeviceChunks& chunks, const DeviceSequences& sequences, bool splits,
                               const DeviceTokens& tokens, cudaStream_t stream) {
  const bool writes = tokens.d_tokens != nullptr;
  auto* const kernel = splits ? (writes ? count_tokens<true, true> : count_tokens<true, false>)
                              : (writes ? count_tokens<false, true> : count_tokens<false, false>);
  launch(
      {.kernel = kCountBudget, .grid = chunks.places.count, .stream = stream, .work = work_of(chunks.blocks)},
      kernel, chunks, sequences, tokens);
}

}  // namespace hemstitch::cuda
