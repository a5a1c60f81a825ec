#include "format/deflate/block/deflate_walk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/bytes.hpp"
#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {
namespace {

constexpr unsigned kLitlenTableBits = 11;
constexpr unsigned kDistanceTableBits = 9;
constexpr unsigned kRefilledBits = 56;
static_assert(kDeflateMaxCodeBits + 5 + kDeflateMaxCodeBits + 13 <= kRefilledBits,
              "a length and its distance need one refill");

// Reads the data from its lowest bit on, and zeros after its end. position() counts these zeros too.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> data) : data_(data) {}

  // After this, word() has at least kRefilledBits bits. False once the position is far beyond the end.
  bool refill() {
    // A load may add bits above those that are counted; the next load adds them again.
    if (data_.size() - at_ < sizeof(word_)) return refill_at_end();
    word_ |= load_le64(data_.data() + at_) << count_;
    at_ += (63 - count_) / 8;
    count_ |= kRefilledBits;
    return true;
  }
  std::uint64_t word() const { return word_; }
  void skip(unsigned bits) {
    word_ >>= bits;
    count_ -= bits;
  }
  std::uint32_t take(unsigned bits) {
    const auto value = static_cast<std::uint32_t>(word_ & ((std::uint64_t{1} << bits) - 1));
    skip(bits);
    return value;
  }
  std::uint64_t position() const { return (at_ + beyond_) * 8 - count_; }
  bool is_behind_end() const { return position() > std::uint64_t{data_.size()} * 8; }

  // Skips whole bytes, from the next byte boundary on. False if there are too few.
  bool skip_bytes(std::size_t bytes) {
    const std::uint64_t begin = position() / 8;
    if (is_behind_end() || bytes > data_.size() - begin) return false;
    at_ = static_cast<std::size_t>(begin) + bytes;
    word_ = beyond_ = count_ = 0;
    return true;
  }

 private:
  bool refill_at_end() {
    for (; count_ < kRefilledBits; count_ += 8) {
      if (at_ < data_.size())
        word_ |= static_cast<std::uint64_t>(data_[at_++]) << count_;
      else
        ++beyond_;
    }
    return beyond_ <= 2 * sizeof(word_);
  }

  std::span<const std::byte> data_;
  std::size_t at_ = 0;
  std::uint64_t word_ = 0, beyond_ = 0;
  unsigned count_ = 0;
};

struct Symbol {
  std::uint16_t value = 0;
  std::uint16_t bits = 0;  // length of its code; 0: no code begins with these bits
};

// A canonical Huffman code (RFC 1951, section 3.2.2). A table decodes short codes.
template <unsigned kTableBits>
class Code {
 public:
  // False if a code cannot have so many words of these lengths. If the code is incomplete, some bits decode
  // to no symbol.
  bool build(std::span<const std::uint8_t> lengths) {
    counts_.fill(0);
    for (const std::uint8_t length : lengths) ++counts_[length];
    counts_[0] = 0;
    std::array<std::uint32_t, kDeflateMaxCodeBits + 2> next{};
    std::uint32_t code = 0, place = 0;
    for (unsigned bits = 1; bits <= kDeflateMaxCodeBits; ++bits) {
      code = (code + counts_[bits - 1]) << 1;
      if (code + counts_[bits] > 1u << bits) return false;
      first_codes_[bits] = next[bits] = code;
      first_places_[bits] = place;
      place += counts_[bits];
    }
    table_.fill({});
    for (std::uint32_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (const std::uint16_t bits = lengths[symbol]; bits != 0)
        enter({static_cast<std::uint16_t>(symbol), bits}, next[bits]++);
    return true;
  }

  Symbol in_table(std::uint64_t word) const { return table_[word & ((1u << kTableBits) - 1)]; }
  Symbol of(std::uint64_t word) const {
    const Symbol symbol = in_table(word);
    return symbol.bits != 0 ? symbol : longer(word);
  }

 private:
  void enter(Symbol symbol, std::uint32_t code) {
    symbols_[first_places_[symbol.bits] + code - first_codes_[symbol.bits]] = symbol.value;
    if (symbol.bits > kTableBits) return;
    std::uint32_t reversed = 0;
    for (unsigned bit = 0; bit < symbol.bits; ++bit) reversed |= (code >> bit & 1) << (symbol.bits - 1 - bit);
    for (std::uint32_t i = reversed; i < table_.size(); i += 1u << symbol.bits) table_[i] = symbol;
  }

  Symbol longer(std::uint64_t word) const {
    std::uint32_t code = 0;
    for (std::uint16_t bits = 1; bits <= kDeflateMaxCodeBits; ++bits, word >>= 1) {
      code = code << 1 | static_cast<std::uint32_t>(word & 1);
      if (code - first_codes_[bits] < counts_[bits])
        return {symbols_[first_places_[bits] + code - first_codes_[bits]], bits};
    }
    return {};
  }

  std::array<std::uint32_t, kDeflateMaxCodeBits + 1> counts_{}, first_codes_{}, first_places_{};
  std::array<std::uint16_t, kDeflateFixedLitlenCount> symbols_{};  // in the order of their codes
  std::array<Symbol, 1u << kTableBits> table_{};
};

// What the next bits decode to: literals, then perhaps a length. It is all in one word, since every step
// waits for it.
//   bits 0-4    how many bits the codes take, with the extra bits of the length
//   bits 5-9    how many bits the codes take
//   bits 10-19  how many bytes: the literals, and the length without its extra bits
//   bit 20      there is a length
//   bit 21      no symbol, or one that does not fit this: the end, a long code
constexpr std::uint32_t kHasLength = 1u << 20;
constexpr std::uint32_t kOther = 1u << 21;

class Walker {
 public:
  explicit Walker(std::span<const std::byte> data) : in_(data) {}

