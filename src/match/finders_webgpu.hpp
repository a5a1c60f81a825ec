// All finders that have shaders behind one call (a header each, of those in match/finder_rows.hpp, in finders_webgpu.cpp).
#pragma once

#include "match/common/finder_webgpu.hpp"
#include "match/finder_rows.hpp"

namespace hemstitch::webgpu {

bool has_shader(const AnyFinder& finder);

// Throws kInvalidOption for a finder without shaders, and for parameters that the finder refuses.
void record_find(const AnyFinder& finder, Recording& recording, const BlockBatch& batch,
                 const FinderBuffers& buffers);
// Of FinderBuffers::heads; 0 for finders without them.
std::uint64_t find_heads_bytes(const AnyFinder& finder, std::uint64_t block_count);

}  // namespace hemstitch::webgpu
