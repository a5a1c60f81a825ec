// Reads lengths and offsets of sequences, whose states are known, as a stage of restoring (zstd_restore_cuda.hpp).
#include "format/zstd/restore/zstd_repeats.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = 4;
constexpr std::uint32_t kMostOffsetBits = 26;  // of a code; larger offsets do not fit beside names

struct Bases {
  std::uint32_t literals[kZstdLiteralCodes.size()], matches[kZstdMatchCodes.size()];
};

// A word that may lie partly outside, or wholly.
[[gnu::noinline]] __device__ std::uint32_t word_by_bytes(const std::uint8_t* d_word,
                                                         const std::uint8_t* d_begin,
                                                         const std::uint8_t* d_end) {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (d_word + i >= d_begin && d_word + i < d_end) word |= std::uint32_t{d_word[i]} << (8 * i);
  return word;
}

// The words of a chunk's data, of which none outside of it is read. Numbered from `d_base` on, a multiple of 16 bytes in it or before.
struct Words {
  const std::uint32_t* d_words;
  std::int32_t first, end;  // that lie wholly inside
  const std::uint8_t *d_begin, *d_end;

  __device__ Words(const std::uint8_t* d_base, const std::uint8_t* d_chunk, std::uint64_t size)
      : d_words(reinterpret_cast<const std::uint32_t*>(d_base)),
        first(static_cast<std::int32_t>((d_chunk - d_base + 3) >> 2)),
        end(static_cast<std::int32_t>((d_chunk + size - d_base) >> 2)),
        d_begin(d_chunk),
        d_end(d_chunk + size) {}

  __device__ std::uint32_t operator[](std::int32_t index) const {
    if (index >= first && index < end) return d_words[index];
    const auto* const d_word = reinterpret_cast<const std::uint8_t*>(d_words) + std::int64_t{4} * index;
    return word_by_bytes(d_word, d_begin, d_end);
  }
};

// `count` bits after the first `skipped` of 64.
__device__ __forceinline__ std::uint32_t field(std::uint64_t bits, std::uint32_t skipped,
                                               std::uint32_t count) {
  return static_cast<std::uint32_t>(bits << skipped >> 1 >> (63 - count));
}

