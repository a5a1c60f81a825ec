// The stages of restoring a piece of one frame (zstd_frame_cuda.hpp), and what they hand on.
//
// To the stages of batches (zstd_stages_cuda.hpp), each block is a chunk of its own, with data that may be read and a verdict. Record 0
// stands for all blocks before the piece: it has their tables. The piece's blocks have the records from 1 on.
#pragma once

#include <cstdint>

#include "format/zstd/restore/zstd_repeats.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "format/zstd/stream/zstd_frame_cuda.hpp"
#include "format/zstd/stream/zstd_symbols.hpp"

namespace hemstitch::cuda {

struct ZstdFrameCarry {
  // Decoding carries tables, and placing carries offsets, which comes a piece later. 0: nothing was carried so far.
  std::uint32_t has_tables, has_repeats;
  std::uint32_t repeats[3];                      // offsets
  std::uint32_t huffman_bits, logs[kZstdKinds];  // kZstdNone: there is no such table
  alignas(16) ZstdDeviceCode codes[kZstdCodes];
  ZstdDeviceCell cells[kZstdCells];
};

// Why a block is left, as ZstdChunkRecord has it.
inline constexpr std::uint32_t kZstdLeftInDoubt = 1, kZstdLeftForRoom = 2;

struct ZstdFrameWork {
  ZstdFramePiece piece;
  ZstdStages stages;
  // For each record: the data that its block may read.
  const std::byte** d_data_of;
  std::size_t* d_bytes_of;
  std::uint32_t* d_symbols;  // of the content
  // The least key of a block that is left: its number, doubled, and 1 if it is in doubt.
  std::uint32_t* d_stop;
  ZstdFrameCarry* d_carry;
  ZstdFrameResult* d_result;

#if defined(__CUDACC__)
  __device__ const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(piece.d_data); }
  __device__ std::uint32_t most_block_bytes() const {
    return static_cast<std::uint32_t>(piece.window_bytes < kZstdMostBlockBytes ? piece.window_bytes
                                                                               : kZstdMostBlockBytes);
  }
  // Says that the block with this record is left, for content: all blocks from it on are then not restored.
  __device__ void stop_at(std::uint32_t record, std::uint32_t why) const {
    atomicMin(d_stop, 2 * record + (why == kZstdLeftInDoubt ? 1 : 0));
  }
  // The record of the first block that is not restored, or the one behind the last.
  __device__ std::uint32_t stop_record() const {
    const std::uint32_t record = *static_cast<volatile std::uint32_t*>(d_stop) / 2;
    return record <= piece.block_count ? record : piece.block_count + 1;
  }
#endif
};

#if defined(__CUDACC__)
// Of blocks in a row: the bytes of their content, and what they do to the three last offsets.
struct ZstdPlaced {
  std::uint64_t bytes;
  ZstdDeviceRepeats repeats;

  __device__ ZstdPlaced below(unsigned step) const {
    return {__shfl_up_sync(kAllLanes, bytes, step),
            {__shfl_up_sync(kAllLanes, repeats.first, step), __shfl_up_sync(kAllLanes, repeats.second, step),
             __shfl_up_sync(kAllLanes, repeats.third, step)}};
  }
  __device__ ZstdPlaced then(const ZstdPlaced& later) const {
    return {
        bytes + later.bytes,
        {offset_of(later.repeats.first), offset_of(later.repeats.second), offset_of(later.repeats.third)}};
  }
  // Over thousands of blocks, the difference in a name may become larger than a name can say. It is 0 then, which is no offset: a block that
  // has it before it is in doubt.
  __device__ std::uint32_t offset_of(std::uint32_t offset) const {
    const std::uint32_t resolved = resolved_zstd_offset(offset, repeats);
    const bool is_name = (offset & kZstdNamedOffset) != 0 && (resolved & kZstdNamedOffset) != 0;
    return is_name && (resolved & kZstdDifferenceMask) < (offset & kZstdDifferenceMask) ? 0 : resolved;
  }
};
#endif

void launch_zstd_frame_open(const ZstdFrameWork& work, cudaStream_t stream);
void launch_zstd_frame_check(const ZstdFrameWork& work, cudaStream_t stream);
// Carries on the tables that are in use behind the piece; `d_result`: behind its restored blocks, if these are not all.
void launch_zstd_frame_carry(const ZstdFrameWork& work, const ZstdFrameResult* d_result, cudaStream_t stream);
void launch_zstd_frame_places(const ZstdFrameWork& work, cudaStream_t stream);
void launch_zstd_frame_copy(const ZstdFrameWork& work, cudaStream_t stream);
void launch_zstd_frame_close(const ZstdFrameWork& work, cudaStream_t stream);
void launch_zstd_frame_resolve(const ZstdFrameWork& work, cudaStream_t stream);

}  // namespace hemstitch::cuda
