#include "compact/gather/gather_webgpu.hpp"

namespace hemstitch::webgpu {

void record_gather(Recording& recording, const GatherBuffers& buffers, std::uint32_t piece_count,
                   std::uint64_t most_output_bytes) {
  constexpr std::uint64_t kBytesPerWorkgroup = 8192;  // 256 invocations, each two vectors of 16 bytes
  if (piece_count == 0) return;
  const std::uint64_t workgroups = divided_up(most_output_bytes, kBytesPerWorkgroup);
  recording.dispatch({"compact/gather/gather.wgsl",
                      "gather",
                      {piece_count, static_cast<std::uint32_t>(workgroups)},
                      {{buffers.source, Access::kRead},
                       {buffers.pieces, Access::kRead},
                       {buffers.begins, Access::kRead},
                       {buffers.output, Access::kReadWrite}},
                      workgroups});
}

}  // namespace hemstitch::webgpu