  std::optional<DeflateWalk> walk() {
    DeflateWalk walk;
    for (bool is_last = false; !is_last;) {
      in_.refill();
      walk.last_block_bit = in_.position();
      is_last = in_.take(1) != 0;
      if (!walk_block(static_cast<DeflateBlockType>(in_.take(2))) || in_.is_behind_end()) return std::nullopt;
    }
    walk.end_bit = in_.position();
    walk.content_bytes = content_bytes_;
    return walk;
  }

 private:
  bool walk_block(DeflateBlockType type) {
    switch (type) {
      case DeflateBlockType::kStored:
        return walk_stored();
      case DeflateBlockType::kFixed:
        return use_fixed_codes() && walk_symbols();
      case DeflateBlockType::kDynamic:
        return read_codes() && walk_symbols();
      case DeflateBlockType::kReserved:
        break;
    }
    return false;
  }

  bool walk_stored() {
    in_.skip(static_cast<unsigned>(-in_.position() & 7));
    const std::uint32_t bytes = in_.take(16), complement = in_.take(16);
    if ((bytes ^ complement) != 0xFFFF) return false;
    content_bytes_ += bytes;
    return in_.skip_bytes(bytes);
  }

  bool use_fixed_codes() {
    std::array<std::uint8_t, kDeflateFixedLitlenCount> litlen{};
    for (std::uint32_t symbol = 0; symbol < litlen.size(); ++symbol)
      litlen[symbol] = static_cast<std::uint8_t>(deflate_fixed_litlen_bits(symbol));
    std::array<std::uint8_t, kDeflateFixedDistanceCount> distance{};
    distance.fill(kDeflateFixedDistanceBits);
    return use_codes(litlen, distance);
  }

  // Reads the codes of a dynamic block (RFC 1951, section 3.2.7).
  bool read_codes() {
    in_.refill();
    const std::uint32_t litlen_count = in_.take(5) + 257, distance_count = in_.take(5) + 1;
    const std::uint32_t precode_count = in_.take(4) + 4;
    if (litlen_count > kDeflateLitlenCount || distance_count > kDeflateDistanceCount) return false;
    std::array<std::uint8_t, kDeflatePrecodeCount> precode_lengths{};
    for (std::uint32_t i = 0; i < precode_count; ++i) {
      in_.refill();
      precode_lengths[kDeflatePrecodeOrder[i]] = static_cast<std::uint8_t>(in_.take(3));
    }
    Code<kDeflateMaxPrecodeBits> precode;
    if (!precode.build(precode_lengths)) return false;

    std::array<std::uint8_t, kDeflateLitlenCount + kDeflateDistanceCount> lengths{};
    const std::uint32_t count = litlen_count + distance_count;
    for (std::uint32_t at = 0; at < count;) {
      in_.refill();
      const Symbol symbol = precode.of(in_.word());
      if (symbol.bits == 0) return false;
      in_.skip(symbol.bits);
      std::uint32_t repeated = 1;
      std::uint8_t length = 0;
      if (symbol.value < kDeflateRepeatLast) {
        length = static_cast<std::uint8_t>(symbol.value);
      } else if (symbol.value == kDeflateRepeatLast) {
        if (at == 0) return false;
        length = lengths[at - 1];
        repeated = 3 + in_.take(2);
      } else {
        repeated = symbol.value == kDeflateRepeatZero ? 3 + in_.take(3) : 11 + in_.take(7);
      }
      if (repeated > count - at) return false;
      std::fill_n(lengths.begin() + at, repeated, length);
      at += repeated;
    }
    const std::span<const std::uint8_t> all(lengths);
    return use_codes(all.first(litlen_count), all.subspan(litlen_count, distance_count));
  }

