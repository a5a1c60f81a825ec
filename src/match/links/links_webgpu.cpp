#include "match/links/links_webgpu.hpp"

namespace hemstitch::webgpu {

void record_links(Recording& recording, const BlockBatch& batch, BufferId heads, BufferId links,
                  unsigned hash_bits, std::uint32_t most_distance) {
  recording.dispatch({"match/links/links.wgsl",
                      "link",
                      {batch.block_count, hash_bits, most_distance},
                      {{batch.data, Access::kRead},
                       {batch.rows, Access::kRead},
                       {heads, Access::kReadWrite},
                       {links, Access::kReadWrite}},
                      batch.block_count});
}

}  // namespace hemstitch::webgpu
