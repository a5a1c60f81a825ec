// Closes chunks, and restores those that stages left (zstd_restore_cuda.hpp): from one block to the next and one sequence to the next, as
// the reference does, which it agrees with in every verdict.
#include "format/skippable_frame.hpp"
#include "format/zstd/restore/zstd_hash.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kCloseThreads = 128, kClosedChunks = kCloseThreads / kZstdHashLanes;
constexpr unsigned kMostLeftBlocks = 1024;
constexpr std::uint64_t kSkippableHeaderBytes = 8;

__device__ bool is_within_limits(const DeviceRestore& batch, std::uint64_t index) {
  return batch.d_block_bytes[index] <= batch.max_block_bytes &&
         batch.d_capacities[index] <= batch.max_capacity;
}

// Mapping: four lanes a chunk. No shared memory, no synchronisation but shuffles among the four. Work: linear in content that has a checksum.
__global__ void __launch_bounds__(kCloseThreads)
    close_zstd_chunks(const DeviceRestore batch, const ZstdStages stages) {
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kClosedChunks + threadIdx.x / kZstdHashLanes;
  if (index >= batch.count) return;
  const unsigned part = threadIdx.x % kZstdHashLanes;
  const unsigned lanes = 0xFu << (threadIdx.x % 32 / kZstdHashLanes * kZstdHashLanes);
  const ZstdChunkRecord& chunk = stages.d_chunks[index];
  bool is_left = chunk.is_left != 0;
  if (!is_left && chunk.has_checksum && batch.d_outputs != nullptr)
    is_left = zstd_content_hash(reinterpret_cast<const std::uint8_t*>(batch.d_outputs[index]),
                                chunk.content_bytes, part, lanes) != chunk.stated_checksum;
  if (part != 0) return;
  batch.d_output_bytes[index] = is_left ? 0 : chunk.content_bytes;
  batch.d_statuses[index] = is_left ? HEMSTITCH_INVALID_OPTION : HEMSTITCH_OK;
  if (is_left && is_within_limits(batch, index))
    stages.d_left[atomicAdd(&stages.d_counts[ZstdStages::kLeft], 1u)] = static_cast<std::uint32_t>(index);
}

// Bits of a stream that is read from its end (4.1), as ZstdBackwardBits.
struct BackwardBits {
  const std::uint8_t* d_bytes;
  std::uint32_t size;
  std::int64_t left;

  // False if there is no mark.
  __device__ bool open(const std::uint8_t* d_begin, std::uint32_t bytes) {
    d_bytes = d_begin;
    size = bytes;
    left = 0;
    if (bytes == 0 || d_begin[bytes - 1] == 0) return false;
    left = std::int64_t{8} * bytes - (__clz(std::uint32_t{d_begin[bytes - 1]}) - 24) - 1;
    return true;
  }
  // At most 32.
  __device__ std::uint32_t peek(unsigned count) const {
    const std::int64_t low = left - count;
    if (left <= 0 || count == 0) return 0;
    const std::uint32_t at = low < 0 ? 0 : static_cast<std::uint32_t>(low / 8);
    const std::uint64_t word = zstd_number_at(d_bytes + at, size - at < 8 ? size - at : 8);
    const std::uint64_t bits = low < 0 ? word << -low : word >> low % 8;
    return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << count) - 1));
  }
  __device__ std::uint32_t take(unsigned count) {
    const std::uint32_t value = peek(count);
    left -= count;
    return value;
  }
};

// The literals of a block, one after the other. In shared memory, for one lane.
struct Literals {
  ZstdDeviceBlock block;
  const std::uint8_t* d_streams;
  std::uint32_t ends[4];  // of the streams
  std::uint32_t in_each, begin, number;
  std::uint32_t left, left_in_stream;
  BackwardBits bits;
  bool is_sound;  // so far

