// What all parses share on WebGPU: one list of sequences for each block, equal to that of the twin.
//
// A parse decides at every position (record_lazy() and so on) whether a match or a literal follows.
// record_walk() then follows the decisions from each block's first byte.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "core/block_plan.hpp"
#include "match/common/webgpu/block_batch.hpp"
#include "parse/greedy/greedy.hpp"
#include "parse/lazy/lazy.hpp"

namespace hemstitch::webgpu {

// In the layout that walk.wgsl writes. The last sequence of a block has no match and is at the block's end.
// As in all sequences, its literals are the bytes since the match before.
struct DeviceSequence {
  std::uint32_t place = 0;  // byte of the data at which the match begins
  std::uint32_t record = 0;
};

struct WalkBuffers {
  BufferId decisions;  // 4 bytes for each byte of the data
  BufferId exits;      // as large
  BufferId entries;    // 16 bytes for each tile
  BufferId counts;     // 4 bytes for each block: its sequences, including the last literals
  BufferId sequences;  // BlockTable::sequence_count elements of DeviceSequence; may be `exits`
};

// The list of block b begins at its row's first_sequence.
void record_walk(Recording& recording, const BlockBatch& batch, const WalkBuffers& buffers);

// The first part of record_walk(), without sequences: where the walk enters each tile.
void record_walk_entries(Recording& recording, const BlockBatch& batch, BufferId decisions, BufferId exits,
                         BufferId entries, BufferId counts);

// The uniform block of a parse begins with these words.
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
