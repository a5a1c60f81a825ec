// LZ4's blocks, sequence by sequence, and frames of them.
#include <algorithm>

#include "choices.hpp"
#include "core/block_plan.hpp"
#include "format/checksum.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/skippable_frame.hpp"
#include "valid_data.hpp"
#include "writers.hpp"

namespace hemstitch::testing {
namespace {

constexpr std::size_t kFarthestOffset = 65535, kShortestMatch = 4;

void put_sequence(Bytes& block, std::span<const std::byte> literals, std::size_t offset, std::size_t match) {
  constexpr std::size_t kMore = 15, kFull = 255;
  const auto extend = [&](std::size_t value) {
    if (value < kMore) return;
    for (value -= kMore; value >= kFull; value -= kFull) put_le(block, kFull, 1);
    put_le(block, value, 1);
  };
  const std::size_t code = match == 0 ? 0 : match - kShortestMatch;
  put_le(block, std::min(literals.size(), kMore) << 4 | std::min(code, kMore), 1);
  extend(literals.size());
  append(block, literals);
  if (match == 0) return;
  put_le(block, offset, 2);
  extend(code);
}

// Lengths around which their code changes, or any.
std::size_t random_length(Choices& choices, std::size_t most) {
  constexpr std::size_t kEdges[] = {0,  14,  15,  16,  18,  19,  20,  31,  32,
                                    33, 269, 270, 271, 273, 274, 275, 524, 525};
  if (choices.one_in(3)) return std::min(most, kEdges[choices.below(std::size(kEdges))]);
  return choices.up_to(most);
}

// A block of up to `most` bytes of content, which it adds to `content`; its matches reach into what stands there from `begin` on.
Bytes lz4_block_of(Choices& choices, Bytes& content, std::size_t begin, std::size_t most) {
  const BlockPlan plan = lz4_block_plan();
  const std::size_t end_gap = plan.last_match_end_gap, start_gap = plan.last_match_start_gap;
  Bytes block;
  std::size_t left = most, last_match = start_gap;
  const bool many = choices.one_in(6);
  const auto add_literals = [&](std::size_t count) {
    const Bytes literals = choices.bytes(count);
    append(content, literals);
    left -= count;
    return literals;
  };
  for (std::size_t sequences = many ? most : choices.up_to(300); sequences > 0; --sequences) {
    if (left <= start_gap) break;
    const bool some = content.size() == begin || !choices.one_in(2);  // a match needs something before it
    const std::size_t share = many ? 20 : choices.one_in(8) ? left : left / 4;
    const std::size_t room = std::min(share, left - start_gap);
    const std::size_t literals = some ? random_length(choices, room) : 0;
    if (content.size() + literals == begin) continue;
    const std::size_t most_offset = std::min(kFarthestOffset, content.size() + literals - begin);
    // A match may end where the last literals begin, if it is as long as to begin early enough.
    const std::size_t most_match = left - literals - end_gap;
    const Bytes bytes = add_literals(literals);
    const std::size_t match =
        std::min(most_match, kShortestMatch + random_length(choices, std::max<std::size_t>(share, 1)));
    const std::size_t offset = choices.one_in(3) ? 1 + choices.below(std::min<std::size_t>(most_offset, 70))
                                                 : std::max<std::size_t>(1, choices.up_to(most_offset));
    put_sequence(block, bytes, offset, match);
    for (std::size_t i = 0; i < match; ++i) content.push_back(content[content.size() - offset]);
    left -= match;
    last_match = match;
  }
  // None are needed where there was no match.
  const std::size_t least =
      block.empty() ? 0 : std::max(end_gap, start_gap - std::min(last_match, start_gap));
  put_sequence(block, add_literals(std::min(left, least + random_length(choices, left - least))), 0, 0);
  return block;
}

Bytes random_skippable_frame(Choices& choices) {
  constexpr std::uint32_t kKinds = 16;
  Bytes frame;
  const std::size_t bytes = choices.up_to(1000);
  put_le(frame, kSkippableMagic + choices.below(kKinds), kSkippableMagicBytes);
  put_le(frame, bytes, kSkippableSizeBytes);
  append(frame, choices.bytes(bytes));
  return frame;
}

// A frame of up to `most` bytes of content, which it adds. `dictionary_bytes` stand in `content` already.
Bytes lz4_frame_of(Choices& choices, Bytes& content, const Bytes& dictionary, std::size_t most) {
  constexpr std::uint32_t kStored = 1U << 31;
  const bool independent = choices.one_in(2), block_checksums = choices.one_in(2),
             content_checksum = choices.one_in(2),
             has_dictionary_id = !dictionary.empty() && choices.one_in(2);
  const auto size_code = static_cast<unsigned>(choices.between(4, 7));
  const std::size_t most_block_bytes = std::size_t{1} << (8 + 2 * size_code);
  Bytes blocks, own = dictionary;  // content, and what stands before it
  const auto put_checksum = [&](Bytes& to, std::span<const std::byte> of) {
    put_le(to, checksum_of(Checksum::kXxh32, of), 4);
  };
  for (std::size_t count = choices.up_to(6); count > 0; --count) {
    const std::size_t left = std::min(most - (own.size() - dictionary.size()), most_block_bytes);
    const std::size_t before = own.size(), size = choices.one_in(4) ? left : choices.up_to(left);
    Bytes view = independent ? dictionary : own;
    const std::size_t behind = view.size();
    Bytes data = lz4_block_of(choices, view, 0, size);
    append(own, std::span(view).subspan(behind));
    const bool stored = data.size() > most_block_bytes || (own.size() > before && choices.one_in(5));
    if (stored) data.assign(own.begin() + static_cast<std::ptrdiff_t>(before), own.end());
    put_le(blocks, data.size() | (stored ? kStored : 0), 4);
    append(blocks, data);
    if (block_checksums) put_checksum(blocks, data);
  }
  const auto added = std::span(own).subspan(dictionary.size());
  const bool has_size = !added.empty() && choices.one_in(2);  // 0 means that it is not known
  Bytes header;
  put_le(header,
         1U << 6 | (independent ? 1U : 0U) << 5 | (block_checksums ? 1U : 0U) << 4 |
             (has_size ? 1U : 0U) << 3 | (content_checksum ? 1U : 0U) << 2 | (has_dictionary_id ? 1U : 0U),
         1);
  put_le(header, size_code << 4, 1);
  if (has_size) put_le(header, added.size(), 8);
  if (has_dictionary_id) put_le(header, choices.below(std::size_t{1} << 32), 4);
  const std::uint32_t sum = checksum_of(Checksum::kXxh32, header);
  Bytes frame;
  put_le(frame, kLz4FrameMagic, 4);
  append(frame, header);
  put_le(frame, sum >> 8 & 0xFF, 1);
  append(frame, blocks);
  put_le(frame, 0, 4);
  if (content_checksum) put_checksum(frame, added);
  append(content, added);
  return frame;
}

}  // namespace

ValidData valid_lz4_block(std::uint64_t seed, std::size_t most_content_bytes) {
  Choices choices(seed);
  ValidData made;
  if (choices.one_in(3)) made.dictionary = choices.bytes(1 + choices.up_to(70'000));
  Bytes content = made.dictionary;
  made.data = lz4_block_of(choices, content, 0,
                           choices.one_in(4) ? most_content_bytes : choices.up_to(most_content_bytes));
  made.content.assign(content.begin() + static_cast<std::ptrdiff_t>(made.dictionary.size()), content.end());
  return made;
}

ValidData valid_lz4_frames(std::uint64_t seed, std::size_t most_content_bytes) {
  constexpr std::size_t kDictionaryBytes = 1 << 16;  // more of it is not used
  Choices choices(seed);
  ValidData made;
  if (choices.one_in(4)) made.dictionary = choices.bytes(1 + choices.up_to(kDictionaryBytes - 1));
  for (std::size_t frames = 1 + choices.up_to(4); frames > 0; --frames) {
    if (choices.one_in(4)) append(made.data, random_skippable_frame(choices));
    const std::size_t left = most_content_bytes - made.content.size();
    append(made.data, lz4_frame_of(choices, made.content, made.dictionary, left));
  }
  if (choices.one_in(8)) append(made.data, random_skippable_frame(choices));
  return made;
}

}  // namespace hemstitch::testing
