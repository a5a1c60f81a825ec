// From the sequences that a parse chose to those of the format: touching matches of one offset become one, and each match gets its offset's
// value; the literals by themselves; and how often each literal and each code occurs. CPU twin: zstd_block_writer.hpp, zstd_sequences_of() and
// zstd_literals_of().
//
// Mapping. A thread block of kThreads a block, which takes the block's list in tiles of one sequence a thread:
//
//   scan      prefix sums say where each sequence's literals and its content begin, and how many matches of the tile begin up to it: a match that
//             goes on with the one before adds its length to that one
//   matches   a thread for each match that begins here looks back over those before for its own offset, until it has seen three different ones. The
//             last match of a tile may go on in the next one, so it waits, and takes its place first there
//   literals  a warp copies those of its 32 sequences, 32 at a time, one a lane. A word with a bit for each sequence's first tells which sequence
//             a lane's literal belongs to
//   long      runs of more than kLongLiterals literals are left out there, and taken by the whole thread block afterwards
//
// Shared memory: 14 KB. Synchronisation: three barriers a tile. Work: O(1) a literal and a sequence, but for looking back: where two offsets alternate
// for long, the first match of a third one looks back over all of them in the tile.
#include "format/zstd/compress/entropy/zstd_value_codes.hpp"
#include "format/zstd/compress/zstd_encoder_stages_cuda.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
constexpr unsigned kCopies = 4;  // of the literals' counts, so that warps wait less for each other
constexpr std::uint32_t kLongLiterals = 512;
constexpr unsigned kMostLongRuns = kZstdOwnBlockBytes / kLongLiterals;

struct LongRun {
  std::uint32_t literal, content, count;
};

struct ValueShared {
  std::uint32_t literals[kCopies][kZstdLiteralValues];
  std::uint32_t codes[3][kZstdCodeSlots];
  std::uint32_t warp_literals[kWarps], warp_content[kWarps], warp_matches[kWarps];
  // Of the matches that begin in the tile.
  std::uint32_t runs[kThreads], lengths[kThreads], offsets[kThreads];
  // The match that waits.
  std::uint32_t waiting_run, waiting_length, waiting_value;
  // The last three different offsets before the tile, the latest first; 0: none. In turns, as the next ones are found while these are read.
  std::uint32_t last[2][kZstdRepeatCount];
  // For each sequence of a warp that has literals: what is added to a literal's number in the warp for its place in the content, and
  // among the block's literals.
  uint2 sources[kWarps][32];
  std::uint32_t long_count;
  LongRun long_runs[kMostLongRuns];
};

// Gives the offsets of the tile before match `begin`, and then those before the tile, from the latest to the first, to seen(), until that returns true.
template <class Seen>
__device__ __forceinline__ void look_back(const ValueShared& sh, std::uint32_t begin, unsigned turn,
                                          const Seen& seen) {
  for (std::uint32_t i = begin; i-- > 0;)
    if (seen(sh.offsets[i])) return;
  for (unsigned i = 0; i < kZstdRepeatCount; ++i)
    if (seen(sh.last[turn][i])) return;
}

// The value of match `index` of the tile.
__device__ __forceinline__ std::uint32_t value_of(const ValueShared& sh, std::uint32_t index, unsigned turn) {
  const std::uint32_t offset = sh.offsets[index];
  std::uint32_t place = 0, first = 0, second = 0;  // different ones seen; an offset is never 0
  bool found = false;
  look_back(sh, index, turn, [&](std::uint32_t other) {
    found = other == offset;
    if (found || other == first || other == second) return found;
    (place == 0 ? first : second) = other;
    ++place;
    return place == kZstdRepeatCount || other == 0;
  });
  if (!found) return offset + kZstdRepeatCount;
  return place + (sh.runs[index] == 0 ? 0 : 1);
}

__device__ __forceinline__ void put_value(ValueShared& sh, std::uint64_t* to, std::uint32_t run,
                                          std::uint32_t length, std::uint32_t value) {
  atomicAdd(&sh.codes[0][zstd_run_code(run)], 1u);
  atomicAdd(&sh.codes[1][zstd_floor_log2(value)], 1u);
  atomicAdd(&sh.codes[2][zstd_match_code(length)], 1u);
  if (to != nullptr) *to = pack_zstd_value(run, length, value);
}