  // `description_bytes` of the Huffman table stand before the streams.
  __device__ void open(const ZstdDeviceBlock& of, std::uint32_t description_bytes) {
    block = of;
    left = of.literals;
    is_sound = true;
    begin = number = 0;
    if (!of.has_coded_literals()) return;
    d_streams = of.d_data + of.literals_at + description_bytes;
    const std::uint32_t bytes = of.literals_bytes - description_bytes;
    if (of.streams == 1) {
      ends[0] = bytes;
      in_each = of.literals;
    } else {
      constexpr std::uint32_t kSizesBytes = 6;
      in_each = (of.literals + 3) / 4;
      is_sound = bytes >= kSizesBytes && of.literals >= kSizesBytes && 3 * in_each <= of.literals;
      if (!is_sound) return;
      std::uint32_t end = begin = kSizesBytes;
      for (unsigned i = 0; i < 3; ++i)
        ends[i] = end += static_cast<std::uint32_t>(zstd_number_at(d_streams + 2 * i, 2));
      ends[3] = bytes;
      is_sound = end <= bytes;
    }
    open_stream();
  }

  // While there are any left. Any byte once damage was found.
  __device__ std::uint8_t next(const ZstdDeviceCode* sh_codes, unsigned code_bits) {
    --left;
    if (block.literals_type == ZstdDeviceLiterals::kRle) return block.d_data[block.literals_at];
    if (block.literals_type == ZstdDeviceLiterals::kRaw)
      return block.d_data[block.literals_at + block.literals - left - 1];
    if (!is_sound) return 0;
    const std::uint32_t code = sh_codes[bits.peek(code_bits)];
    bits.left -= code & kZstdCodeBitsMask;
    if (--left_in_stream == 0) {
      end_stream();
      open_stream();
    }
    return static_cast<std::uint8_t>(code >> kZstdSymbolAt);
  }

  // Opens stream `number`, and those behind it while they have no literals.
  __device__ void open_stream() {
    for (; is_sound && number < block.streams; end_stream()) {
      left_in_stream = number + 1 == block.streams ? block.literals - number * in_each : in_each;
      is_sound = bits.open(d_streams + begin, ends[number] - begin);
      if (!is_sound || left_in_stream != 0) return;
    }
  }
  // A stream gives exactly so many literals, and then it is used up (4.2.2).
  __device__ void end_stream() {
    is_sound = is_sound && bits.left == 0;
    begin = ends[number++];
  }
};

struct LeftMemory {
  ZstdTableWork work;
  ZstdDeviceCell cells[kZstdCells];
  std::uint32_t logs[kZstdKinds];
  ZstdDeviceCode codes[1u << kZstdMostCodeBits];
  Literals literals;
  // What the lane that restores a block tells the others.
  std::uint32_t repeats[3];
  std::uint32_t block_bytes;
  bool is_sound;
};

// A chunk that a warp restores. All lanes know the same of it.
class LeftChunk {
 public:
  __device__ LeftChunk(const DeviceRestore& batch, std::uint64_t index, LeftMemory& memory, unsigned lane)
      : sh_(memory),
        lane_(lane),
        d_bytes_(reinterpret_cast<const std::uint8_t*>(batch.d_blocks[index])),
        size_(batch.d_block_bytes[index]),
        d_output_(batch.d_outputs == nullptr ? nullptr
                                             : reinterpret_cast<std::uint8_t*>(batch.d_outputs[index])),
        capacity_(batch.d_capacities[index]) {}

  __device__ std::uint64_t written() const { return written_; }

  // kBlocks.
  __device__ hemstitch_status restore_blocks() {
    ZstdDeviceHeader header;
    header.window_bytes = capacity_;
    const hemstitch_status status = restore_frame(header);
    return status != HEMSTITCH_OK || at_ == size_ ? status : HEMSTITCH_CORRUPT_BLOCK;
  }

