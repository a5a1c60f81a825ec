// The ways in which restore_deflate_cuda (deflate_restore_cuda.hpp) restores streams. All give the same
// result.
#pragma once

#include "format/deflate/restore/deflate_restore_cuda.hpp"

namespace hemstitch::cuda {

enum class DeflateWay {
  kMany,  // a warp for each stream: the least work
  kFew,   // kDeflateFewWarps for each stream: for batches too small to fill the device with one warp for each
  kFewest,  // kDeflateFewestWarps for each stream: for batches that are too small for kFew as well
};

// The way for this batch, among those for which the device has enough shared memory; kMany always fits.
DeflateWay deflate_way(const DeviceRestore& batch);

// restore_deflate_cuda() in a given way.
void restore_deflate_cuda(DeflateWay way, const DeviceRestore& batch, void* d_scratch,
                          std::size_t scratch_bytes, cudaStream_t stream);

// Streams that a kernel could not finish, in any order: the sequential one says what is wrong with them.
struct LeftDeflateStreams {
  std::uint32_t* d_count;
  std::uint32_t* d_indices;
};

// Streams that are probably much longer than the others of a batch. They are set apart, and groups of
// kDeflateFewestWarps restore them when the others are done. Those that find no room here stay with the
// others.
struct LongDeflateStreams {
  std::uint32_t* d_count;    // may be above kDeflateMostLongStreams
  std::uint32_t* d_indices;  // kDeflateMostLongStreams elements; nullptr: none is set apart
};

// The kernel of kFew or kFewest for all streams, or for those that were set apart; and whether the device has
// room for it.
void launch_few_deflate_streams(DeflateWay way, const DeviceRestore& batch, const LeftDeflateStreams& left,
                                const LongDeflateStreams& set_apart, cudaStream_t stream);
void launch_long_deflate_streams(const DeviceRestore& batch, const LeftDeflateStreams& left,
                                 const LongDeflateStreams& streams, cudaStream_t stream);
bool few_deflate_streams_fit(DeflateWay way);

}  // namespace hemstitch::cuda
