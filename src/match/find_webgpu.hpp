// The searching finders on a WebGPU device behind one call, and one search from bytes to records.
#pragma once

#include "gpu/webgpu/device.hpp"
#include "match/common/finder.hpp"
#include "match/common/finder_webgpu.hpp"

namespace hemstitch::webgpu {

// Throws kInvalidOption for brute_force, which has no shader, and for parameters that the finder refuses.
void record_search(Recording& recording, const BlockBatch& batch, const FinderOutput& output, Finder finder,
                   const FinderParameters& parameters);

struct SearchResult {
  MatchRecords records;
  MatchRecords before_stitch;  // of coop_stitch, if all was asked for
  SearchCounters counters;     // if all was asked for
};

// One block, up and back. With `all`, what finders count, which takes several times as long. Throws what record_search()
// and the device throw.
SearchResult search(Device& device, const FinderInput& input, Finder finder,
                    const FinderParameters& parameters, bool all);

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
