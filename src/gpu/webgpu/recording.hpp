// The work of a batch on the device, as data: the buffers, and which shaders run over which of them, in which
// order. It is made without a device, so planning is tested without one; a Device executes it.
//
// A stage (match/X/X_webgpu.hpp and so on) adds its steps to a Recording and names its results by BufferId.
// Steps run one after the other: a step may read what earlier steps wrote. Within a step, workgroups run in
// any order, and must not wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/workspace.hpp"

namespace hemstitch::webgpu {

struct BufferId {
  std::uint32_t index = 0;
  friend bool operator==(BufferId, BufferId) = default;
};

// The buffers of a batch, with names and sizes. They are made all at once (BufferSet), and can be printed
// before.
class BufferPlan {
 public:
  struct Part {
    std::string name;
    std::uint64_t bytes = 0;
  };

  // `bytes` is rounded up to whole words; shaders may read a word beyond that (kSlackBytes).
  BufferId add(std::string name, std::uint64_t bytes);
  const std::vector<Part>& parts() const { return parts_; }
  std::uint64_t bytes(BufferId id) const { return parts_[id.index].bytes; }
  std::uint64_t total_bytes() const;

 private:
  std::vector<Part> parts_;
};

// Zeroed room after the requested size, so that an unaligned word at the end of data can be loaded as two
// whole words.
inline constexpr std::uint64_t kSlackBytes = 16;

enum class Access : std::uint8_t { kNone, kRead, kReadWrite };

struct Binding {
  BufferId buffer;
  Access access = Access::kNone;
};
// Stands for a binding that an entry point does not use. (A buffer that is written must not be bound twice.)
inline constexpr Binding kNoBinding = {};

// One dispatch. Bindings are those of group 0: binding 0 is the uniform buffer with `parameters`, followed by
// `bindings` in order.
struct Step {
  std::string_view shader;       // path below src/
  std::string_view entry_point;  // a function of that shader
  std::vector<std::uint32_t> parameters;
  std::vector<Binding> bindings;
  std::uint64_t workgroup_count = 0;                           // 0: nothing runs
  std::vector<std::pair<std::string, double>> constants = {};  // for the shader's `override`s
};

class Recording {
 public:
  void dispatch(Step step) { steps_.push_back(std::move(step)); }
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

// How many workgroups in x and y give at least `count`, since each dimension has a limit. The shader computes
// its number from both (shared/workgroup.wgsl), and workgroups with numbers of `count` and above do nothing.
// Throws kInvalidOption if two dimensions are not enough.
struct DispatchSize {
  std::uint32_t x = 0, y = 0;
};
DispatchSize dispatch_size(std::uint64_t count, std::uint32_t most_per_dimension);

constexpr std::uint64_t divided_up(std::uint64_t value, std::uint64_t divisor) {
  return (value + divisor - 1) / divisor;
}

}  // namespace hemstitch::webgpu
