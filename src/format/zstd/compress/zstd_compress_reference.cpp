#include "format/zstd/compress/zstd_compress_reference.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "format/zstd/compress/entropy/zstd_block_writer.hpp"
#include "format/zstd/compress/parse/zstd_lazy.hpp"
#include "format/zstd/compress/parse/zstd_optimal.hpp"

namespace hemstitch {
namespace {

static_assert(kZstdFindBytes % kZstdOwnBlockBytes == 0);

// The piece of the data's positions [begin, end), with a window before it.
FinderInput piece_of(const FinderInput& input, std::size_t begin, std::size_t end, std::size_t window_bytes) {
  const std::size_t history = std::min(begin, window_bytes);
  return {input.data.subspan(begin - history, history + end - begin), history};
}

// Where few values make up the data, a literal takes few bits, and short matches cost more than they save.
NearOffsets find_near(const FinderInput& piece, const ZstdLevel& level) {
  if (has_few_values(piece.data.subspan(piece.history_bytes))) return NearOffsets(piece.block_bytes(), 0);
  return find_near_three(piece, level.near);
}

std::vector<Sequence> parse_block(const ZstdParseInput& input, const ZstdLevel& level) {
  std::vector<Sequence> parsed = parse_zstd_lazy(input);
  for (const ZstdPass& pass : level.passes)
    parsed = parse_zstd_optimal(input, zstd_prices_of(input.data.subspan(input.history_bytes), parsed), pass);
  return parsed;
}

}  // namespace

EncodedBlock compress_zstd_part_reference(const FinderInput& input, const ZstdLevel& level,
                                          std::span<std::byte> output) {
  std::size_t written = 0;
  std::vector<std::byte> block;
  const std::size_t end = input.data.size();
  for (std::size_t begin = input.history_bytes; begin < end; begin += kZstdFindBytes) {
    const std::size_t piece_end = std::min(begin + kZstdFindBytes, end);
    const FinderInput piece = piece_of(input, begin, piece_end, kZstdNearWindowBytes);
    const MatchRecords records = find_hash_chain(piece, level.finder);
    const NearOffsets near_offsets = find_near(piece, level);
    std::array<WideRecords, kZstdMostFarFinders> far_records;
    for (std::size_t i = 0; i < level.far.size(); ++i)
      far_records[i] = find_far(piece_of(input, begin, piece_end, level.far[i].window_bytes), level.far[i]);
    for (std::size_t at = begin; at < piece_end; at += kZstdOwnBlockBytes) {
      const std::size_t bytes = std::min(kZstdOwnBlockBytes, piece_end - at), place = at - begin;
      ZstdParseInput parsed{input.data.first(at + bytes),
                            at,
                            std::span(records).subspan(place, bytes),
                            std::span(near_offsets).subspan(place, bytes),
                            {}};
      for (std::size_t i = 0; i < level.far.size(); ++i)
        parsed.far_records[i] = std::span(far_records[i]).subspan(place, bytes);
      block.clear();
      put_zstd_block(input.data.subspan(at, bytes), parse_block(parsed, level), block);
      if (block.size() > output.size() - written) return {Status::kOutputTooSmall, 0};
      std::copy(block.begin(), block.end(), output.begin() + static_cast<std::ptrdiff_t>(written));
      written += block.size();
    }
  }
  return {Status::kOk, written};
}

}  // namespace hemstitch
