#include "format/deflate/restore/deflate_restore.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hemstitch {
namespace {

constexpr std::uint32_t kLiteralFlag = 1u << 12, kEndFlag = 1u << 13, kSecondTableFlag = 1u << 14;
constexpr std::uint32_t kOtherFlag = 1u << 15;  // of all but literals, lengths and distances; alone: no code

constexpr unsigned taken_bits(std::uint32_t entry) { return entry & 63; }
constexpr unsigned code_bits(std::uint32_t entry) { return entry >> 8 & 15; }
constexpr std::uint32_t payload(std::uint32_t entry) { return entry >> 16; }
constexpr std::uint32_t low_bits(std::uint64_t bits, unsigned count) {
  return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << count) - 1));
}
// The smallest value and the extra bits, which stand behind the code.
constexpr std::uint32_t value_of(std::uint32_t entry, std::uint64_t bits) {
  return payload(entry) + (low_bits(bits, taken_bits(entry)) >> code_bits(entry));
}

constexpr std::uint32_t entry_of(unsigned extra_bits, std::uint32_t flags, std::uint32_t value) {
  return value << 16 | flags | extra_bits;
}
constexpr std::uint32_t litlen_entry(std::uint32_t symbol) {
  if (symbol < kDeflateEndOfBlock) return entry_of(0, kLiteralFlag, symbol);
  if (symbol == kDeflateEndOfBlock) return entry_of(0, kOtherFlag | kEndFlag, 0);
  if (symbol >= kDeflateLitlenCount) return entry_of(0, kOtherFlag, 0);
  return entry_of(deflate_length_extra_bits(symbol), 0, deflate_length_base(symbol));
}
constexpr std::uint32_t distance_entry(std::uint32_t symbol) {
  if (symbol >= kDeflateDistanceCount) return entry_of(0, kOtherFlag, 0);
  return entry_of(deflate_distance_extra_bits(symbol), 0, deflate_distance_base(symbol));
}
static_assert(deflate_distance_base(29) < 1 << 16);
constexpr auto kLitlenEntries = [] {
  std::array<std::uint32_t, kDeflateFixedLitlenCount> entries{};
  for (std::uint32_t symbol = 0; symbol < entries.size(); ++symbol) entries[symbol] = litlen_entry(symbol);
  return entries;
}();
constexpr auto kDistanceEntries = [] {
  std::array<std::uint32_t, kDeflateFixedDistanceCount> entries{};
  for (std::uint32_t symbol = 0; symbol < entries.size(); ++symbol) entries[symbol] = distance_entry(symbol);
  return entries;
}();

// The next code of the same length, or the first of a longer one, where codes are looked up with their first bit lowest: one is added from
// the other end.
constexpr std::uint32_t next_reversed(std::uint32_t code, unsigned bits) {
  const std::uint32_t bit = std::bit_floor(~code & ((1u << bits) - 1));
  return bit == 0 ? 0 : (code & (bit - 1)) + bit;
}

// Symbols of lengths that fit (deflate_header.hpp). Each stands wherever its code is followed by whatever bits: so a table for one
// bit more is the one before, twice, with the codes of that length put in.
template <class Table>
void build(Table& table, std::span<const std::uint8_t> lengths,
           std::span<const std::uint32_t> symbol_entries) {
  std::array<std::uint16_t, kDeflateMaxCodeBits + 2> counts{},
      next{};  // of each length; where its next symbol goes
  for (const std::uint8_t length : lengths) ++counts[length];
  counts[0] = 0;
  for (unsigned bits = 1; bits <= kDeflateMaxCodeBits; ++bits)
    next[bits + 1] = static_cast<std::uint16_t>(next[bits] + counts[bits]);
  std::array<std::uint16_t, kDeflateFixedLitlenCount> sorted;
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
    if (lengths[symbol] != 0) sorted[next[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);

  constexpr unsigned kBits = Table::kBits;
  constexpr std::uint32_t kFirstEntries = 1u << kBits;
  std::uint32_t* const entries = table.entries.data();
  entries[0] = entry_of(1, kOtherFlag, 0) | 1u << 8;  // stays where some bits are no code
  std::uint32_t code = 0;
  std::size_t place = 0;
  for (unsigned bits = 1; bits <= kBits; ++bits) {
    std::copy_n(entries, 1u << (bits - 1), entries + (1u << (bits - 1)));
    for (unsigned left = counts[bits]; left > 0; --left, code = next_reversed(code, bits))
      entries[code] = symbol_entries[sorted[place++]] + bits + (bits << 8);
  }
  std::uint32_t second_begin = kFirstEntries, second_bits = 0, prefix = UINT32_MAX;
  for (unsigned bits = kBits + 1; bits <= kDeflateMaxCodeBits; ++bits)
    for (unsigned left = counts[bits]; left > 0; --left, code = next_reversed(code, bits)) {
      if ((code & (kFirstEntries - 1)) != prefix) {
        if (prefix != UINT32_MAX) second_begin += 1u << second_bits;
        prefix = code & (kFirstEntries - 1);
        // As many bits more as the codes from here on take to fill it.
        second_bits = bits - kBits;
        for (std::uint32_t filled = left; filled < 1u << second_bits;
             filled = 2 * filled + counts[kBits + second_bits])
          ++second_bits;
        entries[prefix] = second_begin << 16 | kOtherFlag | kSecondTableFlag | second_bits << 8 | kBits;
      }
      const std::uint32_t rest = symbol_entries[sorted[place++]] + (bits - kBits) + ((bits - kBits) << 8);
      for (std::uint32_t at = code >> kBits; at < 1u << second_bits; at += 1u << (bits - kBits))
        entries[second_begin + at] = rest;
    }
}

std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}
template <std::size_t Bytes>
void copy_part(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, Bytes);
}

