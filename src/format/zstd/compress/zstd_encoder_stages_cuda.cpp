#include "format/zstd/compress/zstd_encoder_stages_cuda.hpp"

#include <string>

#include "core/status.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch::cuda {

ZstdEncodeRoom take_zstd_encode_room(const DeviceBlocks& blocks, Carver& carver, Carver& writing_carver) {
  const std::uint64_t content_bytes = blocks.total_block_bytes;
  const std::uint32_t count = blocks.block_count;
  return {
      .d_counts = carver.take<ZstdBlockCounts>(count),
      .d_tables = carver.take<ZstdBlockTables>(count),
      .d_literals = carver.take<std::uint8_t>(zstd_literals_at(content_bytes, count)),
      .d_values = writing_carver.take<std::uint64_t>(first_sequence(content_bytes, count, zstd_block_plan())),
      .d_bits = writing_carver.take<std::uint32_t>(zstd_bits_at(content_bytes, count))};
}

void price_zstd_blocks_cuda(const DeviceBlocks& blocks, const DeviceSequences& sequences,
                            const ZstdEncodeRoom& room, ZstdDevicePrices* d_prices, cudaStream_t stream) {
  value_zstd_sequences_cuda(blocks, sequences, false, room, stream);
  choose_zstd_tables_cuda(blocks, false, room, d_prices, stream);
}

void size_zstd_blocks_cuda(const DeviceBlocks& blocks, const DeviceSequences& sequences,
                           const ZstdEncodeRoom& room, std::uint32_t* d_sizes, cudaStream_t stream) {
  if (blocks.max_block_bytes > kZstdOwnBlockBytes)
    throw Error(Status::kInvalidOption, "a block of Zstandard has " + std::to_string(blocks.max_block_bytes) +
                                            " bytes, ours can have " + std::to_string(kZstdOwnBlockBytes));
  value_zstd_sequences_cuda(blocks, sequences, true, room, stream);
  choose_zstd_tables_cuda(blocks, true, room, nullptr, stream);
  state_zstd_sequences_cuda(blocks, room, d_sizes, stream);
}

}  // namespace hemstitch::cuda
