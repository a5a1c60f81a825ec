// search on a CUDA device: every match of a PatternSet in texts that lie one after the other in device
// memory. These are the matches of find_in_texts (search.hpp), all of them and in the same order.
//
// They are counted, then written. A caller that does not know the number reads the total in between:
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

// A PatternTable on the device.
struct DevicePatterns {
  PatternPlaces places;
  const std::uint32_t* d_words = nullptr;
};

std::size_t search_cuda_scratch_bytes(const CudaTexts& texts);

// Counts the matches. Leaves in the scratch memory what write_matches_cuda() needs. Asynchronous on `stream`;
// can be captured in a graph. Throws kInvalidOption if `scratch_bytes` is too small.
void count_matches_cuda(const CudaTexts& texts, const DevicePatterns& patterns, std::uint64_t* d_total,
                        void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

// Writes matches 0 up to min(total, room), ascending. Texts, patterns and scratch must be those of the count.
// Also asynchronous and capturable; may be called again.
void write_matches_cuda(const CudaTexts& texts, const DevicePatterns& patterns, PackedMatch* d_matches,
                        std::uint64_t room, void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
