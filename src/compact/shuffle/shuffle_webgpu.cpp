#include "compact/shuffle/shuffle_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

void record_moving(Recording& recording, const char* entry_point, const ShuffleBuffers& buffers,
                   std::uint32_t buffer_count, std::uint32_t element_bytes, std::uint64_t most_bytes) {
  constexpr std::uint64_t kBytesPerWorkgroup = 4096;  // 256 vectors of 16 bytes
  if (buffer_count == 0) return;
  const std::uint64_t workgroups = divided_up(most_bytes, kBytesPerWorkgroup);
  recording.dispatch({"compact/shuffle/shuffle.wgsl",
                      entry_point,
                      {buffer_count, element_bytes, static_cast<std::uint32_t>(workgroups)},
                      {{buffers.source, Access::kRead},
                       {buffers.begins, Access::kRead},
                       {buffers.output, Access::kReadWrite}},
                      workgroups});
}

}  // namespace

void record_shuffle(Recording& recording, const ShuffleBuffers& buffers, std::uint32_t buffer_count,
                    std::uint32_t element_bytes, std::uint64_t most_bytes) {
  record_moving(recording, "shuffle", buffers, buffer_count, element_bytes, most_bytes);
}

void record_unshuffle(Recording& recording, const ShuffleBuffers& buffers, std::uint32_t buffer_count,
                      std::uint32_t element_bytes, std::uint64_t most_bytes) {
  record_moving(recording, "unshuffle", buffers, buffer_count, element_bytes, most_bytes);
}

}  // namespace hemstitch::webgpu
