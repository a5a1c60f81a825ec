#include "format/deflate/restore/deflate_restore.hpp"

#include <algorithm>
#include <cstring>

#include "format/deflate/restore/deflate_tokens.hpp"

namespace hemstitch {
namespace {

using namespace deflate_table;

}  // namespace

DeflateDecoder::DeflateDecoder(std::span<const std::byte> history) { begin(history, std::byte{0}, 0); }

void DeflateDecoder::begin(std::span<const std::byte> history, std::byte first_byte, unsigned taken_bits) {
  window_.assign(
      history.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(history.size(), kDeflateWindowBytes)),
      history.end());
  reset(window_);
  if (taken_bits != 0) pending_.push_back(first_byte);
  pending_bits_ = taken_bits;
}

void DeflateDecoder::reset(std::span<const std::byte> history) {
  part_ = Part::kBlockHeader;
  match_left_ = 0;
  pending_.clear();
  pending_bits_ = 0;
  announced_bits_ = 0;
  before_ = history;
}

DeflateRestored DeflateDecoder::restore_whole(std::span<const std::byte> input,
                                              std::span<const std::byte> history,
                                              std::span<std::byte> output) {
  reset(history);
  Input in{input};
  Output out{output.data(), output.data(), output.data() + output.size()};
  const Stop stop = run(in, out);
  DeflateRestored restored;
  restored.output_bytes = out.bytes();
  restored.input_bytes = static_cast<std::size_t>((in.position_bits + 7) / 8);
  restored.last_byte_bits = in.position_bits % 8 == 0 ? 8 : static_cast<unsigned>(in.position_bits % 8);
  if (stop == Stop::kDamage) restored.detail = detail_;
  restored.status = stop == Stop::kNone    ? Status::kOk
                    : stop == Stop::kInput ? Status::kTruncated
                    : stop == Stop::kRoom  ? Status::kOutputTooSmall
                                           : Status::kCorruptBlock;
  return restored;
}

StreamStep DeflateDecoder::restore(std::span<const std::byte> input, std::span<std::byte> room) {
  if (!stops_at_points_) return restore_until(kNoStop, input, room);
  // After a point, it continues to the next one.
  const std::int64_t here_bits = -static_cast<std::int64_t>(unread_bits());
  return restore_until(is_between_blocks() ? here_bits + 1 : kNextBlock, input, room);
}

// An item (such as a block's header) that the last piece cut off is restored from a copy of its bytes,
// followed by the beginning of this piece.
StreamStep DeflateDecoder::restore_until(std::int64_t stop_bits, std::span<const std::byte> input,
                                         std::span<std::byte> room) {
  constexpr std::size_t kBridgeBytes = 1024;  // longer than any item
  Output output{room.data(), room.data(), room.data() + room.size()};
  Stop stop = Stop::kNone;
  Input piece{input, 0, stop_bits};
  const std::size_t kept_bytes = pending_.size();
  const bool bridges = kept_bytes != 0;
  if (bridges) {
    const auto added = input.first(std::min(input.size(), kBridgeBytes));
    pending_.insert(pending_.end(), added.begin(), added.end());
    Input bridge{pending_, pending_bits_, kNoStop};
    if (stop_bits != kNoStop) bridge.stop_bits = stop_bits + static_cast<std::int64_t>(kept_bytes * 8);
    announced_bits_ += static_cast<std::int64_t>(kept_bytes * 8);
    stop = run(bridge, output);
    announced_bits_ -= static_cast<std::int64_t>(kept_bytes * 8);
    if (bridge.position_bits < kept_bytes * 8) {
      // Not even all the kept bits were used. The bytes that were added are taken if more are needed, else
      // left to the caller.
      const bool wants_more = stop == Stop::kInput;
      if (!wants_more) pending_.resize(kept_bytes);
      pending_.erase(pending_.begin(),
                     pending_.begin() + static_cast<std::ptrdiff_t>(bridge.position_bits / 8));
      pending_bits_ = static_cast<unsigned>(bridge.position_bits % 8);
      keep_window(output);
      if (wants_more) announced_bits_ -= static_cast<std::int64_t>(added.size() * 8);
      return {wants_more ? added.size() : 0, output.bytes(), part_ == Part::kEnd,
              stop == Stop::kDamage ? Status::kCorruptBlock : Status::kOk,
              stop == Stop::kDamage ? detail_ : std::string_view()};
    }
    piece.position_bits = bridge.position_bits - kept_bytes * 8;
    pending_.clear();
  }
  if (stop == Stop::kNone || stop == Stop::kInput)
    if (part_ != Part::kEnd) stop = run(piece, output);

  const auto whole_bytes = static_cast<std::size_t>(piece.position_bits / 8);
  const std::size_t used_bytes =
      stop == Stop::kInput ? input.size() : static_cast<std::size_t>((piece.position_bits + 7) / 8);
  pending_.assign(input.begin() + static_cast<std::ptrdiff_t>(whole_bytes),
                  input.begin() + static_cast<std::ptrdiff_t>(used_bytes));
  pending_bits_ = static_cast<unsigned>(piece.position_bits % 8);
  announced_bits_ -= static_cast<std::int64_t>(used_bytes * 8);
  keep_window(output);
  return {used_bytes, output.bytes(), part_ == Part::kEnd,
          stop == Stop::kDamage ? Status::kCorruptBlock : Status::kOk,
          stop == Stop::kDamage ? detail_ : std::string_view()};
}

