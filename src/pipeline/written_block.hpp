// Converts a block from an engine to the form that the frame's writer takes.
#pragma once

#include "engine/backend.hpp"
#include "format/frame_writer.hpp"

namespace hemstitch {

inline FrameWriter::Block written_block(const BlockTask& task) {
  if (task.status == Status::kOutputTooSmall) return {task.input, std::nullopt};
  return {task.input, task.output.first(task.output_bytes), task.last_byte_bits};
}

}  // namespace hemstitch
