// far's kernels on the processor, compared with the twin: records, with and without the stitch, of pieces between pages that cannot be touched.
#include <gtest/gtest.h>

#include <algorithm>

#include "far_parameters.hpp"
#include "kernel_buffer.hpp"
#include "match/far/far_cuda.hpp"
#include "match/stitch/stitch_wide.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

// A piece of a file.
struct Piece {
  std::size_t begin, bytes, history_bytes;
};

std::vector<Piece> pieces_of(std::size_t file_bytes, std::size_t piece_bytes,
                             std::size_t most_history_bytes) {
  std::vector<Piece> pieces;
  for (std::size_t begin = 0; begin < file_bytes; begin += piece_bytes)
    pieces.push_back({begin, std::min(piece_bytes, file_bytes - begin), std::min(begin, most_history_bytes)});
  return pieces;
}

void expect_twin(const Bytes& file, const std::vector<Piece>& pieces, const FarParameters& parameters,
                 const cuda::FarSpeed& speed, const std::string& name,
                 Against against = Against::kUpperGuard) {
  KernelBuffer data(file, against);
  std::vector<DeviceBlock> blocks;
  DeviceBlocks batch{.block_count = static_cast<std::uint32_t>(pieces.size())};
  for (const Piece& piece : pieces) {
    blocks.push_back({data.bytes().data() + piece.begin, static_cast<std::uint32_t>(piece.bytes),
                      static_cast<std::uint32_t>(piece.history_bytes), batch.total_block_bytes});
    batch.total_block_bytes += piece.bytes;
    batch.max_block_bytes = std::max(batch.max_block_bytes, blocks.back().block_bytes);
    batch.max_history_bytes = std::max(batch.max_history_bytes, blocks.back().history_bytes);
  }
  batch.d_blocks = blocks.data();
  KernelBuffer scratch(cuda::find_far_cuda_scratch_bytes(batch, parameters, speed));
  std::ranges::fill(scratch.bytes(), std::byte{0xA5});
  std::vector<FarRecord> found(batch.total_block_bytes, FarRecord{0xA5A5A5A5}), stitched = found,
                                                                                whole = found;
  cuda::find_unstitched_far_cuda(batch, parameters, found.data(), scratch.bytes().data(),
                                 scratch.bytes().size(), nullptr, speed);
  cuda::stitch_far_cuda(batch, parameters, found.data(), stitched.data(), nullptr);
  cuda::find_far_cuda(batch, parameters, whole.data(), scratch.bytes().data(), scratch.bytes().size(),
                      nullptr);
  EXPECT_EQ(whole, stitched) << name;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const FinderInput input{std::span(file).subspan(pieces[i].begin - pieces[i].history_bytes,
                                                    pieces[i].history_bytes + pieces[i].bytes),
                            pieces[i].history_bytes};
    const WideRecords expected = find_far(input, parameters);
    WideRecords restitched;
    for (std::size_t p = 0; p < expected.size(); ++p) {
      const FarRecord record = found[blocks[i].position + p];
      restitched.push_back({far_offset(record), far_length(record)});
    }
    stitch_matches(input, parameters.stitch_reach, restitched);
    for (std::size_t p = 0; p < expected.size(); ++p) {
      const FarRecord record = stitched[blocks[i].position + p];
      const auto where = [&] {
        return name + ", piece " + std::to_string(i) + ", position " + std::to_string(p);
      };
      ASSERT_EQ(restitched[p].length, expected[p].length) << where() << ", without the stitch";
      ASSERT_EQ(restitched[p].offset, expected[p].offset) << where() << ", without the stitch";
      ASSERT_EQ(far_length(record), expected[p].length) << where();
      ASSERT_EQ(far_offset(record), expected[p].offset) << where();
    }
  }
}

TEST(EmulatedFar, PiecesByThemselves) {
  std::size_t tried = 0;
  for (const std::size_t size : {1, 7, 8, 9, 64, 130, 700, 4200})
    for (const std::size_t history : {0, 1, 8, 300}) {
      for (const Shape& shape : shapes_of(size + history))
        for (const FarParameters& parameters : small_far_parameters())
          if (tried++ % (31 * kTriedOneOf) == 0)
            expect_twin(shape.bytes, {{history, size, history}}, parameters, {},
                        shape.name + " of " + std::to_string(size) + " behind " + std::to_string(history),
                        tried % 2 == 0 ? Against::kUpperGuard : Against::kLowerGuard);
    }
}

TEST(EmulatedFar, FilesInPieces) {
  std::size_t tried = 0;
  for (const Shape& shape : shapes_of(7001))
    for (const std::size_t piece_bytes : {512, 1000, 4096})
      for (const FarParameters& parameters : small_far_parameters())
        if (tried++ % (5 * kTriedOneOf) == 0)
          expect_twin(shape.bytes, pieces_of(7001, piece_bytes, parameters.window_bytes), parameters,
                      {.span_bytes = 2048}, shape.name + " in pieces of " + std::to_string(piece_bytes));
}

// Histories that are not those of the pieces before, longer and shorter ones; pieces that overlap, are empty, or have others between them.
TEST(EmulatedFar, HistoriesOfAnyLength) {
  const Bytes file = copied_bytes(6000, 3) + runs_bytes(3000, 4);
  std::vector<Piece> pieces;
  for (const std::size_t begin : {800, 1600, 1600, 2400, 3200, 4000, 4800, 4000, 8800, 8808, 8816}) {
    const std::size_t bytes = begin > 8000 ? 8 : begin == 2400 ? 0 : 800;
    pieces.push_back({begin, bytes, begin * 7919 % (begin + 1)});
    pieces.push_back({begin, bytes, pieces.size() % 3 == 0 ? begin : std::min<std::size_t>(begin, 700)});
  }
  std::size_t tried = 0;
  for (const FarParameters& parameters : small_far_parameters())
    if (tried++ % kTriedOneOf == 0)
      expect_twin(file, pieces, parameters, {.span_bytes = 1600}, "any histories");
}

// More tiles than a thread block of the stitch takes, and more than one tile of a generation for a warp.
TEST(EmulatedFar, LongPiece) {
  const Bytes file = copied_bytes(9000, 5) + equal_bytes(300) + periodic_bytes(9000, 1000);
  expect_twin(file, {{1000, file.size() - 1000, 1000}}, {.hash_bits = 12, .generation_bytes = 6144}, {},
              "long piece");
}

}  // namespace
}  // namespace hemstitch::testing