void DeflateDecoder::keep_window(const Output& output) {
  const std::span<const std::byte> content(output.begin, output.bytes());
  if (content.size() >= kDeflateWindowBytes) {
    const auto last = content.last(kDeflateWindowBytes);
    window_.assign(last.begin(), last.end());
  } else if (!content.empty()) {
    const std::size_t kept = std::min<std::size_t>(window_.size(), kDeflateWindowBytes - content.size());
    window_.erase(window_.begin(), window_.end() - static_cast<std::ptrdiff_t>(kept));
    window_.insert(window_.end(), content.begin(), content.end());
  }
  before_ = window_;
}

DeflateDecoder::Stop DeflateDecoder::damaged(std::string_view what) {
  detail_ = what;
  return Stop::kDamage;
}

DeflateDecoder::Stop DeflateDecoder::run(Input& input, Output& output) {
  while (part_ != Part::kEnd) {
    Stop stop = Stop::kNone;
    switch (part_) {
      case Part::kBlockHeader:
        if (static_cast<std::int64_t>(input.position_bits) >= input.stop_bits) return Stop::kBlock;
        stop = begin_block(input);
        break;
      case Part::kStored:
        stop = restore_stored(input, output);
        break;
      case Part::kTokens:
        stop = restore_tokens(input, output);
        break;
      case Part::kEnd:
        break;
    }
    if (stop != Stop::kNone) return stop;
  }
  return Stop::kNone;
}

DeflateDecoder::Stop DeflateDecoder::begin_block(Input& input) {
  DeflateBits bits(input.bytes, input.position_bits);
  DeflateBlockHeader header;
  const std::string_view damage = read_deflate_block_header(bits, header);
  if (bits.ended()) return Stop::kInput;
  if (!damage.empty()) return damaged(damage);
  final_ = header.final;
  if (header.type == DeflateBlockType::kStored) {
    part_ = Part::kStored;
    stored_left_ = header.stored_bytes;
  } else {
    build_deflate_table(litlen_, header.litlen_lengths());
    build_deflate_table(distance_, header.distance_lengths());
    part_ = Part::kTokens;
  }
  input.position_bits = bits.position_bits();
  if (header.type == DeflateBlockType::kDynamic || header.stored_bytes >= kDeflateLeastStoredStart)
    announced_bits_ = static_cast<std::int64_t>(input.position_bits);
  return Stop::kNone;
}

// Restores a part of a stored block. Its bytes begin at a byte boundary.
DeflateDecoder::Stop DeflateDecoder::restore_stored(Input& input, Output& output) {
  const std::size_t at = static_cast<std::size_t>(input.position_bits / 8);
  const std::size_t count = std::min({std::size_t{stored_left_}, input.bytes.size() - at, output.room()});
  if (count != 0) std::memcpy(output.at, input.bytes.data() + at, count);
  output.at += count;
  input.position_bits += count * std::uint64_t{8};
  stored_left_ -= static_cast<std::uint32_t>(count);
  if (stored_left_ == 0) {
    part_ = final_ ? Part::kEnd : Part::kBlockHeader;
    return Stop::kNone;
  }
  return output.room() == 0 ? Stop::kRoom : Stop::kInput;
}