  __device__ hemstitch_status restore() {
    if (size_ == 0) return HEMSTITCH_TRUNCATED;
    for (bool is_first = true; at_ < size_; is_first = false) {
      if (size_ - at_ >= kZstdMagicBytes &&
          is_skippable_magic(static_cast<std::uint32_t>(zstd_number_at(d_bytes_ + at_, kZstdMagicBytes)))) {
        if (size_ - at_ < kSkippableHeaderBytes) return HEMSTITCH_TRUNCATED;
        const std::uint64_t bytes =
            kSkippableHeaderBytes + zstd_number_at(d_bytes_ + at_ + kZstdMagicBytes, 4);
        if (size_ - at_ < bytes) return HEMSTITCH_TRUNCATED;
        at_ += bytes;
        continue;
      }
      ZstdDeviceHeader header;
      const hemstitch_status status = read_zstd_header(d_bytes_ + at_, size_ - at_, header);
      if (!is_first && (size_ - at_ < kZstdMagicBytes || status == HEMSTITCH_UNKNOWN_FORMAT))
        return HEMSTITCH_TRAILING_GARBAGE;
      if (status != HEMSTITCH_OK) return status;
      at_ += header.bytes;
      const hemstitch_status result = restore_frame(header);
      if (result != HEMSTITCH_OK) return result;
    }
    return HEMSTITCH_OK;
  }

 private:
  __device__ hemstitch_status restore_frame(const ZstdDeviceHeader& header) {
    frame_begin_ = written_;
    window_bytes_ = header.window_bytes;
    most_bytes_ = static_cast<std::uint32_t>(header.window_bytes < kZstdMostBlockBytes ? header.window_bytes
                                                                                       : kZstdMostBlockBytes);
    code_bits_ = 0;
    known_kinds_ = 0;
    __syncwarp();
    if (lane_ == 0) {
      sh_.repeats[0] = 1;
      sh_.repeats[1] = 4;
      sh_.repeats[2] = 8;
    }
    for (bool is_last = false; !is_last;) {
      ZstdDeviceBlock block;
      if (!read_zstd_block(d_bytes_ + at_, size_ - at_, most_bytes_, block, is_last))
        return HEMSTITCH_CORRUPT_BLOCK;
      at_ += kZstdBlockHeaderBytes + block.data_bytes;
      std::uint32_t bytes = block.content_bytes;
      if (block.is_compressed()) {
        if (!restore_compressed(block, bytes)) return HEMSTITCH_CORRUPT_BLOCK;
      } else if (d_output_ != nullptr && bytes <= capacity_ - written_) {
        for (std::uint32_t i = lane_; i < bytes; i += 32)
          d_output_[written_ + i] = block.d_data[block.type == ZstdBlockType::kRle ? 0 : i];
      }
      __syncwarp();
      if (bytes > capacity_ - written_) return HEMSTITCH_OUTPUT_TOO_SMALL;
      written_ += bytes;
    }
    const std::uint64_t content_bytes = written_ - frame_begin_;
    const std::uint8_t* const d_checksum = d_bytes_ + at_;
    if (header.has_checksum) {
      if (size_ - at_ < kZstdChecksumBytes) return HEMSTITCH_TRUNCATED;
      at_ += kZstdChecksumBytes;
    }
    if (header.has_size && header.content_bytes != content_bytes) return HEMSTITCH_CONTENT_SIZE_MISMATCH;
    if (!header.has_checksum || d_output_ == nullptr) return HEMSTITCH_OK;
    std::uint32_t hash = 0;
    if (lane_ < kZstdHashLanes) hash = zstd_content_hash(d_output_ + frame_begin_, content_bytes, lane_, 0xF);
    hash = __shfl_sync(kAllLanes, hash, 0);
    return hash == zstd_number_at(d_checksum, kZstdChecksumBytes) ? HEMSTITCH_OK
                                                                  : HEMSTITCH_CONTENT_CHECKSUM_MISMATCH;
  }