// Mapping: a warp a block, 32 sequences at a time. Shared memory: 5 KB a warp, the tables. Synchronisation inside of warps alone. Work: linear
// in sequences. CPU twin: ZstdSequenceReader and ZstdRepeats.
__global__ void __launch_bounds__(32 * kWarps)
    read_zstd_values(const DeviceRestore batch, const ZstdStages stages) {
  __shared__ ZstdDeviceCell sh_cells[kWarps][kZstdCells];
  __shared__ Bases sh_bases;
  for (unsigned i = threadIdx.x; i < kZstdLiteralCodes.size(); i += 32 * kWarps)
    sh_bases.literals[i] = zstd_literal_base(i);
  for (unsigned i = threadIdx.x; i < kZstdMatchCodes.size(); i += 32 * kWarps)
    sh_bases.matches[i] = zstd_match_base(i);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t place = blockIdx.x * kWarps + threadIdx.x / 32;
  if (place >= stages.listed(1)) return;
  const std::uint32_t index = stages.list(1)[place];
  ZstdBlockRecord& record = stages.d_blocks[index];
  const ZstdDeviceBlock& block = record.block;
  const std::uint32_t count = block.sequences;
  if (stages.is_left(record)) return;
  if (lane == 0) trace_mark(kTraceRestoreZstdBlock, index);
  ZstdDeviceCell* const sh_own = sh_cells[threadIdx.x / 32];
  for (unsigned kind = 0; kind < kZstdKinds; ++kind) {
    const ZstdBlockRecord& defined = stages.d_blocks[record.table_of[kind]];
    const ZstdDeviceCell* const d_cells =
        stages.d_cells + std::size_t{defined.tables} * kZstdCells + zstd_cells_at(kind);
    for (std::uint32_t k = lane; k < 1u << defined.logs[kind]; k += 32)
      sh_own[zstd_cells_at(kind) + k] = d_cells[k];
  }
  __syncwarp();

  const auto* const d_chunk = reinterpret_cast<const std::uint8_t*>(batch.d_blocks[record.chunk]);
  const std::uint8_t* const d_stream = block.d_data + record.stream_at;
  const auto lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(d_stream) % 16);
  const Words words(d_stream - lead, d_chunk, batch.d_block_bytes[record.chunk]);
  const auto first_bit = static_cast<std::int32_t>(8 * lead);
  const auto* const d_states = reinterpret_cast<const std::uint32_t*>(stages.unit(record.states_unit));
  auto* const d_sequences = reinterpret_cast<ZstdDeviceSequence*>(stages.unit(record.sequences_unit));

  std::int32_t bits_left = record.first_bits;  // those below this one
  std::uint32_t literals = 0, matches = 0;     // so far; at most a block's and a group's
  ZstdDeviceRepeats repeats = zstd_same_repeats();
  bool is_sound = true;
  for (std::uint32_t first = 0; first < count; first += 32) {
    const bool has_one = first + lane < count, is_last = first + lane + 1 == count;
    const std::uint32_t states = has_one ? d_states[first + lane] : 0;
    const ZstdDeviceCell literal = sh_own[zstd_cells_at(0) + (states & kZstdLongStateMask)],
                         offset =
                             sh_own[zstd_cells_at(1) + (states >> kZstdOffsetStateAt & kZstdShortStateMask)],
                         match = sh_own[zstd_cells_at(2) + (states >> kZstdMatchStateAt)];
    const std::uint32_t sum = literal + offset + match;
    std::uint32_t bits = 0;
    if (has_one)
      bits = (sum & kZstdCellExtraMask) + (is_last ? 0 : sum >> kZstdCellBitsAt & kZstdCellBitsMask);
    const std::uint32_t up_to_lane = sum_up_to_lane(bits, lane);
    // The highest bit of this lane's, and 63 below it.
    const std::int32_t bit = bits_left - static_cast<std::int32_t>(up_to_lane - bits) - 1;
    bits_left -= static_cast<std::int32_t>(__shfl_sync(kAllLanes, up_to_lane, 31));
    if (bits_left < first_bit) {
      is_sound = false;
      break;
    }
    const std::int32_t word = bit >> 5;
    const std::uint32_t up = ~static_cast<std::uint32_t>(bit) % 32;
    const std::uint32_t w0 = words[word], w1 = words[word - 1], w2 = words[word - 2];
    const std::uint64_t window =
        std::uint64_t{__funnelshift_l(w1, w0, up)} << 32 | __funnelshift_l(w2, w1, up);
    const std::uint32_t offset_bits = offset & kZstdCellExtraMask, match_bits = match & kZstdCellExtraMask,
                        literal_bits = literal & kZstdCellExtraMask;
    if (__any_sync(kAllLanes, has_one && offset_bits > kMostOffsetBits)) {
      is_sound = false;
      break;
    }
    const std::uint32_t offset_value = (1u << offset_bits) + field(window, 0, offset_bits);
    std::uint32_t match_bytes = 0, literal_bytes = 0;
    if (has_one) {
      match_bytes = sh_bases.matches[match >> kZstdCellSymbolAt & kZstdCellSymbolMask] +
                    field(window, offset_bits, match_bits);
      literal_bytes = sh_bases.literals[literal >> kZstdCellSymbolAt & kZstdCellSymbolMask] +
                      field(window, offset_bits + match_bits, literal_bits);
    }
    const std::uint32_t distance = resolved_zstd_group(has_one, offset_value, literal_bytes, repeats, lane);
    literals += sum_over_warp(literal_bytes);
    matches += sum_over_warp(match_bytes);
    if (__any_sync(kAllLanes, has_one && distance == 0) || literals > block.literals ||
        matches > kZstdMostBlockBytes) {
      is_sound = false;
      break;
    }
    if (has_one)
      d_sequences[first + lane] = distance | std::uint64_t{literal_bytes} << kZstdLiteralsAt |
                                  std::uint64_t{match_bytes} << kZstdMatchAt;
  }
  if (lane != 0) return;
  if (!is_sound || bits_left != first_bit) return stages.leave(record);
  record.used_literals = literals;
  record.block.content_bytes = block.literals + matches;
  record.repeats[0] = repeats.first;
  record.repeats[1] = repeats.second;
  record.repeats[2] = repeats.third;
}

constexpr KernelBudget kValuesBudget("zstd_restore.values", "read_zstd_values",
                                     {.threads = 32 * kWarps,
                                      .registers = 80,
                                      .shared_bytes = sizeof(ZstdDeviceCell) * kWarps * kZstdCells +
                                                      sizeof(Bases)});
const KernelRegistration kValuesRegistration(kValuesBudget, read_zstd_values);

}  // namespace

void launch_zstd_values(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kValuesBudget, .grid = (stages.block_room + kWarps - 1) / kWarps, .stream = stream},
         read_zstd_values, batch, stages);
}

}  // namespace hemstitch::cuda