DeflateDecoder::Stop DeflateDecoder::restore_tokens(Input& input, Output& output) {
  while (part_ == Part::kTokens) {
    Stop stop = match_left_ != 0 ? restore_match(output) : restore_tokens_fast(input, output);
    if (stop == Stop::kNone && part_ == Part::kTokens && match_left_ == 0)
      stop = restore_token(input, output);
    if (stop != Stop::kNone) return stop;
  }
  return Stop::kNone;
}

// Restores tokens until the ends are near, the block ends, or a match reaches back before the output.
DeflateDecoder::Stop DeflateDecoder::restore_tokens_fast(Input& input, Output& output) {
  DeflateTokensRun<std::byte> run{.input = input.bytes,
                                  .position_bits = input.position_bits,
                                  .begin = output.begin,
                                  .at = output.at,
                                  .end = output.end,
                                  .before = before_};
  const DeflateTokensEnd end = restore_deflate_tokens(litlen_, distance_, run);
  input.position_bits = run.position_bits;
  output.at = run.at;
  switch (end) {
    case DeflateTokensEnd::kNearEnds:
      break;
    case DeflateTokensEnd::kBlockEnd:
      part_ = final_ ? Part::kEnd : Part::kBlockHeader;
      break;
    case DeflateTokensEnd::kBadLitlen:
      return damaged(kNoLitlenCode);
    case DeflateTokensEnd::kBadDistance:
      return damaged(kNoDistanceCode);
    case DeflateTokensEnd::kBeforeAll:
      return damaged(kDistanceTooFar);
  }
  return Stop::kNone;
}

// Restores one token, even if a part of it is missing.
DeflateDecoder::Stop DeflateDecoder::restore_token(Input& input, Output& output) {
  const std::size_t at = static_cast<std::size_t>(input.position_bits / 8);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(8, input.bytes.size() - at); ++i)
    bits |= static_cast<std::uint64_t>(input.bytes[at + i]) << 8 * i;
  bits >>= input.position_bits % 8;
  const auto left_bits = static_cast<unsigned>(std::min<std::uint64_t>(input.left_bits(), 57));
  unsigned token_bits = 0;
  std::uint32_t value = 0;
  // Sets `entry` to the next symbol's entry, and `value` to its value with the extra bits. kInput if bits are
  // missing.
  const auto symbol = [&](const auto& table, std::uint32_t& entry) {
    entry = table.entries[low_bits(bits, table.kBits)];
    if ((entry & kSecondTableFlag) != 0) {
      if (left_bits < token_bits + table.kBits) return Stop::kInput;
      bits >>= table.kBits;
      token_bits += table.kBits;
      entry = table.entries[payload(entry) + low_bits(bits, code_bits(entry))];
    }
    if (left_bits < token_bits + taken_bits(entry)) return Stop::kInput;
    value = value_of(entry, bits);
    bits >>= taken_bits(entry);
    token_bits += taken_bits(entry);
    return Stop::kNone;
  };
  std::uint32_t entry = 0;
  if (const Stop stop = symbol(litlen_, entry); stop != Stop::kNone) return stop;
  if ((entry & kEndFlag) != 0) {
    input.position_bits += token_bits;
    part_ = final_ ? Part::kEnd : Part::kBlockHeader;
    return Stop::kNone;
  }
  if ((entry & kOtherFlag) != 0) return damaged(kNoLitlenCode);
  if ((entry & kLiteralFlag) != 0) {
    if (output.room() == 0) return Stop::kRoom;
    *output.at++ = static_cast<std::byte>(payload(entry));
    input.position_bits += token_bits;
    return Stop::kNone;
  }
  const std::uint32_t length = value;
  if (const Stop stop = symbol(distance_, entry); stop != Stop::kNone) return stop;
  if ((entry & kOtherFlag) != 0) return damaged(kNoDistanceCode);
  if (output.room() == 0) return Stop::kRoom;
  if (value > output.bytes() + before_.size()) return damaged(kDistanceTooFar);
  input.position_bits += token_bits;
  match_left_ = length;
  match_distance_ = value;
  return restore_match(output);
}

// Copies as much of a match as there is room for.
DeflateDecoder::Stop DeflateDecoder::restore_match(Output& output) {
  for (; match_left_ != 0; --match_left_) {
    if (output.room() == 0) return Stop::kRoom;
    const std::size_t bytes = output.bytes();
    *output.at = match_distance_ <= bytes ? *(output.at - match_distance_)
                                          : before_[before_.size() + bytes - match_distance_];
    ++output.at;
  }
  return Stop::kNone;
}

}  // namespace hemstitch