  // Makes the block's tables; one lane does the rest. False for damage.
  __device__ bool restore_compressed(const ZstdDeviceBlock& block, std::uint32_t& bytes) {
    std::uint32_t description_bytes = 0;
    if (block.literals_type == ZstdDeviceLiterals::kCompressed)
      code_bits_ = make_zstd_huffman(sh_.work, block.d_data + block.literals_at, block.literals_bytes,
                                     kZstdMostCodeBits, sh_.codes, description_bytes, lane_);
    if (block.has_coded_literals() && code_bits_ == 0) return false;
    std::uint32_t at = block.sequences_at;
    if (block.sequences != 0)
      for (unsigned kind = 0; kind < kZstdKinds; ++kind) {
        if (block.mode(kind) == ZstdTableMode::kRepeat) {
          if ((known_kinds_ >> kind & 1) == 0) return false;
          continue;
        }
        unsigned log = 0;
        if (!make_zstd_cells(sh_.work, block.d_data, block.data_bytes, block.mode(kind), kind, at,
                             sh_.cells + zstd_cells_at(kind), log, lane_))
          return false;
        if (lane_ == 0) sh_.logs[kind] = log;
        known_kinds_ |= 1u << kind;
      }
    __syncwarp();
    if (lane_ == 0) {
      sh_.literals.open(block, description_bytes);
      sh_.is_sound = restore_sequences(block, at) && sh_.literals.is_sound;
    }
    __syncwarp();
    bytes = sh_.block_bytes;
    return sh_.is_sound;
  }

  // One lane. Sets block_bytes. Writes while there is room.
  __device__ bool restore_sequences(const ZstdDeviceBlock& block, std::uint32_t stream_at) {
    std::uint32_t bytes = 0;  // of the block's content, so far
    bool fits = d_output_ != nullptr;
    std::uint8_t* const d_to = fits ? d_output_ + written_ : nullptr;
    BackwardBits bits{};
    std::uint32_t states[kZstdKinds] = {};
    if (block.sequences != 0) {
      if (stream_at > block.data_bytes || !bits.open(block.d_data + stream_at, block.data_bytes - stream_at))
        return false;
#pragma unroll
      for (unsigned kind = 0; kind < kZstdKinds; ++kind) states[kind] = bits.take(sh_.logs[kind]);
    }
    // The literals behind the last sequence are one more, without a match.
    for (std::uint32_t left = block.sequences;; --left) {
      std::uint32_t literals = sh_.literals.left, match = 0, offset_value = 0;
      if (left != 0) {
        ZstdDeviceCell cells[kZstdKinds];
#pragma unroll
        for (unsigned kind = 0; kind < kZstdKinds; ++kind)
          cells[kind] = sh_.cells[zstd_cells_at(kind) + states[kind]];
        const auto extra = [&](unsigned kind) { return bits.take(cells[kind] & kZstdCellExtraMask); };
        const auto symbol = [&](unsigned kind) {
          return cells[kind] >> kZstdCellSymbolAt & kZstdCellSymbolMask;
        };
        offset_value = (1u << symbol(1)) + extra(1);
        match = zstd_match_base(symbol(2)) + extra(2);
        literals = zstd_literal_base(symbol(0)) + extra(0);
        if (left > 1) {
          const auto go_on = [&](unsigned kind) {
            states[kind] = (cells[kind] >> kZstdCellBaseAt) +
                           bits.take(cells[kind] >> kZstdCellBitsAt & kZstdCellBitsMask);
          };
          go_on(0);
          go_on(2);
          go_on(1);
        }
        if (bits.left < 0 || (left == 1 && bits.left != 0)) return false;
      }
      if (literals > sh_.literals.left || literals + match > most_bytes_ - bytes) return false;
      fits = fits && literals <= capacity_ - written_ - bytes;
      for (std::uint32_t i = 0; i < literals; ++i) {
        const std::uint8_t literal = sh_.literals.next(sh_.codes, code_bits_);
        if (fits) d_to[bytes + i] = literal;
      }
      bytes += literals;
      if (left == 0) break;
      const std::uint32_t offset = take_offset(offset_value, literals);
      const std::uint64_t at = written_ + bytes - frame_begin_;
      if (offset == 0 || offset > at || offset > window_bytes_) return false;
      fits = fits && match <= capacity_ - written_ - bytes;
      if (fits)
        for (std::uint32_t i = 0; i < match; ++i) d_to[bytes + i] = d_to[std::int64_t{bytes} + i - offset];
      bytes += match;
    }
    sh_.block_bytes = bytes;
    return true;
  }

