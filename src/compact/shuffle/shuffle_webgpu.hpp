// shuffle and unshuffle through WebGPU; the definition stands in shuffle.hpp.
#pragma once

#include <cstdint>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

struct ShuffleBuffers {
  BufferId source;
  BufferId begins;  // of scan: where each buffer begins, in both spans, and the total; below 2^32
  BufferId output;  // in vectors of 16 bytes: those behind the total in the last one become 0
};

// `buffer_count` buffers of elements of `element_bytes`, 1..kMostElementBytes, of at most `most_bytes` in all.
void record_shuffle(Recording& recording, const ShuffleBuffers& buffers, std::uint32_t buffer_count,
                    std::uint32_t element_bytes, std::uint64_t most_bytes);
void record_unshuffle(Recording& recording, const ShuffleBuffers& buffers, std::uint32_t buffer_count,
                      std::uint32_t element_bytes, std::uint64_t most_bytes);

}  // namespace hemstitch::webgpu
