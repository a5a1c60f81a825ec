// Calls any finder that has shaders (finders_webgpu.cpp includes a header for each).
#pragma once

#include "match/common/webgpu/finder_webgpu.hpp"
#include "match/finder_rows.hpp"

namespace hemstitch::webgpu {

bool has_shader(const AnyFinder& finder);

// Throws kInvalidOption for a finder without shaders, and for parameters that the finder refuses.
void record_find(const AnyFinder& finder, Recording& recording, const BlockBatch& batch,
                 const FinderBuffers& buffers);
// The size of FinderBuffers::heads; 0 for finders without them.
std::uint64_t find_heads_bytes(const AnyFinder& finder, std::uint64_t block_count);

}  // namespace hemstitch::webgpu
