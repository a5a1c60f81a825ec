// The ways in which restore_deflate_cuda (deflate_restore_cuda.hpp) restores streams, by its contract. All give the same.
#pragma once

#include "format/deflate/restore/deflate_restore_cuda.hpp"

namespace hemstitch::cuda {

enum class DeflateWay {
  kMany,  // a warp a stream: with as little work as can be
  kFew,   // kDeflateGroupWarps a stream: for batches that are too small to fill the device with a warp each
};

// The one that the batch takes. kMany where the device has too little shared memory for the other.
DeflateWay deflate_way(const DeviceRestore& batch);

// restore_deflate_cuda() by a given way.
void restore_deflate_cuda(DeflateWay way, const DeviceRestore& batch, void* d_scratch,
                          std::size_t scratch_bytes, cudaStream_t stream);

// Streams that were given up by the kernel of a way, in any order: the sequential one says what is wrong with them.
struct LeftDeflateStreams {
  std::uint32_t* d_count;
  std::uint32_t* d_indices;
};

// The kernel of kFew, and whether the device has room for it.
void launch_few_deflate_streams(const DeviceRestore& batch, const LeftDeflateStreams& left,
                                cudaStream_t stream);
bool few_deflate_streams_fit();

}  // namespace hemstitch::cuda
