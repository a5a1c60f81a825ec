#include "match/common/webgpu/block_batch.hpp"

#include <algorithm>

namespace hemstitch::webgpu {

void BlockTable::add(std::uint32_t begin, std::uint32_t history_bytes, std::uint32_t block_bytes,
                     std::uint32_t room_bytes, std::uint32_t shortest_match) {
  BlockRow row;
  row.begin = begin;
  row.history_bytes = history_bytes;
  row.block_bytes = block_bytes;
  row.first_tile = static_cast<std::uint32_t>(tiles.size());
  row.tile_count =
      std::max<std::uint32_t>(1, static_cast<std::uint32_t>(divided_up(block_bytes, kTilePositions)));
  row.room_bytes = room_bytes;
  row.first_sequence = sequence_count;
  row.number = static_cast<std::uint32_t>(rows.size());
  tiles.insert(tiles.end(), row.tile_count, row.number);
  rows.push_back(row);
  data_bytes = std::max(data_bytes, begin + history_bytes + block_bytes);
  sequence_count += block_bytes / shortest_match + 1;
  longest_bytes = std::max(longest_bytes, history_bytes + block_bytes);
}

BlockBatch BlockBatch::of(const BlockTable& table) const {
  BlockBatch batch = *this;
  batch.block_count = static_cast<std::uint32_t>(table.rows.size());
  batch.tile_count = static_cast<std::uint32_t>(table.tiles.size());
  batch.longest_bytes = table.longest_bytes;
  return batch;
}

}  // namespace hemstitch::webgpu
