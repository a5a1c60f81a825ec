#include "parse/matches/matches_webgpu.hpp"

namespace hemstitch::webgpu {

void record_matches(Recording& recording, const BlockBatch& batch, const WalkBuffers& walk,
                    const MatchesBuffers& buffers, const ScanBuffers& scan, std::uint32_t sequence_count) {
  constexpr std::uint32_t kThreads = 256;
  const auto pass = [&](std::string_view entry_point, std::uint64_t invocations,
                        std::vector<Binding> bindings) {
    const std::uint64_t workgroups = divided_up(invocations, kThreads);
    recording.dispatch({"parse/matches/matches.wgsl",
                        entry_point,
                        {batch.block_count, static_cast<std::uint32_t>(workgroups)},
                        std::move(bindings),
                        workgroups});
  };
  pass("count", batch.block_count,
       {kNoBinding, {walk.counts, Access::kRead}, {buffers.sizes, Access::kReadWrite}});
  record_scan(recording, buffers.sizes, buffers.begins, scan, batch.block_count);
  pass("collect", sequence_count,
       {{batch.rows, Access::kRead},
        kNoBinding,
        kNoBinding,
        {buffers.begins, Access::kRead},
        {walk.sequences, Access::kRead},
        {buffers.matches, Access::kReadWrite}});
}

}  // namespace hemstitch::webgpu
