#include "format/deflate/compress/deflate_compress_webgpu.hpp"

#include <algorithm>

#include "format/deflate/compress/deflate_tuning.hpp"
#include "match/hash_chain/hash_chain_webgpu.hpp"
#include "match/near_three/near_three_webgpu.hpp"
#include "parse/optimal/optimal_tuning.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

constexpr std::uint32_t kChunkUnits = kDeflateChunkBytes / kDeflateSplitUnitBytes;
static_assert(kDeflateChunkBytes == std::size_t{64} * kTilePositions &&
                  kDeflateSplitUnitBytes == std::size_t{8} * kTilePositions && kChunkUnits == 8,
              "deflate_parts.wgsl has these numbers");
static_assert(kSegmentPositions == kTilePositions && kLookAheadPositions == 256,
              "deflate_parse.wgsl has these numbers");
static_assert(kDeflateMaxMatchBytes < 512, "deflate_parse.wgsl keeps the costs of so many positions");
static_assert(kDeflateMaxCodeBits * (kSegmentPositions + kLookAheadPositions) < 1u << 15,
              "deflate_parse.wgsl has 15 bits for a cost");
static_assert(kNearThreeHashBits == kDeflateChainHashBits, "both finders' heads stand in the same buffer");

// Sizes of structures in the headers of the shaders.
constexpr std::uint64_t kEntryBytes = 16;
constexpr std::uint64_t kTokensBytes = 136;
constexpr std::uint64_t kPartBytes = 1640;
constexpr std::uint64_t kHistogramsBytes = 10240;
constexpr std::uint64_t kPartBitsBytes = 256;
constexpr std::uint64_t kCostsBytes = 131072;

std::uint32_t parts_a_chunk(const DeflateLevel& level) { return level.splits ? kChunkUnits : 1; }

std::uint32_t chunk_count(std::uint64_t block_bytes) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, divided_up(block_bytes, kDeflateChunkBytes)));
}

void record_parse(Recording& recording, const DeflateCompressPlan& plan, const BlockBatch& chunks,
                  std::uint32_t parts) {
  constexpr std::uint32_t kHalves = 2;
  const std::uint32_t workgroups = kHalves * chunks.block_count;
  recording.dispatch({"format/deflate/compress/parse/deflate_parse.wgsl",
                      "solve",
                      {workgroups, parts},
                      {{chunks.data, Access::kRead},
                       {chunks.rows, Access::kRead},
                       {plan.records, Access::kRead},
                       {plan.near_records, Access::kRead},
                       {plan.decisions, Access::kReadWrite},
                       {plan.costs, Access::kReadWrite},
                       {plan.parts, Access::kRead}},
                      workgroups});
}

void record_tokens(Recording& recording, const DeflateCompressPlan& plan, const BlockBatch& chunks) {
  constexpr std::string_view kShader = "format/deflate/compress/codes/deflate_tokens.wgsl";
  constexpr std::uint32_t kTilesAtOnce = 2;
  const Binding rows{chunks.rows, Access::kRead}, decisions{plan.decisions, Access::kRead},
      tokens{plan.tokens, Access::kReadWrite};
  const auto mark_workgroups = static_cast<std::uint32_t>(divided_up(chunks.tile_count, kTilesAtOnce));
  recording.dispatch(
      {kShader,
       "mark",
       {chunks.tile_count, mark_workgroups},
       {kNoBinding, rows, {chunks.tiles, Access::kRead}, decisions, {plan.entries, Access::kRead}, tokens},
       mark_workgroups});
  const std::uint32_t count_workgroups = kChunkUnits * chunks.block_count;
  recording.dispatch({kShader,
                      "count",
                      {chunks.tile_count, count_workgroups},
                      {{chunks.data, Access::kRead},
                       rows,
                       kNoBinding,
                       decisions,
                       kNoBinding,
                       tokens,
                       {plan.histograms, Access::kReadWrite}},
                      count_workgroups});
}

