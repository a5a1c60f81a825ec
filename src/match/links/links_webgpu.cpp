#include "match/links/links_webgpu.hpp"

namespace hemstitch::webgpu {

void record_links(Recording& recording, const BlockBatch& batch, BufferId heads, BufferId links,
                  unsigned hash_bits, std::uint32_t most_distance) {
  constexpr std::uint32_t kTurnPositions = 32768;
  std::uint32_t first_position = 0;
  do {
    recording.dispatch({"match/links/links.wgsl",
                        "link",
                        {batch.block_count, hash_bits, most_distance, first_position},
                        {{batch.data, Access::kRead},
                         {batch.rows, Access::kRead},
                         {heads, Access::kReadWrite},
                         {links, Access::kReadWrite}},
                        batch.block_count});
    first_position += kTurnPositions;
  } while (first_position < batch.longest_bytes);
}

}  // namespace hemstitch::webgpu
