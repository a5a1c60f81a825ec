// One long stream in the memory of a CUDA device, to be restored into its memory (DeviceFormat::restore_stream()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/status.hpp"

namespace hemstitch::cuda {

struct StreamInMemory {
  const std::byte* d_data = nullptr;
  std::uint64_t bytes = 0;
  // Returns once work on the stream may read the bytes before `end`. Empty: all bytes are there already.
  std::function<void(std::uint64_t end)> arrive = {};
  // Device memory for the content.
  std::span<std::byte> output = {};
  // Returns a larger output that holds the first `used` bytes of the content, and has room for `wanted` if it can; or the same one if
  // there is no more memory. Empty: the output cannot grow.
  std::function<std::span<std::byte>(std::uint64_t used, std::uint64_t wanted)> grow = {};
  // Whether checksums are verified that devices do not compute on the way.
  bool verifies = true;
};

struct StreamOutcome {
  // As for hemstitch_long_stream_restore().
  Status status = Status::kOk;
  std::uint64_t content_bytes = 0;  // valid ones, whatever the status
  std::uint64_t host_bytes = 0;     // how many of them were restored on the host
};

}  // namespace hemstitch::cuda
