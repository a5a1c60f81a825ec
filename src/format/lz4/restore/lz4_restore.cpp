#include "format/lz4/restore/lz4_restore.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "format/lz4/block/lz4_token.hpp"

namespace hemstitch {
namespace {

std::size_t between(const std::byte* from, const std::byte* to) {
  return static_cast<std::size_t>(to - from);
}

// How many bytes a copy in strides reads and writes beyond its end, at most.
constexpr std::size_t kStrideBytes = 32;
// If both counts of a sequence fit into its token, the literals are copied as 16 bytes, and the match as 18.
constexpr std::size_t kShortLiteralBytes = 16;
constexpr std::size_t kMostShortLiterals = kLz4NibbleMax - 1;
static_assert(kMostShortLiterals <= kShortLiteralBytes && kLz4LongestInToken == 18);
// A fast sequence begins at least so far from the end of the block that its token, such literals, its offset
// and a byte of its length can be read; and so far from the end of the output that such literals and such a
// match can be written.
constexpr std::size_t kInputMargin = 1 + kShortLiteralBytes + kLz4OffsetBytes + 1;
constexpr std::size_t kOutputMargin = kMostShortLiterals + kLz4LongestInToken;
static_assert(kLz4OffsetBytes + 1 <= kStrideBytes && kLz4LongestInToken <= kStrideBytes,
              "also behind literals that were copied in strides");

template <std::size_t kBytes>
[[gnu::always_inline]] inline void copy(std::byte* to, const std::byte* from) {
  std::byte bytes[kBytes];
  std::memcpy(bytes, from, kBytes);
  std::memcpy(to, bytes, kBytes);
}

[[gnu::always_inline]] inline std::size_t load_offset(const std::byte* bytes) {
  return static_cast<std::size_t>(bytes[0]) | static_cast<std::size_t>(bytes[1]) << 8;
}

// Copies `count` bytes, and up to kStrideBytes - 1 more.
[[gnu::always_inline]] inline void copy_literals(std::byte* to, const std::byte* from, std::size_t count) {
  std::byte* const end = to + count;
  do {
    copy<kStrideBytes>(to, from);
    to += kStrideBytes;
    from += kStrideBytes;
  } while (to < end);
}

// From this offset on, 8 bytes at a time are copied correctly: all 8 are there before the first is written.
constexpr std::size_t kLeastFarOffset = 8;

// By a period's bytes: the factor that repeats it over a word.
constexpr std::array<std::uint64_t, kLeastFarOffset> kRepeat = [] {
  std::array<std::uint64_t, kLeastFarOffset> factors{};
  for (std::size_t bytes = 1; bytes < factors.size(); ++bytes)
    for (std::size_t at = 0; at < 8; at += bytes) factors[bytes] |= std::uint64_t{1} << 8 * at;
  return factors;
}();

// kLz4LongestInToken bytes, for a match whose length fits its token.
[[gnu::always_inline]] inline void copy_short_match(std::byte* to, std::size_t far_offset) {
  copy<8>(to, to - far_offset);
  copy<8>(to + 8, to - far_offset + 8);
  copy<2>(to + 16, to - far_offset + 16);
}

// Like copy_literals(), but from content that was just restored: with a short offset, the bytes repeat with
// that period.
[[gnu::always_inline]] inline void copy_match(std::byte* to, std::size_t offset, std::size_t length) {
  const std::byte* from = to - offset;
  std::byte* const end = to + length;
  if (offset >= kStrideBytes / 2) {
    do {
      copy<16>(to, from);
      copy<16>(to + 16, from + 16);
      to += kStrideBytes;
      from += kStrideBytes;
    } while (to < end);
    return;
  }
  if (offset >= kLeastFarOffset) {
    do {
      copy<8>(to, from);
      copy<8>(to + 8, from + 8);
      to += 16;
      from += 16;
    } while (to < end);
    return;
  }
  // The period is repeated in a register, so that no byte waits for one that was just written.
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  word &= (std::uint64_t{1} << 8 * offset) - 1;
  word *= kRepeat[offset];
  const std::size_t step = sizeof word - sizeof word % offset;
  do {
    std::memcpy(to, &word, sizeof word);
    std::memcpy(to + step, &word, sizeof word);
    to += 2 * step;
  } while (to < end);
}

class Decoder {
 public:
  Decoder(std::span<const std::byte> block, std::span<const std::byte> history, std::span<std::byte> output)
      : in_(block.data()),
        in_end_(block.data() + block.size()),
        out_(output.data()),
        out_begin_(output.data()),
        out_end_(output.data() + output.size()),
        history_(history),
        reach_bytes_(history.data() + history.size() == output.data() ? history.size() : 0) {}

  DecodedBlock run() {
    for (;;) {
      restore_fast();
      if (const auto end = restore_sequence()) return *end;
    }
  }

 private:
  // Adds the bytes that follow a nibble of 15. False if the input ends first.
  static bool add_extension(const std::byte*& in, const std::byte* in_end, std::size_t& value) {
    std::uint32_t addend;
    do {
      if (in == in_end) return false;
      addend = static_cast<std::uint32_t>(*in++);
      value += addend;
    } while (addend == 255);
    return true;
  }