  // As ZstdRepeats.
  __device__ std::uint32_t take_offset(std::uint32_t value, std::uint32_t literals) {
    const std::uint32_t first = sh_.repeats[0], second = sh_.repeats[1], third = sh_.repeats[2];
    const std::uint32_t place =
        value > kZstdRepeatCount ? kZstdRepeatCount : value - 1 + (literals == 0 ? 1 : 0);
    if (place == 0) return first;
    const std::uint32_t offset = value > kZstdRepeatCount ? value - kZstdRepeatCount
                                 : place == 1             ? second
                                 : place == 2             ? third
                                                          : first - 1;
    if (place != 1) sh_.repeats[2] = second;
    sh_.repeats[1] = first;
    sh_.repeats[0] = offset;
    return offset;
  }

  LeftMemory& sh_;
  const unsigned lane_;
  const std::uint8_t* const d_bytes_;
  const std::uint64_t size_;
  std::uint8_t* const d_output_;  // nullptr: only sizes and statuses are wanted
  const std::uint64_t capacity_;
  std::uint64_t at_ = 0, written_ = 0;
  // Of the frame.
  std::uint64_t frame_begin_ = 0, window_bytes_ = 0;
  std::uint32_t most_bytes_ = 0;
  unsigned code_bits_ = 0;
  unsigned known_kinds_ = 0;  // tables that blocks have defined, as bits
};

// Mapping: a warp a chunk, a warp a thread block, in turns. Shared memory: 16 KB. Synchronisation inside of the warp alone. Work: linear in
// bytes read and written, by one lane but for tables and blocks that are not compressed. CPU twin: restore_zstd_chunk_reference().
__global__ void __launch_bounds__(32)
    restore_left_zstd_chunks(const DeviceRestore batch, const ZstdStages stages) {
  __shared__ LeftMemory sh_memory;
  const unsigned lane = threadIdx.x;
  for (std::uint32_t i = blockIdx.x; i < stages.d_counts[ZstdStages::kLeft]; i += gridDim.x) {
    const std::uint32_t index = stages.d_left[i];
    if (lane == 0) trace_mark(kTraceRestoreZstdChunk, index);
    LeftChunk chunk(batch, index, sh_memory, lane);
    const hemstitch_status status =
        stages.form == ZstdChunkForm::kBlocks ? chunk.restore_blocks() : chunk.restore();
    __syncwarp();
    if (lane != 0) continue;
    batch.d_output_bytes[index] = status == HEMSTITCH_OK ? chunk.written() : 0;
    batch.d_statuses[index] = status;
  }
}

constexpr KernelBudget kCloseBudget("zstd_restore.close", "close_zstd_chunks",
                                    {.threads = kCloseThreads, .registers = 64});
const KernelRegistration kCloseRegistration(kCloseBudget, close_zstd_chunks);
constexpr KernelBudget kLeftBudget("zstd_restore.left_chunks", "restore_left_zstd_chunks",
                                   {.threads = 32, .registers = 168, .shared_bytes = sizeof(LeftMemory)});
const KernelRegistration kLeftRegistration(kLeftBudget, restore_left_zstd_chunks);

}  // namespace

void launch_zstd_close(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kCloseBudget,
          .grid = static_cast<unsigned>((batch.count + kClosedChunks - 1) / kClosedChunks),
          .stream = stream},
         close_zstd_chunks, batch, stages);
}

void launch_zstd_left(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kLeftBudget,
          .grid = static_cast<unsigned>(batch.count < kMostLeftBlocks ? batch.count : kMostLeftBlocks),
          .stream = stream},
         restore_left_zstd_chunks, batch, stages);
}

}  // namespace hemstitch::cuda