void record_codes(Recording& recording, const DeflateCompressPlan& plan, const BlockBatch& chunks,
                  std::uint32_t parts) {
  constexpr std::string_view kShader = "format/deflate/compress/codes/deflate_codes.wgsl";
  const Binding rows{chunks.rows, Access::kRead}, tokens{plan.tokens, Access::kRead},
      histograms{plan.histograms, Access::kRead}, part_bits{plan.part_bits, Access::kReadWrite};
  if (parts > 1) {
    const std::uint32_t workgroups = kChunkUnits * kChunkUnits * chunks.block_count;
    recording.dispatch(
        {kShader, "size_parts", {workgroups, parts}, {rows, tokens, histograms, part_bits}, workgroups});
  }
  const std::uint32_t workgroups = parts * chunks.block_count;
  recording.dispatch({kShader,
                      "make_parts",
                      {workgroups, parts},
                      {rows, tokens, histograms, part_bits, {plan.parts, Access::kReadWrite}},
                      workgroups});
}

void record_encode(Recording& recording, const DeflateCompressPlan& plan, const BlockBatch& blocks,
                   const BlockBatch& chunks, std::uint32_t parts, DeflateEnd end,
                   std::uint64_t output_bytes) {
  constexpr std::uint32_t kThreads = 256, kPlaceThreads = 64, kWordBytes = 4;
  const auto pass = [&](std::string_view entry_point, std::uint64_t workgroups,
                        std::vector<Binding> bindings) {
    recording.dispatch({"format/deflate/compress/pack/deflate_encode.wgsl",
                        entry_point,
                        {chunks.tile_count, blocks.block_count, static_cast<std::uint32_t>(workgroups), parts,
                         end == DeflateEnd::kFinal ? 1u : 0u, 0, 0, 0},
                        std::move(bindings),
                        workgroups});
  };
  const Binding data{blocks.data, Access::kRead}, chunk_rows{chunks.rows, Access::kRead},
      chunk_tiles{chunks.tiles, Access::kRead}, decisions{plan.decisions, Access::kRead},
      begins{plan.begins, Access::kRead}, output{plan.output, Access::kReadWrite};
  pass("size_tiles", chunks.tile_count,
       {data,
        kNoBinding,
        chunk_rows,
        chunk_tiles,
        kNoBinding,
        decisions,
        {plan.tokens, Access::kReadWrite},
        {plan.parts, Access::kRead}});
  pass("place_parts", divided_up(blocks.block_count, kPlaceThreads),
       {kNoBinding,
        {blocks.rows, Access::kRead},
        chunk_rows,
        kNoBinding,
        {plan.block_chunks, Access::kRead},
        kNoBinding,
        kNoBinding,
        {plan.parts, Access::kReadWrite},
        {plan.sizes, Access::kReadWrite},
        {plan.padded, Access::kReadWrite}});
  record_scan(recording, plan.padded, plan.begins, plan.scan, blocks.block_count);
  pass("clear", divided_up(output_bytes, std::uint64_t{kWordBytes} * kThreads),
       {kNoBinding, kNoBinding, kNoBinding, kNoBinding, kNoBinding, kNoBinding, kNoBinding, kNoBinding,
        kNoBinding, kNoBinding, begins, output});
  pass("pack", chunks.tile_count,
       {data,
        kNoBinding,
        chunk_rows,
        chunk_tiles,
        kNoBinding,
        decisions,
        {plan.tokens, Access::kRead},
        {plan.parts, Access::kRead},
        kNoBinding,
        kNoBinding,
        begins,
        output});
}

}  // namespace

void DeflateCompressTable::add(std::uint32_t begin, std::uint32_t history_bytes, std::uint32_t block_bytes,
                               std::uint32_t room_bytes) {
  blocks.add(begin, history_bytes, block_bytes, room_bytes, kDeflateMinMatchBytes);
  add_link_pieces(blocks.rows.back(), kDeflateWindowBytes, pieces);
  std::uint32_t at = 0;
  do {
    const std::uint32_t bytes = std::min<std::uint32_t>(kDeflateChunkBytes, block_bytes - at);
    chunks.add(begin + history_bytes + at, 0, bytes, 0, kDeflateMinMatchBytes);
    at += bytes;
  } while (at < block_bytes);
  block_chunks.push_back(static_cast<std::uint32_t>(chunks.rows.size()));
}

