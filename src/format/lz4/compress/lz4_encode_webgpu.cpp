#include "format/lz4/compress/lz4_encode_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

constexpr std::string_view kLz4EncodeShader = "format/lz4/compress/lz4_encode.wgsl";
constexpr std::uint32_t kThreads = 256;

Step step(std::string_view entry_point, const BlockBatch& batch, std::uint64_t invocations,
          std::vector<Binding> bindings) {
  const std::uint64_t workgroups = divided_up(invocations, kThreads);
  return {kLz4EncodeShader,
          entry_point,
          {batch.tile_count, batch.block_count, static_cast<std::uint32_t>(workgroups)},
          std::move(bindings),
          workgroups};
}

}  // namespace

void record_lz4_encode(Recording& recording, const BlockBatch& batch, const Lz4EncodeBuffers& buffers,
                       std::uint64_t most_output_bytes) {
  const Binding rows{batch.rows, Access::kRead}, entries{buffers.entries, Access::kReadWrite},
      sequences{buffers.sequences, Access::kRead}, pieces{buffers.pieces, Access::kReadWrite},
      sizes{buffers.sizes, Access::kReadWrite}, padded{buffers.padded, Access::kReadWrite};
  recording.dispatch(step("size_sequences", batch, batch.tile_count,
                          {kNoBinding, rows, {batch.tiles, Access::kRead}, entries, sequences, pieces}));
  recording.dispatch(step("place_tiles", batch, batch.block_count,
                          {kNoBinding, rows, kNoBinding, entries, kNoBinding, kNoBinding, sizes, padded}));
  record_scan(recording, buffers.padded, buffers.begins, buffers.scan, batch.block_count);
  recording.dispatch(step("write_words", batch, divided_up(most_output_bytes, 4),
                          {{batch.data, Access::kRead},
                           rows,
                           kNoBinding,
                           entries,
                           sequences,
                           pieces,
                           sizes,
                           kNoBinding,
                           {buffers.begins, Access::kRead},
                           {buffers.output, Access::kReadWrite}}));
}

}  // namespace hemstitch::webgpu
