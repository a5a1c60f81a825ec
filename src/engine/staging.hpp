// How a batch of blocks travels to a device with memory of its own: one span of bytes up, one span of results down.
//
// A plan, nothing else: offsets into two spans, and the copies that fill the first one. It is made without a device,
// so it is tested without one.
//
//   input span     compressing: each block with its history directly before it. A block whose history is what stands
//                  before it already, the end of the block before, brings none of its own: the blocks of a linked
//                  frame lie there as they lie in the file.
//                  Restoring: the LZ4 blocks one after the other, then each different history once.
//   output span    compressing: the room of each block. Restoring: the room of each block, its history, where it has
//                  one, directly before it; without histories all rooms touch, so that full blocks come down in one
//                  piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/backend.hpp"

namespace hemstitch {

// Where a task's bytes stand in the two spans.
struct StagedTask {
  std::size_t input_at = 0;         // its first byte, behind the history
  std::uint32_t history_bytes = 0;  // directly before input_at (compressing) or output_at (restoring)
  std::size_t output_at = 0;
};

struct Staging {
  // Host memory to a place of the input span. In ascending order, without overlap.
  struct Upload {
    std::span<const std::byte> from;
    std::size_t at = 0;
  };
  // Inside the device: from the input span to the output span.
  struct Move {
    std::size_t from = 0, at = 0, bytes = 0;
  };

  std::vector<StagedTask> tasks;  // one for each of the batch
  std::vector<Upload> uploads;
  std::vector<Move> moves;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
};

// Of a history only the last kHistoryBytes are taken: nothing refers further back. With `one_memory`, all inputs stand in order in
// one piece of memory, whole_input(), which may be read between them too and goes up as it stands. Compressing, tasks have no
// histories then.
Staging stage_for_compression(std::span<const BlockTask> tasks, bool one_memory = false);
Staging stage_for_restoration(std::span<const BlockTask> tasks, bool one_memory = false);
// From the first input to the last; empty where they do not stand in order, or too far from each other to go up as one.
std::span<const std::byte> whole_input(std::span<const BlockTask> tasks);

// Of the output span, once each task's output_bytes is known: its parts that hold results (tasks with status kOk), as
// few as they can be, and the outputs, memory of the host, to which each of them belongs. Where a block does not quite fill its room,
// as members of BGZF do not, and the next one's room follows in both memories, what is left of the room is a part of the span.
struct StagedSpan {
  std::size_t at = 0;
  std::span<std::byte> to;
};
std::vector<StagedSpan> results_of(const Staging& staging, std::span<const BlockTask> tasks);
// Whether they are large enough, on average, to come down straight to their places by a copy each. Smaller ones come down as runs_of()
// says, and a core copies them from there.
bool come_down_alone(std::span<const StagedSpan> spans);
// All of `spans`, in as few parts of the output span as they can be, wherever they belong.
struct StagedRun {
  std::size_t at = 0, bytes = 0;
};
std::vector<StagedRun> runs_of(std::span<const StagedSpan> spans);

}  // namespace hemstitch
