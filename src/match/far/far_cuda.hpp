// far on a CUDA device: exactly the records of find_far (far.hpp), for a batch of pieces, in 32 bits each.
//
// A piece is a DeviceBlock whose history may be as long as the window: it is searched as find_far() searches a block behind that history. Pieces that follow
// each other in memory and in the batch, each with all that the piece before it has as its history, as far as the window reaches, are a *span* and share
// a table. That saves entering the window before each of them. A long run is cut into spans, which are searched at once; each begins
// by entering the window before it. What makes up a span is found on the device; it never changes a record.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "match/common/cuda/device_block.hpp"
#include "match/far/far.hpp"
#include "match/far/far_record.hpp"

namespace hemstitch::cuda {

// Limits of the device; the twin has none of them. A record has 24 bits of offset and 8 of length, and the stitch adds up to its reach to the cap.
inline constexpr std::uint32_t kMostFarDeviceWindowBytes = kMostFarRecordOffset;
inline constexpr std::uint32_t kMostFarDeviceWays = 8;
inline constexpr std::uint32_t kMostFarDeviceGridBytes = 16;
inline constexpr std::uint32_t kMostFarDeviceCapBytes = kMostFarRecordLength - 16;
inline constexpr std::uint32_t kMostFarPieceBytes = 64 << 20;

// Numbers that only affect the speed.
struct FarSpeed {
  // Pieces of a run that share a table. Half as long, each byte would be entered three times instead of twice.
  std::uint32_t span_bytes = 8 << 20;
  // Spans at a time. 16 tables of 4 MB stay in an H200's cache; there will be fewer if they would take more than 256 MB.
  std::uint32_t most_tables = 16;
};

// Device memory that find_far_cuda needs besides the records: 4 bytes for each position, and the tables (4 * 2^hash_bits * ways bytes each; never more of
// them than pieces).
std::size_t find_far_cuda_scratch_bytes(const DeviceBlocks& pieces, const FarParameters& parameters,
                                        const FarSpeed& speed = {});

// Writes the record of every position of every piece to d_records, at DeviceBlock::position. Asynchronous: the stream's next synchronisation
// shows errors of the kernels. Can be captured in a graph. Throws kInvalidOption for parameters outside their limits (with the
// field's name), for a piece that is too large, and for too little scratch.
//
// Thread blocks of a span wait for each other, up to an eighth of the multiprocessors together. So up to eight of these calls may run at once on one device.
void find_far_cuda(const DeviceBlocks& pieces, const FarParameters& parameters, FarRecord* d_records,
                   void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

// The two halves of it: the matches without the stitch, with the same scratch, and the stitch alone. For tests and benchmarks.
void find_unstitched_far_cuda(const DeviceBlocks& pieces, const FarParameters& parameters,
                              FarRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                              cudaStream_t stream, const FarSpeed& speed = {});
void stitch_far_cuda(const DeviceBlocks& pieces, const FarParameters& parameters, const FarRecord* d_found,
                     FarRecord* d_records, cudaStream_t stream);

}  // namespace hemstitch::cuda