  // Restores sequences as long as they are valid and away from the ends. The compiler must assume that
  // writing bytes may change any object, so the loop reads only local variables.
  void restore_fast() {
    if (between(in_, in_end_) <= kInputMargin || between(out_, out_end_) <= kOutputMargin) return;
    const std::byte *in = in_, *const in_end = in_end_, *const last_in = in_end_ - kInputMargin;
    std::byte *out = out_, *const out_end = out_end_, *const last_out = out_end_ - kOutputMargin;
    const std::byte* const lowest = out_begin_ - reach_bytes_;
    while (in < last_in && out < last_out) {
      const std::byte* const begin = in;
      std::byte* const out_begin = out;
      const auto give_back = [&] {
        in_ = begin;
        out_ = out_begin;
      };
      const auto token = static_cast<std::uint32_t>(*in++);
      std::size_t literals = token >> 4;
      if (literals != kLz4NibbleMax) [[likely]] {
        copy<kShortLiteralBytes>(out, in);
      } else {
        const auto addend = static_cast<std::uint32_t>(*in++);
        literals += addend;
        if ((addend == 255 && !add_extension(in, in_end, literals)) ||
            between(in, in_end) < literals + kStrideBytes || between(out, out_end) < literals + kStrideBytes)
          return give_back();
        copy_literals(out, in, literals);
      }
      in += literals;
      out += literals;

      const std::size_t offset = load_offset(in);
      in += kLz4OffsetBytes;
      std::size_t length = token & kLz4NibbleMax;
      if (length != kLz4NibbleMax) [[likely]] {
        length += kLz4MinMatchBytes;
        if (offset >= kLeastFarOffset && offset <= between(lowest, out)) [[likely]] {
          copy_short_match(out, offset);
          out += length;
          continue;
        }
      } else {
        const auto addend = static_cast<std::uint32_t>(*in++);
        length += addend;
        if (addend == 255 && !add_extension(in, in_end, length)) return give_back();
        length += kLz4MinMatchBytes;
      }
      if (offset == 0 || offset > between(lowest, out) || between(out, out_end) < length + kStrideBytes)
        return give_back();
      copy_match(out, offset, length);
      out += length;
    }
    in_ = in;
    out_ = out;
  }

  // Restores the next sequence, whatever it is. Returns the result for the block if it ends here.
  std::optional<DecodedBlock> restore_sequence() {
    if (in_ == in_end_) return DecodedBlock{Status::kCorruptBlock, 0};
    const auto token = static_cast<std::uint32_t>(*in_++);
    std::size_t literals = token >> 4;
    if (literals == kLz4NibbleMax && !add_extension(in_, in_end_, literals))
      return DecodedBlock{Status::kCorruptBlock, 0};
    if (literals > between(in_, in_end_)) return DecodedBlock{Status::kCorruptBlock, 0};
    if (literals > between(out_, out_end_)) return DecodedBlock{Status::kOutputTooSmall, 0};
    // The last sequences of a page are a noticeable part of it, so they too are copied at fixed sizes if there is room.
    if (literals <= kShortLiteralBytes && between(in_, in_end_) >= kShortLiteralBytes &&
        between(out_, out_end_) >= kShortLiteralBytes)
      copy<kShortLiteralBytes>(out_, in_);
    else
      std::copy_n(in_, literals, out_);
    in_ += literals;
    out_ += literals;
    if (in_ == in_end_) return DecodedBlock{Status::kOk, between(out_begin_, out_)};

    if (between(in_, in_end_) < kLz4OffsetBytes) return DecodedBlock{Status::kCorruptBlock, 0};
    const std::size_t offset = load_offset(in_), written = between(out_begin_, out_);
    in_ += kLz4OffsetBytes;
    if (offset == 0 || offset > history_.size() + written) return DecodedBlock{Status::kCorruptBlock, 0};
    std::size_t length = token & kLz4NibbleMax;
    if (length == kLz4NibbleMax && !add_extension(in_, in_end_, length))
      return DecodedBlock{Status::kCorruptBlock, 0};
    length += kLz4MinMatchBytes;
    if (length > between(out_, out_end_)) return DecodedBlock{Status::kOutputTooSmall, 0};
    if (offset > written) {
      const auto before = history_.last(offset - written).first(std::min(length, offset - written));
      out_ = std::copy(before.begin(), before.end(), out_);
      length -= before.size();
    } else if (offset >= kLeastFarOffset && length <= kLz4LongestInToken &&
               between(out_, out_end_) >= kLz4LongestInToken) {
      copy_short_match(out_, offset);
      out_ += length;
      return std::nullopt;
    }
    if (const std::size_t room = between(out_, out_end_); length >= kStrideBytes && room > kStrideBytes) {
      const std::size_t count = std::min(length, room - kStrideBytes);
      copy_match(out_, offset, count);
      out_ += count;
      length -= count;
    }
    // Copies byte by byte: a match may repeat bytes that it has just written.
    for (; length > 0; --length, ++out_) *out_ = *(out_ - offset);
    return std::nullopt;
  }

  const std::byte* in_;
  const std::byte* const in_end_;
  std::byte* out_;
  std::byte* const out_begin_;
  std::byte* const out_end_;
  const std::span<const std::byte> history_;
  const std::size_t reach_bytes_;  // the history that is directly before the output
};

}  // namespace

DecodedBlock restore_lz4_block(std::span<const std::byte> block, std::span<const std::byte> history,
                               std::span<std::byte> output) {
  return Decoder(block, history, output).run();
}

}  // namespace hemstitch
