// What all parses through WebGPU share: one list of sequences a block, equal to the twin's.
//
// A parse decides at every position (record_lazy() and so on: match or literal, from there on); record_walk() follows
// the decisions from each block's first byte.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "core/block_plan.hpp"
#include "match/common/block_batch.hpp"
#include "parse/greedy/greedy.hpp"
#include "parse/lazy/lazy.hpp"

namespace hemstitch::webgpu {

// As walk.wgsl writes it. The last sequence of a block has no match and stands at the block's end; its literals, like
// everyone's, are the bytes since the match before.
struct DeviceSequence {
  std::uint32_t place = 0;  // byte of the data at which the match begins
  std::uint32_t record = 0;
};

struct WalkBuffers {
  BufferId decisions;  // 4 bytes for each byte of the data
  BufferId exits;      // as large
  BufferId entries;    // 16 bytes a tile
  BufferId counts;     // 4 bytes a block: its sequences, the last literals included
  BufferId sequences;  // DeviceSequence each, BlockTable::sequence_count of them; may be `exits`
};

// The list of block b begins at its row's first_sequence.
void record_walk(Recording& recording, const BlockBatch& batch, const WalkBuffers& buffers);

// The part of it before the sequences: where the walk enters each tile.
void record_walk_entries(Recording& recording, const BlockBatch& batch, BufferId decisions, BufferId exits,
                         BufferId entries, BufferId counts);

// The uniform block of a parse begins with this.
std::vector<std::uint32_t> plan_parameters(const BlockPlan& plan, std::initializer_list<std::uint32_t> more);

void record_greedy(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                   const BlockPlan& plan);
void record_lazy(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                 const BlockPlan& plan, std::uint32_t lazy_skip = 0);

inline void record_parse(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                         const BlockPlan& plan, const GreedyParse&) {
  record_greedy(recording, batch, records, decisions, plan);
}
inline void record_parse(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                         const BlockPlan& plan, const LazyParse& parse) {
  record_lazy(recording, batch, records, decisions, plan, parse.skip);
}

}  // namespace hemstitch::webgpu
