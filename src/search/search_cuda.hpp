// search on a CUDA device: every match of a PatternSet in texts that lie one behind the other in device memory; the
// matches of find_in_texts (search.hpp), none dropped and in the same order.
//
// Counted, then written. Who does not know how many there are reads the total between the two:
//
//   count_matches_cuda(texts, patterns, d_total, d_scratch, scratch_bytes, stream);
//   ... room for *d_total matches ...
//   write_matches_cuda(texts, patterns, d_matches, room, d_scratch, scratch_bytes, stream);
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "hemstitch/search.hpp"
#include "search/pattern_table.hpp"
#include "search/search_words.hpp"

namespace hemstitch::cuda {

// PatternTable on the device.
struct DevicePatterns {
  PatternPlaces places;
  const std::uint32_t* d_words = nullptr;
};

std::size_t search_cuda_scratch_bytes(const CudaTexts& texts);

// How many matches there are. Leaves in the scratch what write_matches_cuda() needs. Asynchronous on `stream`; may be
// captured in a graph. Throws kInvalidOption if `scratch_bytes` is less than the above.
void count_matches_cuda(const CudaTexts& texts, const DevicePatterns& patterns, std::uint64_t* d_total,
                        void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

// Writes matches 0 up to min(total, room), ascending. Texts,
// patterns and scratch as they were counted. Asynchronous and capturable as well; may be called again.
void write_matches_cuda(const CudaTexts& texts, const DevicePatterns& patterns, PackedMatch* d_matches,
                        std::uint64_t room, void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