  bool use_codes(std::span<const std::uint8_t> litlen, std::span<const std::uint8_t> distance) {
    if (!litlen_.build(litlen) || !distance_.build(distance)) return false;
    for (std::uint32_t word = 0; word < steps_.size(); ++word) steps_[word] = step_of(word);
    for (std::uint32_t word = 0; word < distance_steps_.size(); ++word) {
      const Symbol symbol = distance_.in_table(word);
      const bool is_known = symbol.bits != 0 && symbol.value < kDeflateDistanceCount;
      distance_steps_[word] =
          static_cast<std::uint8_t>(is_known ? symbol.bits + deflate_distance_extra_bits(symbol.value) : 0);
    }
    return true;
  }

  // Decodes as many symbols as are certain to lie in the word.
  std::uint32_t step_of(std::uint32_t word) const {
    unsigned bits = 0;
    std::uint32_t bytes = 0;
    for (;;) {
      const Symbol symbol = litlen_.in_table(word >> bits);
      const bool is_whole = symbol.bits != 0 && bits + symbol.bits <= kLitlenTableBits;
      if (is_whole && symbol.value < kDeflateEndOfBlock) {
        bits += symbol.bits;
        ++bytes;
        continue;
      }
      if (is_whole && symbol.value >= kDeflateFirstLengthSymbol && symbol.value < kDeflateLitlenCount) {
        bits += symbol.bits;
        return (bits + deflate_length_extra_bits(symbol.value)) | bits << 5 |
               (bytes + deflate_length_base(symbol.value)) << 10 | kHasLength;
      }
      return bits == 0 ? kOther : bits | bits << 5 | bytes << 10;
    }
  }

  bool walk_symbols() {
    BitReader in = in_;  // a copy, so that it stays in registers
    std::uint64_t content_bytes = 0;
    while (in.refill()) {
      const std::uint64_t word = in.word();
      const std::uint32_t step = steps_[word & (steps_.size() - 1)];
      if ((step & kOther) != 0) {
        const Symbol symbol = litlen_.of(word);
        if (symbol.bits == 0 || symbol.value >= kDeflateLitlenCount) return false;
        in.skip(symbol.bits);
        if (symbol.value == kDeflateEndOfBlock) {
          in_ = in;
          content_bytes_ += content_bytes;
          return true;
        }
        content_bytes += content_of(symbol.value, in);
        if (symbol.value > kDeflateEndOfBlock && !walk_distance(in)) return false;
        continue;
      }
      const unsigned bits = step & 31, code_bits = step >> 5 & 31;
      const std::uint64_t extra = (word & ((std::uint64_t{1} << bits) - 1)) >> code_bits;
      content_bytes += (step >> 10 & 1023) + extra;
      in.skip(bits);
      if ((step & kHasLength) != 0 && !walk_distance(in)) return false;
    }
    return false;
  }

  static std::uint32_t content_of(std::uint32_t symbol, BitReader& in) {
    if (symbol < kDeflateEndOfBlock) return 1;
    return deflate_length_base(symbol) + in.take(deflate_length_extra_bits(symbol));
  }

  bool walk_distance(BitReader& in) const {
    if (const unsigned bits = distance_steps_[in.word() & (distance_steps_.size() - 1)]; bits != 0) {
      in.skip(bits);
      return true;
    }
    const Symbol symbol = distance_.of(in.word());
    if (symbol.bits == 0 || symbol.value >= kDeflateDistanceCount) return false;
    in.skip(symbol.bits + deflate_distance_extra_bits(symbol.value));
    return true;
  }

  BitReader in_;
  std::uint64_t content_bytes_ = 0;
  Code<kLitlenTableBits> litlen_;
  Code<kDistanceTableBits> distance_;
  std::array<std::uint32_t, 1u << kLitlenTableBits> steps_{};
  std::array<std::uint8_t, 1u << kDistanceTableBits> distance_steps_{};
};

}  // namespace

std::optional<DeflateWalk> walk_deflate(std::span<const std::byte> data) { return Walker(data).walk(); }

}  // namespace hemstitch
