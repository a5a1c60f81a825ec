// What the kernels of far share: the parameters as they take them.
#pragma once

#include <cstdint>

#include "match/common/cuda/device_block.hpp"
#include "match/far/far_record.hpp"

namespace hemstitch::cuda {

// Of what all blocks of a launch share, in device memory; zeros at its begin.
struct FarState {
  std::uint32_t tickets;     // thread blocks that have begun
  std::uint32_t next_span;   // the first one that no group has taken
  std::uint32_t span_count;  // written before
};

// Of the thread blocks that search a span together; zeros at its begin. A cache line each.
struct alignas(128) FarGroup {
  std::uint32_t arrived;  // at barriers, over all of them
  std::uint32_t span[2];  // that is taken, for every other span in turn
};

struct FarWork {
  DeviceBlocks pieces;
  std::uint32_t* d_spans;  // the first piece of each span, and one more
  FarState* d_state;
  FarGroup* d_groups;
  std::uint32_t* d_tables;  // of each group
  FarRecord* d_records;

  std::uint32_t group_count = 0;        // the most
  std::uint32_t most_group_blocks = 0;  // thread blocks of a group
  std::uint32_t pieces_in_span = 0;     // the most
  std::uint32_t hash_bits = 0,
                tag_bits = 0;  // of a product: the bucket, and what an entry keeps besides its place
  std::uint32_t hash_bytes = 0;
  std::uint32_t grid_shift = 0;  // log2 of the grid's bytes
  std::uint32_t generation_bytes = 0, window_bytes = 0, cap_bytes = 0;
};

}  // namespace hemstitch::cuda