__global__ void __launch_bounds__(kThreads)
    value_zstd_sequences(const DeviceBlocks blocks, const DeviceSequences sequences, const bool writes,
                         const ZstdEncodeRoom room) {
  __shared__ ValueShared sh;
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const unsigned lanes_up_to_this = ~0u >> (31 - lane), lanes_below = lanes_up_to_this >> 1;
  const DeviceBlock block = blocks.d_blocks[blockIdx.x];
  if (block.block_bytes == 0) return;  // the whole thread block
  for (unsigned i = thread; i < kCopies * kZstdLiteralValues; i += kThreads) (&sh.literals[0][0])[i] = 0;
  for (unsigned i = thread; i < 3 * kZstdCodeSlots; i += kThreads) (&sh.codes[0][0])[i] = 0;
  sh.lengths[thread] = 0;
  if (thread < kZstdRepeatCount) sh.last[0][thread] = 0;
  if (thread == 0) sh.long_count = sh.waiting_length = 0;
  __syncthreads();

  const auto* const content = reinterpret_cast<const unsigned char*>(block.d_block);
  std::uint8_t* const literals = room.d_literals + zstd_literals_at(block.position, blockIdx.x);
  const std::uint64_t first = first_sequence(block.position, blockIdx.x, zstd_block_plan());
  const Sequence* const list = sequences.d_sequences + first;
  const std::uint32_t sequence_count = sequences.d_counts[blockIdx.x];
  std::uint64_t* const values = writes ? room.d_values + first : nullptr;
  const auto take_literal = [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t literal = __ldg(content + from);
    atomicAdd(&sh.literals[warp % kCopies][literal], 1u);
    literals[to] = static_cast<std::uint8_t>(literal);
  };

  // Where the tile begins: literals, content, matches.
  std::uint32_t tile_literal = 0, tile_content = 0, tile_match = 0;
  unsigned turn = 0;
  for (std::uint32_t tile = 0; tile < sequence_count; tile += kThreads) {
    const std::uint32_t index = tile + thread;
    Sequence own{};
    if (index < sequence_count) own = list[index];
    std::uint32_t offset_before = __shfl_up_sync(kAllLanes, own.offset, 1);
    if (lane == 0) offset_before = index != 0 && index < sequence_count ? list[index - 1].offset : 0;
    const bool is_match = own.match_length != 0;
    const bool begins = is_match && (own.literal_count != 0 || own.offset != offset_before);

    const unsigned warp_begins = __ballot_sync(kAllLanes, begins);
    const std::uint32_t literals_up_to = sum_up_to_lane(own.literal_count, lane);
    const std::uint32_t content_up_to = sum_up_to_lane(own.literal_count + own.match_length, lane);
    if (lane == 31) {
      sh.warp_literals[warp] = literals_up_to;
      sh.warp_content[warp] = content_up_to;
      sh.warp_matches[warp] = static_cast<std::uint32_t>(__popc(warp_begins));
    }
    __syncthreads();
    std::uint32_t literal = tile_literal + literals_up_to - own.literal_count;
    std::uint32_t at = tile_content + content_up_to - own.literal_count - own.match_length;
    auto matches_up_to = static_cast<std::uint32_t>(__popc(warp_begins & lanes_up_to_this));
    std::uint32_t matches = 0;  // that begin in the tile
    for (unsigned i = 0; i < kWarps; ++i) {
      if (i < warp) {
        literal += sh.warp_literals[i];
        at += sh.warp_content[i];
        matches_up_to += sh.warp_matches[i];
      }
      tile_literal += sh.warp_literals[i];
      tile_content += sh.warp_content[i];
      matches += sh.warp_matches[i];
    }

    if (begins) {
      sh.runs[matches_up_to - 1] = own.literal_count;
      sh.offsets[matches_up_to - 1] = own.offset;
    }
    if (is_match)
      atomicAdd(matches_up_to == 0 ? &sh.waiting_length : &sh.lengths[matches_up_to - 1], own.match_length);

    const bool is_long = own.literal_count > kLongLiterals;
    if (is_long) sh.long_runs[atomicAdd(&sh.long_count, 1u)] = {literal, at, own.literal_count};
    const std::uint32_t here = is_long ? 0 : own.literal_count;
    std::uint32_t begin = sum_up_to_lane(here, lane);  // in the numbers of the warp's literals
    const std::uint32_t warp_literals = __shfl_sync(kAllLanes, begin, 31);
    begin -= here;
    const unsigned with_literals = __ballot_sync(kAllLanes, here != 0);
    if (here != 0) sh.sources[warp][__popc(with_literals & lanes_below)] = {at - begin, literal - begin};
    __syncwarp();
    std::uint32_t begun = 0;  // sequences whose first literal was met
    for (std::uint32_t group = 0; group < warp_literals; group += 32) {
      const unsigned firsts = bits_over_warp(here != 0 && begin / 32 == group / 32 ? 1u << begin % 32 : 0u);
      const std::uint32_t owner = begun + static_cast<std::uint32_t>(__popc(firsts & lanes_up_to_this)) - 1;
      begun += static_cast<std::uint32_t>(__popc(firsts));
      if (group + lane >= warp_literals) continue;  // the last group's; all lanes meet in no other one
      const uint2 source = sh.sources[warp][owner];
      take_literal(source.x + group + lane, source.y + group + lane);
    }

    __syncthreads();
    if (thread < matches) {
      const std::uint32_t value = value_of(sh, thread, turn);
      const bool waits = thread + 1 == matches;
      if (waits && tile_match != 0)
        put_value(sh, writes ? values + tile_match - 1 : nullptr, sh.waiting_run, sh.waiting_length,
                  sh.waiting_value);
      const std::uint32_t run = sh.runs[thread], length = sh.lengths[thread];
      sh.lengths[thread] = 0;
      if (waits) {
        sh.waiting_run = run;
        sh.waiting_length = length;
        sh.waiting_value = value;
        // What the next tile looks back to: the last three different ones.
        std::uint32_t* const last = sh.last[turn ^ 1];
        std::uint32_t count = 0, one = 0, two = 0;
        look_back(sh, matches, turn, [&](std::uint32_t other) {
          if (other != 0 && (other == one || other == two)) return false;
          (count == 0 ? one : two) = other;
          last[count++] = other;
          return count == kZstdRepeatCount;
        });
      } else {
        put_value(sh, writes ? values + tile_match + thread : nullptr, run, length, value);
      }
    }
    const unsigned long_count = sh.long_count;
    for (unsigned i = 0; i < long_count; ++i) {
      const LongRun run = sh.long_runs[i];
      for (std::uint32_t j = thread; j < run.count; j += kThreads)
        take_literal(run.content + j, run.literal + j);
    }
    __syncthreads();
    if (thread == 0) sh.long_count = 0;
    if (matches != 0) turn ^= 1;
    tile_match += matches;
  }
  if (thread == 0 && tile_match != 0)
    put_value(sh, writes ? values + tile_match - 1 : nullptr, sh.waiting_run, sh.waiting_length,
              sh.waiting_value);
  if (thread < (0 - tile_literal) % 16) literals[tile_literal + thread] = 0;
  __syncthreads();
  ZstdBlockCounts& counts = room.d_counts[blockIdx.x];
  for (unsigned i = thread; i < kZstdLiteralValues; i += kThreads) {
    std::uint32_t count = 0;
    for (unsigned copy = 0; copy < kCopies; ++copy) count += sh.literals[copy][i];
    counts.literals[i] = count;
  }
  for (unsigned i = thread; i < 3 * kZstdCodeSlots; i += kThreads)
    counts.codes[i / kZstdCodeSlots][i % kZstdCodeSlots] = sh.codes[i / kZstdCodeSlots][i % kZstdCodeSlots];
  if (thread == 0) {
    counts.literal_count = tile_literal;
    counts.sequence_count = tile_match;
  }
}

constexpr KernelBudget kValueBudget("zstd_compress.values", "value_zstd_sequences",
                                    {.threads = kThreads,
                                     .registers = 64,
                                     .shared_bytes = sizeof(ValueShared)});
const KernelRegistration kValueRegistration(kValueBudget, value_zstd_sequences);

}  // namespace

void value_zstd_sequences_cuda(const DeviceBlocks& blocks, const DeviceSequences& sequences, bool writes,
                               const ZstdEncodeRoom& room, cudaStream_t stream) {
  launch({.kernel = kValueBudget, .grid = blocks.block_count, .stream = stream, .work = work_of(blocks)},
         value_zstd_sequences, blocks, sequences, writes, room);
}

}  // namespace hemstitch::cuda