// A match inside the output, which has room for 32 bytes, and for 16 behind the match.
inline void copy_match(std::byte* to, std::uint32_t distance, std::uint32_t length) {
  const std::byte* from = to - distance;
  std::byte* const end = to + length;
  if (distance >= 16) {
    // Most are no longer than this.
    copy_part<16>(to, from);
    copy_part<16>(to + 16, from + 16);
    for (to += 32, from += 32; to < end; to += 16, from += 16) copy_part<16>(to, from);
  } else if (distance == 1) {
    std::memset(to, static_cast<int>(*from), length);
  } else if (distance >= 8) {
    for (; to < end; to += 8, from += 8) copy_part<8>(to, from);
  } else {
    for (; to < end; to += distance, from += distance) copy_part<8>(to, from);
  }
}

}  // namespace

DeflateDecoder::DeflateDecoder(std::span<const std::byte> history) {
  window_.assign(
      history.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(history.size(), kDeflateWindowBytes)),
      history.end());
  before_ = window_;
}

void DeflateDecoder::reset(std::span<const std::byte> history) {
  part_ = Part::kBlockHeader;
  match_left_ = 0;
  pending_.clear();
  pending_bits_ = 0;
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

// An item that the piece before ended in is restored from its bytes and some of this piece, side by side.
StreamStep DeflateDecoder::restore(std::span<const std::byte> input, std::span<std::byte> room) {
  constexpr std::size_t kBridgeBytes = 1024;  // more than any item has
  Output output{room.data(), room.data(), room.data() + room.size()};
  Stop stop = Stop::kNone;
  Input piece{input};
  const std::size_t kept_bytes = pending_.size();
  const bool bridges = kept_bytes != 0;
  if (bridges) {
    const auto added = input.first(std::min(input.size(), kBridgeBytes));
    pending_.insert(pending_.end(), added.begin(), added.end());
    Input bridge{pending_, pending_bits_};
    stop = run(bridge, output);
    if (bridge.position_bits < kept_bytes * 8) {
      // Not even the bits that were kept are taken; of the piece is what was added, where it is wanted.
      const bool wants_more = stop == Stop::kInput;
      if (!wants_more) pending_.resize(kept_bytes);
      pending_.erase(pending_.begin(),
                     pending_.begin() + static_cast<std::ptrdiff_t>(bridge.position_bits / 8));
      pending_bits_ = static_cast<unsigned>(bridge.position_bits % 8);
      keep_window(output);
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
  try {
    const DeflateBlockHeader header = read_deflate_block_header(bits);
    final_ = header.final;
    if (header.type == DeflateBlockType::kStored) {
      part_ = Part::kStored;
      stored_left_ = header.stored_bytes;
    } else {
      build(litlen_, header.litlen_lengths(), kLitlenEntries);
      build(distance_, header.distance_lengths(), kDistanceEntries);
      part_ = Part::kTokens;
    }
  } catch (const DeflateInputEnds&) {
    return Stop::kInput;
  } catch (const DeflateDamage& damage) {
    return damaged(damage.what);
  }
  input.position_bits = bits.position_bits();
  return Stop::kNone;
}

// The bytes begin at one.
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

// Until the ends are near, the block ends, or a match reaches back before the output. What the next symbol is is looked up before a
// match is copied, so that the one does not wait for the other.
[[gnu::always_inline]] inline DeflateDecoder::Stop DeflateDecoder::restore_tokens_far_from_ends(
    Input& input, Output& output) {
  constexpr std::ptrdiff_t kNearInput = 24;  // three words are read ahead
  constexpr std::ptrdiff_t kNearOutput = 3 + 258 + 40;
  const std::byte* const input_end = input.bytes.data() + input.bytes.size();
  const std::byte* in = input.bytes.data() + input.position_bits / 8;
  if (input_end - in < kNearInput || output.end - output.at < kNearOutput) return Stop::kNone;
  const std::byte* const in_near = input_end - kNearInput;
  const std::byte* const out_near = output.end - kNearOutput;
  const std::uint32_t* const litlens = litlen_.entries.data();
  const std::uint32_t* const distances = distance_.entries.data();
  std::byte* out = output.at;
  std::uint64_t bits = 0;  // the next ones
  // How many of them are known to be there, in the lowest six bits; above them may stand some that are loaded again.
  std::uint32_t bit_count = 0;
  const auto refill = [&]() __attribute__((always_inline)) {
    bits |= load_word(in) << (bit_count & 63);
    in += ~bit_count >> 3 & 7;
    bit_count |= 56;
  };
  const auto take = [&](std::uint32_t entry) __attribute__((always_inline)) {
    bits >>= taken_bits(entry);
    bit_count -= entry;
  };
  const auto put = [&](std::uint32_t entry) __attribute__((always_inline)) {
    take(entry);
    *out++ = static_cast<std::byte>(payload(entry));
  };
  const auto next_litlen = [&]() __attribute__((always_inline)) {
    return litlens[low_bits(bits, litlen_.kBits)];
  };
  const auto leave = [&](Stop stop) __attribute__((always_inline)) {
    input.position_bits = static_cast<std::uint64_t>(in - input.bytes.data()) * 8 - (bit_count & 63);
    output.at = out;
    return stop;
  };
  refill();
  const auto first_bits = static_cast<unsigned>(input.position_bits % 8);
  bits >>= first_bits;
  bit_count -= first_bits;
  refill();
  std::uint32_t entry = next_litlen();

  while (in <= in_near && out <= out_near) {
    // Three literals have 33 bits at most, of which a table's first part tells.
    if ((entry & kLiteralFlag) != 0) {
      put(entry);
      entry = next_litlen();
      if ((entry & kLiteralFlag) != 0) {
        put(entry);
        entry = next_litlen();
        if ((entry & kLiteralFlag) != 0) {
          put(entry);
          refill();
          entry = next_litlen();
          continue;
        }
      }
      refill();
    }
    // From here on a token takes 48 bits at most: 15 and 5 extra ones, 15 and 13.
    if ((entry & kOtherFlag) != 0) {
      if ((entry & kSecondTableFlag) != 0) {
        take(entry);
        entry = litlens[payload(entry) + low_bits(bits, code_bits(entry))];
        if ((entry & kLiteralFlag) != 0) {
          put(entry);
          refill();
          entry = next_litlen();
          continue;
        }
      }
      if ((entry & kEndFlag) != 0) {
        take(entry);
        part_ = final_ ? Part::kEnd : Part::kBlockHeader;
        return leave(Stop::kNone);
      }
      if ((entry & kOtherFlag) != 0) {
        leave(Stop::kNone);
        return damaged(kNoLitlenCode);
      }
    }
    const std::uint32_t length = value_of(entry, bits);
    take(entry);
    entry = distances[low_bits(bits, distance_.kBits)];
    if ((entry & kOtherFlag) != 0) {
      if ((entry & kSecondTableFlag) != 0) {
        take(entry);
        entry = distances[payload(entry) + low_bits(bits, code_bits(entry))];
      }
      if ((entry & kOtherFlag) != 0) {
        leave(Stop::kNone);
        return damaged(kNoDistanceCode);
      }
    }
    const std::uint32_t distance = value_of(entry, bits);
    take(entry);
    const auto reached_bytes = static_cast<std::size_t>(out - output.begin);
    if (distance > reached_bytes) [[unlikely]] {
      if (distance > reached_bytes + before_.size()) {
        leave(Stop::kNone);
        return damaged(kDistanceTooFar);
      }
      leave(Stop::kNone);
      match_left_ = length;
      match_distance_ = distance;
      return restore_match(output);
    }
    refill();
    entry = next_litlen();
    copy_match(out, distance, length);
    out += length;
  }
  return leave(Stop::kNone);
}

#ifdef __x86_64__
// With the instructions that shift and mask without going through other registers: a tenth to a fifth faster.
[[gnu::target("bmi,bmi2")]] DeflateDecoder::Stop DeflateDecoder::restore_tokens_fast_bmi2(Input& input,
                                                                                          Output& output) {
  return restore_tokens_far_from_ends(input, output);
}
#endif

DeflateDecoder::Stop DeflateDecoder::restore_tokens_fast(Input& input, Output& output) {
#ifdef __x86_64__
  static const bool has_bmi2 = __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("bmi") != 0;
  if (has_bmi2) return restore_tokens_fast_bmi2(input, output);
#endif
  return restore_tokens_far_from_ends(input, output);
}

// One token, whatever there is of it.
DeflateDecoder::Stop DeflateDecoder::restore_token(Input& input, Output& output) {
  const std::size_t at = static_cast<std::size_t>(input.position_bits / 8);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(8, input.bytes.size() - at); ++i)
    bits |= static_cast<std::uint64_t>(input.bytes[at + i]) << 8 * i;
  bits >>= input.position_bits % 8;
  const auto left_bits = static_cast<unsigned>(std::min<std::uint64_t>(input.left_bits(), 57));
  unsigned token_bits = 0;
  std::uint32_t value = 0;
  // The next symbol's entry; its value with its extra bits. kInput where they are not all there.
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

// Of a match, as much as there is room for.
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
