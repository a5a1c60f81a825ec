#include "files/load/piece_plan.hpp"

#include <algorithm>

namespace hemstitch {

FilePiecePlan plan_pieces(std::span<const std::uint64_t> file_bytes, const PieceSizes& sizes) {
  FilePiecePlan plan;
  for (std::size_t file = 0; file < file_bytes.size(); ++file) {
    for (std::uint64_t at = 0; at < file_bytes[file];) {
      if (plan.pieces.empty() || plan.pieces.back().bytes == sizes.piece_bytes ||
          plan.pieces.back().part_count == sizes.piece_files) {
        FilePiece piece;
        piece.first_part = plan.parts.size();
        plan.pieces.push_back(piece);
      }
      FilePiece& piece = plan.pieces.back();
      const auto bytes = static_cast<std::size_t>(
          std::min<std::uint64_t>(sizes.piece_bytes - piece.bytes, file_bytes[file] - at));
      plan.parts.push_back({file, at, bytes});
      ++piece.part_count;
      piece.bytes += bytes;
      at += bytes;
    }
  }
  std::size_t group_bytes = 0, group_pieces = 0;
  for (std::size_t i = 0; i < plan.pieces.size(); ++i) {
    FilePiece& piece = plan.pieces[i];
    if (group_pieces == sizes.group_pieces || group_bytes + piece.bytes > sizes.group_bytes) {
      plan.group_ends.push_back(i);
      group_bytes = group_pieces = 0;
    }
    piece.group = plan.group_ends.size();
    piece.group_at = group_bytes;
    piece.group_number = group_pieces++;
    group_bytes += piece.bytes;
  }
  if (!plan.pieces.empty()) plan.group_ends.push_back(plan.pieces.size());
  return plan;
}

}  // namespace hemstitch
