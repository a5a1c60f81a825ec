// Plans how a batch of blocks travels to a device with its own memory: one span of bytes is uploaded, one
// span of results is downloaded.
//
// The plan is only data: offsets into two spans, and the copies that fill the first span. It is made and
// tested without a device.
//
//   input span     compressing: each block with its history directly before it. If the history is the end of the
//                  block before, it is there already and not copied again: the blocks of a linked frame lie
//                  here as they lie in the file.
//                  Restoring: the LZ4 blocks one after the other, then each different history once.
//   output span    compressing: the room of each block. Restoring: the room of each block, with its history, if
//                  any, directly before it. Without histories all rooms touch, so that full blocks are
//                  downloaded in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/backend.hpp"

namespace hemstitch {

// Where a task's bytes are in the two spans.
struct StagedTask {
  std::size_t input_at = 0;         // its first byte, after the history
  std::uint32_t history_bytes = 0;  // directly before input_at (compressing) or output_at (restoring)
  std::size_t output_at = 0;
};

struct Staging {
  // Copies host memory to a place in the input span. In ascending order, without overlap.
  struct Upload {
    std::span<const std::byte> from;
    std::size_t at = 0;
  };
  // Copies within the device, from the input span to the output span.
  struct Move {
    std::size_t from = 0, at = 0, bytes = 0;
  };

  std::vector<StagedTask> tasks;  // one for each of the batch
  std::vector<Upload> uploads;
  std::vector<Move> moves;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
};

// With `one_memory`, all inputs lie in order in one piece of memory, whole_input(). This piece is uploaded as
// it is, and the bytes between the inputs may be read too; compression tasks must then have no histories.
Staging stage_for_compression(std::span<const BlockTask> tasks, bool one_memory = false);
Staging stage_for_restoration(std::span<const BlockTask> tasks, bool one_memory = false);
// From the first input to the last one. Empty if they are not in order, or too far apart to be uploaded in
// one piece.
std::span<const std::byte> whole_input(std::span<const BlockTask> tasks);

// Call it once each task's output_bytes are known. Returns the parts of the output span that hold results
// (tasks with status kOk), as few as possible, and the host memory that each part goes to. If a block does
// not fill its room, as in BGZF, and the next room follows directly in both memories, the rest of the room is
// transferred too.
struct StagedSpan {
  std::size_t at = 0;
  std::span<std::byte> to;
};
std::vector<StagedSpan> results_of(const Staging& staging, std::span<const BlockTask> tasks);
// Once the results are at their places: fills what was transferred beyond them with zeros. The device's memory
// may hold bytes of another call there, which must not reach this caller.
void clear_unused_rooms(std::span<const BlockTask> tasks);
// Whether the spans are large enough, on average, to be downloaded directly to their places, with a copy for
// each. Smaller ones are downloaded as runs_of() says, and a core copies them from there.
bool come_down_alone(std::span<const StagedSpan> spans);
// All of `spans`, in as few parts of the output span as possible, wherever they belong.
struct StagedRun {
  std::size_t at = 0, bytes = 0;
};
std::vector<StagedRun> runs_of(std::span<const StagedSpan> spans);

}  // namespace hemstitch
