// How files are cut into pieces, each read at once, and how pieces are combined into groups, each processed
// on a device at once. It is data, made before the first byte is read.
//
//   files    |   a   | b | c |            d                 |
//   pieces   |  0  |  1  |  2  |  3  |  4  |  5  |  6  |  7  |     a piece may hold parts of many files
//   groups   |       0         |        1        |     2     |     whole pieces, one after the other in device memory
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hemstitch {

struct PieceSizes {
  std::size_t piece_bytes = 0;
  std::size_t piece_files = 0;   // the most parts of files in a piece
  std::size_t group_bytes = 0;   // at least piece_bytes
  std::size_t group_pieces = 0;  // at most
};

struct FilePart {
  std::size_t file = 0;
  std::uint64_t at = 0;  // in the file
  std::size_t bytes = 0;
};

struct FilePiece {
  std::size_t first_part = 0, part_count = 0;
  std::size_t bytes = 0;
  std::size_t group = 0;
  std::size_t group_at = 0;      // its place among the bytes of its group
  std::size_t group_number = 0;  // in its group
};

struct FilePiecePlan {
  std::vector<FilePart> parts;
  std::vector<FilePiece> pieces;
  std::vector<std::size_t> group_ends;  // after each group's last piece

  std::span<const FilePart> parts_of(const FilePiece& piece) const {
    return std::span(parts).subspan(piece.first_part, piece.part_count);
  }
};

// Empty files have no part.
FilePiecePlan plan_pieces(std::span<const std::uint64_t> file_bytes, const PieceSizes& sizes);

}  // namespace hemstitch
