// One run of a finder on a WebGPU device, from bytes to records.
#pragma once

#include "gpu/webgpu/device.hpp"
#include "match/common/finder.hpp"
#include "match/finders_webgpu.hpp"

namespace hemstitch::webgpu {

// Uploads one block and downloads its records. With `all`, also the counters, and the records without the
// stitch if the finder keeps them; this takes several times as long. Throws what record_find() and the device
// throw.
FoundMatches find(Device& device, const FinderInput& input, const AnyFinder& finder, bool all);

// The data of one block as a batch: the host's side, and its buffers as parts of a plan.
struct SingleBlock {
  explicit SingleBlock(const FinderInput& input);
  BlockBatch plan(BufferPlan& plan) const;
  void upload_to(Device& device, const BufferSet& buffers, const BlockBatch& batch) const;
  // Reads its part of an array with one element for each byte of the data.
  MatchRecords records_of(Device& device, const Buffer& array) const;

  FinderInput input;
  BlockTable table;
};

}  // namespace hemstitch::webgpu
