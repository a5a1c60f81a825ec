#include "format/zstd/compress/entropy/zstd_block_writer.hpp"

#include <algorithm>
#include <array>

#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/compress/entropy/zstd_literals_writer.hpp"
#include "format/zstd/compress/entropy/zstd_table_choice.hpp"
#include "format/zstd/compress/zstd_sequence_writer.hpp"

namespace hemstitch {
namespace {

using Bytes = std::vector<std::byte>;

// Matches that touch and have one offset become one.
std::vector<Sequence> joined_matches(std::span<const Sequence> parsed) {
  std::vector<Sequence> joined;
  for (const Sequence& sequence : parsed) {
    if (sequence.match_length == 0) break;
    if (!joined.empty() && sequence.literal_count == 0 && joined.back().offset == sequence.offset)
      joined.back().match_length += sequence.match_length;
    else
      joined.push_back(sequence);
  }
  return joined;
}

Bytes write_sequences(std::span<const ZstdSequence> sequences) {
  const auto choices = choose_zstd_tables(sequences);
  return write_zstd_sequences(sequences, {choices[0].mode, choices[1].mode, choices[2].mode},
                              {choices[0].description, choices[1].description, choices[2].description},
                              {&choices[0].table, &choices[1].table, &choices[2].table})
      .value();
}

}  // namespace

Bytes zstd_literals_of(std::span<const std::byte> content, std::span<const Sequence> parsed) {
  Bytes literals;
  std::size_t at = 0;
  for (const Sequence& sequence : parsed) {
    const auto run = content.subspan(at, sequence.literal_count);
    literals.insert(literals.end(), run.begin(), run.end());
    at += sequence.literal_count + sequence.match_length;
  }
  return literals;
}

std::array<ZstdTableChoice, kZstdCodeKinds.size()> choose_zstd_tables(
    std::span<const ZstdSequence> sequences) {
  std::array<std::array<std::uint32_t, 64>, kZstdCodeKinds.size()> counts{};
  for (const ZstdSequence& sequence : sequences) {
    const auto codes = zstd_codes_of(sequence);
    for (std::size_t kind = 0; kind < codes.size(); ++kind) ++counts[kind][codes[kind]];
  }
  std::array<ZstdTableChoice, kZstdCodeKinds.size()> choices;
  for (std::size_t kind = 0; kind < choices.size(); ++kind)
    choices[kind] = choose_zstd_table(*kZstdCodeKinds[kind], counts[kind]);
  return choices;
}

std::vector<ZstdSequence> zstd_sequences_of(std::span<const Sequence> parsed) {
  std::vector<ZstdSequence> sequences;
  std::array<std::uint32_t, kZstdRepeatCount> last{};  // the last three different offsets; 0: none yet
  for (const Sequence& match : joined_matches(parsed)) {
    const auto place =
        static_cast<std::uint32_t>(std::find(last.begin(), last.end(), match.offset) - last.begin());
    const bool repeats = place < kZstdRepeatCount;
    const std::uint32_t value =
        repeats ? place + (match.literal_count == 0 ? 0 : 1) : match.offset + kZstdRepeatCount;
    sequences.push_back({match.literal_count, match.match_length, value});
    const auto end = last.begin() + (repeats ? place : kZstdRepeatCount - 1);
    std::copy_backward(last.begin(), end, end + 1);
    last[0] = match.offset;
  }
  return sequences;
}

void put_zstd_block(std::span<const std::byte> content, std::span<const Sequence> parsed, Bytes& to) {
  Bytes data = write_zstd_literals(zstd_literals_of(content, parsed));
  const Bytes sequences = write_sequences(zstd_sequences_of(parsed));
  data.insert(data.end(), sequences.begin(), sequences.end());
  const bool shrinks = data.size() < content.size();
  std::array<std::byte, kZstdBlockHeaderBytes> header;
  put_zstd_block_header({false, shrinks ? ZstdBlockType::kCompressed : ZstdBlockType::kRaw,
                         shrinks ? data.size() : content.size()},
                        header.data());
  to.insert(to.end(), header.begin(), header.end());
  const std::span<const std::byte> body = shrinks ? std::span<const std::byte>(data) : content;
  to.insert(to.end(), body.begin(), body.end());
}

}  // namespace hemstitch
