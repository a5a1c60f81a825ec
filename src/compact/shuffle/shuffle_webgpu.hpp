// shuffle and unshuffle through WebGPU; shuffle.hpp defines them.
#pragma once

#include <cstdint>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

struct ShuffleBuffers {
  BufferId source;
  BufferId begins;  // of scan: where each buffer begins, in both spans, and the total; below 2^32
  BufferId output;  // in vectors of 16 bytes: the bytes after the total in the last one become 0
};

// `buffer_count` buffers with elements of `element_bytes`, 1..kMostElementBytes, and at most `most_bytes`
// together.
void record_shuffle(Recording& recording, const ShuffleBuffers& buffers, std::uint32_t buffer_count,
                    std::uint32_t element_bytes, std::uint64_t most_bytes);
void record_unshuffle(Recording& recording, const ShuffleBuffers& buffers, std::uint32_t buffer_count,
                      std::uint32_t element_bytes, std::uint64_t most_bytes);

}  // namespace hemstitch::webgpu
