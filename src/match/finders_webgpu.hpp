// All finders that have shaders behind one call (a header each, of those in match/finder_rows.hpp, in finders_webgpu.cpp),
// and one run from bytes to records.
#pragma once

#include "gpu/webgpu/device.hpp"
#include "match/common/finder.hpp"
#include "match/common/finder_webgpu.hpp"
#include "match/finder_rows.hpp"

namespace hemstitch::webgpu {

bool has_shader(const AnyFinder& finder);

// Throws kInvalidOption for a finder without shaders, and for parameters that the finder refuses.
void record_find(const AnyFinder& finder, Recording& recording, const BlockBatch& batch,
                 const FinderBuffers& buffers);
// Of FinderBuffers::heads; 0 for finders without them.
std::uint64_t find_heads_bytes(const AnyFinder& finder, std::uint64_t block_count);

// One block, up and back. With `all`, also what the finder counts, and what it had before its stitch, where it keeps that;
// this takes several times as long. Throws what record_find() and the device throw.
FoundMatches find(Device& device, const FinderInput& input, const AnyFinder& finder, bool all);

// The data of one block as a batch: the host's side of it, and its buffers as parts of a plan.
struct SingleBlock {
  explicit SingleBlock(const FinderInput& input);
  BlockBatch plan(BufferPlan& plan) const;
  void upload_to(Device& device, const BufferSet& buffers, const BlockBatch& batch) const;
  // Its elements of an array with one for each byte of the data.
  MatchRecords records_of(Device& device, const Buffer& array) const;

  FinderInput input;
  BlockTable table;
};

}  // namespace hemstitch::webgpu
