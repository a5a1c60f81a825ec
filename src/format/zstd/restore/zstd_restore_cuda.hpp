// Restores chunks of Zstandard (RFC 8878) on a CUDA device: the bytes, sizes and statuses of
// restore_zstd_chunk_reference() (frame/zstd_chunk_reference.hpp), for a batch of independent chunks of any
// content. A chunk is one or more whole frames, with nothing after them; skippable frames are skipped.
//
// A chunk that is one frame without a dictionary is restored by stages, each for all blocks of the batch at once:
//
//   open       a thread a chunk: headers of frame and blocks; which block describes the tables of which
//   tables     a warp a block: the tables of codes that a block describes
//   literals   a lane a stream of literals
//   states     a lane a block: the states of its sequences, which depend on each other bit by bit
//   values     a warp a block: lengths and offsets, 32 sequences at a time
//   places     a thread a chunk: where blocks begin, and which offsets repeated ones are
//   copy       a warp a chunk: literals and matches. Fewer than 768 chunks of more than 256 KB: a warp a block, to symbols, which then become bytes
//              (zstd_block_copy.cu)
//   checksums  four lanes a chunk
//   close      a thread a chunk: its status
//
// Every stage checks what it reads. A chunk that breaks a rule, and one that is not of this kind, is left to the
// last kernel: a warp for each, which goes byte by byte and decides what is wrong (zstd_restore_left.cu).
// docs/design/zstd-cuda.md explains the stages.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "format/device_format.hpp"
#include "gpu/cuda/kernel_trace.hpp"

namespace hemstitch::cuda {

// Marks of these kernels in a trace (kernel_trace.hpp), behind those that are listed there.
inline constexpr auto kTraceRestoreZstdChunk =
    static_cast<TraceMarker>(1035);  // open, copy, left: a chunk; its number
inline constexpr auto kTraceRestoreZstdBlock =
    static_cast<TraceMarker>(1036);  // others: a block; its record's number

// What a chunk is.
enum class ZstdChunkForm : std::uint8_t {
  kFrames,  // as above
  kBlocks  // the blocks of one frame alone, without header and checksum; its window reaches as far as the room
};

// Scratch: 3 bytes for each byte of room and about 10 KB for each chunk, or each 64 KB of a longer one; for at most 1.3 GB of room and
// 262,144 chunks at once. With few chunks of more than 256 KB: 7 bytes, for at most 0.7 GB.
std::size_t restore_zstd_cuda_scratch_bytes(const DeviceRestore& batch);

// Statuses are those of restore_zstd_chunk_reference(), or CORRUPT_BLOCK and OUTPUT_TOO_SMALL alone for blocks without a frame, and INVALID_OPTION for a chunk above the batch's limits. Without
// outputs, content checksums are not verified. Chunks have no history. Asynchronous on `stream`; can be captured
// in a graph. Throws kInvalidOption for histories, for 2^31 chunks or more, and for too little scratch.
void restore_zstd_cuda(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                       cudaStream_t stream, ZstdChunkForm form = ZstdChunkForm::kFrames);

}  // namespace hemstitch::cuda
