#include "format/zstd/compress/zstd_compress_reference.hpp"

#include <algorithm>
#include <vector>

#include "format/zstd/compress/entropy/zstd_block_writer.hpp"
#include "format/zstd/compress/parse/zstd_lazy.hpp"

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

WideRecords find_far_if_any(const FinderInput& input, std::size_t begin, std::size_t end,
                            const ZstdLevel& level) {
  if (!level.far) return {};
  return find_far(piece_of(input, begin, end, level.far->window_bytes), *level.far);
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
    const WideRecords far_records = find_far_if_any(input, begin, piece_end, level);
    for (std::size_t at = begin; at < piece_end; at += kZstdOwnBlockBytes) {
      const std::size_t bytes = std::min(kZstdOwnBlockBytes, piece_end - at), place = at - begin;
      const ZstdParseInput parsed{
          input.data.first(at + bytes), at, std::span(records).subspan(place, bytes),
          std::span(near_offsets).subspan(place, bytes),
          far_records.empty() ? std::span<const WideRecord>() : std::span(far_records).subspan(place, bytes)};
      block.clear();
      put_zstd_block(input.data.subspan(at, bytes), parse_zstd_lazy(parsed), block);
      if (block.size() > output.size() - written) return {Status::kOutputTooSmall, 0};
      std::copy(block.begin(), block.end(), output.begin() + static_cast<std::ptrdiff_t>(written));
      written += block.size();
    }
  }
  return {Status::kOk, written};
}

}  // namespace hemstitch
