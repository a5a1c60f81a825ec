// The ways in which restore_deflate_cuda (deflate_restore_cuda.hpp) restores streams, by its contract. All give the same.
#pragma once

#include "format/deflate/restore/deflate_restore_cuda.hpp"

namespace hemstitch::cuda {

enum class DeflateWay {
  kMany,    // a warp a stream: with as little work as can be
  kFew,     // kDeflateFewWarps a stream: for batches that are too small to fill the device with a warp each
  kFewest,  // kDeflateFewestWarps a stream: for those that are too small for kFew, too
};

// The one that the batch takes, for whose shared memory the device has room, as there always is for kMany.
DeflateWay deflate_way(const DeviceRestore& batch);

// restore_deflate_cuda() by a given way.
void restore_deflate_cuda(DeflateWay way, const DeviceRestore& batch, void* d_scratch,
                          std::size_t scratch_bytes, cudaStream_t stream);

// Streams that were given up by the kernel of a way, in any order: the sequential one says what is wrong with them.
struct LeftDeflateStreams {
  std::uint32_t* d_count;
  std::uint32_t* d_indices;
};

// Streams that are much longer than a batch's others most likely are: they are set apart, and groups of kDeflateFewestWarps restore them
// when the others are done. Of those that find no room there is one batch as any other.
struct LongDeflateStreams {
  std::uint32_t* d_count;    // may be above kDeflateMostLongStreams
  std::uint32_t* d_indices;  // kDeflateMostLongStreams; nullptr: none is set apart
};

// The kernel of kFew or kFewest for all streams, or for those that were set apart; and whether the device has room for it.
void launch_few_deflate_streams(DeflateWay way, const DeviceRestore& batch, const LeftDeflateStreams& left,
                                const LongDeflateStreams& set_apart, cudaStream_t stream);
void launch_long_deflate_streams(const DeviceRestore& batch, const LeftDeflateStreams& left,
                                 const LongDeflateStreams& streams, cudaStream_t stream);
bool few_deflate_streams_fit(DeflateWay way);

}  // namespace hemstitch::cuda
