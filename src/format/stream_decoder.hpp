// Restoring a frame whose blocks cannot be told apart from outside (BlockKind::kStream): piece by piece, by someone who
// keeps what later pieces need. Engines make one for each frame (engine/backend.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/status.hpp"

namespace hemstitch {

// What became of a piece.
struct StreamStep {
  std::size_t input_bytes = 0;   // taken: of a stream that has ended, none behind its end
  std::size_t output_bytes = 0;  // restored, also where what follows is damaged
  bool ended = false;
  Status status = Status::kOk;   // kCorruptBlock: this cannot go on
  std::string_view detail = {};  // of that: what is wrong, where it is known
};

class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;

  // Goes on until the stream has ended, all input is taken, or the output is full: then there may be more of it, also without
  // input. Throws Error (device family) where the device failed.
  virtual StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) = 0;
};

}  // namespace hemstitch