std::uint64_t deflate_array_positions(std::uint64_t history_bytes, std::uint64_t block_bytes) {
  const std::uint64_t data_bytes = history_bytes + block_bytes;
  return std::max({data_bytes, chunk_count(block_bytes) * kCostsBytes / 4,
                   link_heads_bytes(link_piece_count(data_bytes), kDeflateChainHashBits) / 4});
}

DeflateCompressPlan plan_deflate_compress(const DeflateCompressTable& table, std::uint64_t output_bytes,
                                          const DeflateLevel& level) {
  DeflateCompressPlan plan;
  BufferPlan& buffers = plan.buffers;
  const std::uint64_t blocks = table.blocks.rows.size(), tiles = table.blocks.tiles.size(),
                      chunks = table.chunks.rows.size(),
                      data_bytes = divided_up(table.blocks.data_bytes, 4) * 4, array_bytes = data_bytes * 4;
  plan.parts_a_chunk = parts_a_chunk(level);
  plan.blocks.data = plan.chunks.data = buffers.add("data", data_bytes);
  plan.blocks.rows = buffers.add("blocks", blocks * sizeof(BlockRow));
  plan.blocks.tiles = buffers.add("tiles", tiles * 4);
  plan.chunks.rows = buffers.add("chunks", chunks * sizeof(BlockRow));
  plan.chunks.tiles = buffers.add("tiles of chunks", tiles * 4);
  plan.block_chunks = buffers.add("chunks of blocks", (blocks + 1) * 4);
  plan.pieces = buffers.add("pieces", table.pieces.size() * sizeof(LinkPiece));
  plan.heads = buffers.add(
      "heads", link_heads_bytes(static_cast<std::uint32_t>(table.pieces.size()), kDeflateChainHashBits));
  plan.records = buffers.add("records", array_bytes);
  plan.near_records = buffers.add("near records", array_bytes);
  plan.decisions = buffers.add("decisions", array_bytes);
  plan.costs = buffers.add("costs", std::max(array_bytes, chunks * kCostsBytes));
  plan.marks = buffers.add("marks", tiles * 4);
  plan.entries = buffers.add("entries", tiles * kEntryBytes);
  plan.counts = buffers.add("counts", chunks * 4);
  plan.tokens = buffers.add("tokens", tiles * kTokensBytes);
  plan.histograms = buffers.add("histograms", chunks * kHistogramsBytes);
  plan.part_bits = buffers.add("bits of parts", chunks * kPartBitsBytes);
  plan.parts = buffers.add("parts", chunks * plan.parts_a_chunk * kPartBytes);
  plan.sizes = buffers.add("sizes", blocks * 4);
  plan.padded = buffers.add("padded sizes", blocks * 4);
  plan.begins = buffers.add("begins", (blocks + 1) * 4);
  plan.output = buffers.add("output", output_bytes);
  plan.scan = plan_scan(buffers, blocks);
  return plan;
}

Recording record_deflate_compress(const DeflateCompressPlan& plan, const DeflateCompressTable& table,
                                  const DeflateLevel& level, DeflateEnd end, std::uint64_t output_bytes) {
  const BlockBatch blocks = plan.blocks.of(table.blocks), chunks = plan.chunks.of(table.chunks);
  const LinkPieces pieces{plan.pieces, static_cast<std::uint32_t>(table.pieces.size())};
  const std::uint32_t parts = plan.parts_a_chunk;
  Recording recording;
  record_near_three(recording, blocks, {plan.heads, plan.decisions, plan.near_records}, level.near,
                    kDeflateNearMatchBytes, pieces);
  record_hash_chain(recording, blocks, {plan.heads, plan.decisions, plan.records, plan.marks}, level.finder,
                    pieces);
  for (unsigned pass = 0; pass < level.pass_count; ++pass) {
    record_parse(recording, plan, chunks, pass == 0 ? 0 : parts);
    record_walk_entries(recording, chunks, plan.decisions, plan.costs, plan.entries, plan.counts);
    record_tokens(recording, plan, chunks);
    record_codes(recording, plan, chunks, parts);
  }
  record_encode(recording, plan, blocks, chunks, parts, end, output_bytes);
  return recording;
}

}  // namespace hemstitch::webgpu
