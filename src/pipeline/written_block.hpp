// A block as an engine left it, for the writer of its frame.
#pragma once

#include "engine/backend.hpp"
#include "format/frame_writer.hpp"

namespace hemstitch {

inline FrameWriter::Block written_block(const BlockTask& task) {
  if (task.status == Status::kOutputTooSmall) return {task.input, std::nullopt};
  return {task.input, task.output.first(task.output_bytes), task.last_byte_bits};
}

}  // namespace hemstitch
