#include "match/links/links_webgpu.hpp"

#include <algorithm>

namespace hemstitch::webgpu {
namespace {

constexpr std::string_view kLinksShader = "match/links/links.wgsl";
constexpr std::uint32_t kTurnPositions = 32768;

// How many positions a piece has after its first byte. With a distance of 32 KB, half as many again are
// processed.
constexpr std::uint32_t kPiecePositions = 65536;

}  // namespace

std::uint32_t link_piece_count(std::uint64_t data_bytes) {
  return static_cast<std::uint32_t>(divided_up(data_bytes, kPiecePositions));
}

void add_link_pieces(const BlockRow& block, std::uint32_t most_distance, std::vector<LinkPiece>& pieces) {
  const std::uint32_t data_bytes = block.history_bytes + block.block_bytes;
  for (std::uint32_t first = 0; first < data_bytes; first += kPiecePositions)
    pieces.push_back({block.number, first - std::min(first, most_distance), first,
                      first + std::min(kPiecePositions, data_bytes - first)});
}

void record_links(Recording& recording, const BlockBatch& batch, BufferId heads, BufferId links,
                  const LinkParameters& parameters, const std::optional<LinkPieces>& pieces) {
  // The most positions that one workgroup processes.
  const std::uint32_t most_positions =
      pieces ? std::min(batch.longest_bytes, kPiecePositions + parameters.most_distance)
             : batch.longest_bytes;
  const std::uint32_t piece_count = pieces ? pieces->count : 0;
  const std::uint32_t first_width =
      parameters.widths_in_heads ? first_link_width(batch.block_count, parameters.hash_bits) : 0;
  std::vector<Binding> bindings = {{batch.data, Access::kRead},
                                   {batch.rows, Access::kRead},
                                   {heads, Access::kReadWrite},
                                   {links, Access::kReadWrite}};
  if (pieces) bindings.push_back({pieces->pieces, Access::kRead});
  std::uint32_t first_position = 0;
  do {
    recording.dispatch({kLinksShader,
                        pieces ? "link_pieces" : "link",
                        {batch.block_count, parameters.hash_bits, parameters.most_distance, first_position,
                         parameters.hashed_bytes, piece_count, first_width, 0},
                        bindings,
                        pieces ? piece_count : batch.block_count});
    first_position += kTurnPositions;
  } while (first_position < most_positions);
}

}  // namespace hemstitch::webgpu
