// The stages of restoring Zstandard on a device (zstd_restore_cuda.hpp), and what they hand on.
//
// Blocks of all chunks are records in one list. What a block needs lies in pools of the batch, at places that one atomic addition
// a chunk takes: so the places differ from run to run, and nothing else does. A chunk for which a pool has no room is left to the
// last kernel, like one with damage.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/device_format.hpp"
#include "format/zstd/restore/zstd_device_frame.cuh"
#include "format/zstd/restore/zstd_device_tables.cuh"
#include "format/zstd/restore/zstd_restore_cuda.hpp"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kZstdNone = 0xFFFFFFFF;
// Offsets from before a block, and others that do not fit below, are names: a slot of the three repeat offsets at the block's beginning,
// less a difference ("repeat 1 minus 1", once or several times).
inline constexpr std::uint32_t kZstdNamedOffset = 1u << 27;
inline constexpr unsigned kZstdSlotAt = 25;
inline constexpr std::uint32_t kZstdDifferenceMask = (1u << kZstdSlotAt) - 1;

// A sequence: offset or its name (28 bits), literals (18), match (18).
using ZstdDeviceSequence = std::uint64_t;
inline constexpr unsigned kZstdLiteralsAt = 28, kZstdMatchAt = 46;
inline constexpr std::uint32_t kZstdOffsetMask = (1u << kZstdLiteralsAt) - 1,
                               kZstdLengthMask = (1u << 18) - 1;

// The states of a sequence's three codes: literals (9 bits), offset (8), match (9).
inline constexpr unsigned kZstdOffsetStateAt = 9, kZstdMatchStateAt = 17;
inline constexpr std::uint32_t kZstdLongStateMask = 511, kZstdShortStateMask = 255;

// A block of a chunk that is restored by stages.
struct ZstdBlockRecord {
  ZstdDeviceBlock block;
  std::uint32_t chunk;
  std::uint32_t
      tables;  // place of the tables that it defines, if it is compressed; kZstdNone: a record without use
  // Numbers of the records that define the tables which it uses: of literals, and of the three kinds of codes.
  std::uint32_t huffman_of, table_of[kZstdKinds];
  // In units of kZstdUnitBytes of the pool.
  std::uint32_t literals_unit, states_unit, sequences_unit;

  // Set by `tables`, for what it defines.
  std::uint32_t huffman_bits, huffman_bytes;  // bits of the longest code; bytes of the description
  std::uint32_t logs[kZstdKinds];
  std::uint32_t stream_at;  // where the bits of the sequences begin in the data

  std::int32_t
      first_bits;  // set by `states`: bits that are left behind the first states, counted from d_base as in ZstdBits
  std::uint32_t used_literals;      // set by `values`: those that sequences take
  std::uint32_t repeats[3];         // the repeat offsets after the block, as offsets or names
  std::uint32_t repeats_before[3];  // set by `places`: these are offsets
  std::uint64_t begin;              // where its content begins in the chunk's
};

// A chunk that is restored by stages.
struct ZstdChunkRecord {
  std::uint32_t first_block, block_count;
  std::uint64_t window_bytes;
  std::uint64_t stated_bytes;  // of the content, if the header has that
  std::uint64_t content_bytes;
  std::uint32_t stated_checksum;
  bool has_size, has_checksum;
  std::uint32_t is_left;  // nonzero: left to the last kernel
};

inline constexpr std::size_t kZstdUnitBytes = 16;
// Lists of blocks, in classes by the work that each is: warps take several blocks, which should be alike.
inline constexpr unsigned kZstdClasses = 64, kZstdLists = 2;  // of literals, of sequences

// All of the batch's scratch memory.
struct ZstdStages {
  ZstdChunkRecord* d_chunks;
  ZstdBlockRecord* d_blocks;
  std::uint8_t* d_pool;     // literals, states and sequences
  ZstdDeviceCell* d_cells;  // kZstdCells for each place of tables
  ZstdDeviceCode* d_codes;  // kZstdCodes for each
  std::uint32_t* d_lists;   // kZstdLists times block_room numbers of records
  // These two are zero at first. How many records, places of tables and units of the pool were asked for: perhaps more than there are.
  unsigned long long* d_taken;
  // Chunks that are left; then members of each class of each list, and how many of them stand in it.
  std::uint32_t* d_counts;
  std::uint32_t* d_left;  // the chunks for the last kernel
  // Symbols of chunks whose blocks are copied at once, so many for each chunk. nullptr: each chunk is copied by one warp.
  std::uint32_t* d_symbols;
  std::uint64_t symbols_of_chunk;
  std::uint32_t block_room, table_room, unit_room;
  ZstdChunkForm form;

  static constexpr unsigned kBlocks = 0, kTables = 1, kUnits = 2, kTakenCount = 3;
  static constexpr unsigned kLeft = 0, kClassesAt = 1;
  static constexpr unsigned kListedAt = kClassesAt + kZstdLists * kZstdClasses;
  static constexpr unsigned kCountsCount = kListedAt + kZstdLists * kZstdClasses;

#if defined(__CUDACC__)
  __device__ std::uint32_t block_count() const {
    return d_taken[kBlocks] < block_room ? static_cast<std::uint32_t>(d_taken[kBlocks]) : block_room;
  }
  __device__ const std::uint32_t* list(unsigned number) const {
    return d_lists + std::size_t{number} * block_room;
  }
  __device__ std::uint32_t listed(unsigned number) const {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < kZstdClasses; ++i) sum += d_counts[kListedAt + number * kZstdClasses + i];
    return sum;
  }
  __device__ std::uint8_t* unit(std::uint32_t index) const {
    return d_pool + std::size_t{index} * kZstdUnitBytes;
  }
  // A block is worked on unless its chunk is left. Kernels that run for its chunk at the same time may see that early or late.
  __device__ bool is_left(const ZstdBlockRecord& record) const {
    return *static_cast<volatile std::uint32_t*>(&d_chunks[record.chunk].is_left) != 0;
  }
  __device__ void leave(const ZstdBlockRecord& record) const {
    *static_cast<volatile std::uint32_t*>(&d_chunks[record.chunk].is_left) = 1;
  }
#endif
};

// Batches are restored in waves of about so much room for content, so that scratch memory is bounded.
std::size_t zstd_waves_scratch_bytes(const DeviceRestore& batch, std::uint64_t wave_bytes);
void restore_zstd_waves(const DeviceRestore& batch, std::uint64_t wave_bytes, void* d_scratch,
                        std::size_t scratch_bytes, cudaStream_t stream,
                        ZstdChunkForm form = ZstdChunkForm::kFrames);

// All stages, for a batch that `stages` has room for. Those below, in their order.
void launch_zstd_stages(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_open(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_list(const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_tables(const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_literals(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_states(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_values(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);
// Literals beside states and values, which need nothing of each other: each is bound by latency, and lasts as long as its longest block.
void launch_zstd_literals_and_sequences(const DeviceRestore& batch, const ZstdStages& stages,
                                        cudaStream_t stream);
void launch_zstd_places(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_copy(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_block_copy(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_close(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);
void launch_zstd_left(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream);

}  // namespace hemstitch::cuda
