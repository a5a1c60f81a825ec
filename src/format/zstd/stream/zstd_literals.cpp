#include "format/zstd/stream/zstd_literals.hpp"

#include <algorithm>
#include <bit>

#include "format/zstd/restore/zstd_bits.hpp"
#include "format/zstd/stream/zstd_words.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kLiteralStreams = 4, kStreamSizesBytes = 6;
// So many bits of a word are the stream's after a refill; one is the mark.
constexpr unsigned kWordBits = 56;
constexpr std::ptrdiff_t kBytesOfTurn = 8;  // that a refill may go back, at most

// How many bits a stream has before its mark.
std::int64_t stream_bits(std::span<const std::byte> stream) {
  return static_cast<std::int64_t>(8 * stream.size()) -
         std::countl_zero(static_cast<std::uint8_t>(stream.back())) - 1;
}

// A stream within a turn. The next bits stand highest in the word; its lowest set bit tells how many were taken of it.
struct MarkedWord {
  const std::byte* at = nullptr;
  std::uint64_t bits = 0;

  [[gnu::always_inline]] void load(unsigned taken) { bits = (load_zstd_word(at) | 1) << taken; }
  unsigned taken() const { return static_cast<unsigned>(std::countr_zero(bits)); }
  [[gnu::always_inline]] void refill() {
    const unsigned count = taken();
    at -= count / 8;
    load(count % 8);
  }
};

}  // namespace

void ZstdLiteralsTable::make(const ZstdHuffman& table) {
  bits_ = table.most_bits;
  std::ranges::transform(table.entries, entries_.begin(), [](const ZstdHuffman::Entry& entry) {
    return static_cast<Entry>(entry.bits | entry.symbol << 8);
  });
}

// The end of a stream, or all of a short one, of which so many bits are left.
bool ZstdLiteralsTable::restore_rest(std::span<const std::byte> stream, std::int64_t left_bits,
                                     std::span<std::byte> to) const {
  for (std::byte& literal : to) {
    if (left_bits <= 0) return false;
    // The word that ends with the last whole byte of what is left: the next bits are 7 below its top at most.
    const auto whole = (left_bits + 7) / 8;
    const std::uint64_t word = load_zstd_word(stream.data() + whole - 8) << (8 * whole - left_bits);
    const Entry entry = entries_[word >> (64 - bits_)];
    literal = static_cast<std::byte>(entry >> 8);
    left_bits -= entry & 0xFF;
  }
  return left_bits == 0;
}

// Restores four streams as far as none is near its end; `count` is the least number of literals of one. Returns how
// many literals each gave, and sets how many bits each has left.
template <unsigned Lookups>
std::size_t ZstdLiteralsTable::restore_turns(const Streams& streams, std::size_t each, std::size_t count,
                                             std::byte* to, std::array<std::int64_t, 4>& left_bits) const {
  return with_fast_shifts([&]() __attribute__((always_inline)) {
    const unsigned shift = 64 - bits_;
    const Entry* const entries = entries_.data();
    std::array<MarkedWord, kLiteralStreams> words;
    for (std::size_t i = 0; i < kLiteralStreams; ++i) {
      words[i].at = streams[i].data() + streams[i].size() - 8;
      words[i].load(static_cast<unsigned>(8 * static_cast<std::int64_t>(streams[i].size()) - left_bits[i]));
      words[i].refill();
    }
    std::size_t done = 0;
    for (;;) {
      auto turns = static_cast<std::ptrdiff_t>((count - done) / Lookups);
      for (std::size_t i = 0; i < kLiteralStreams; ++i)
        turns = std::min(turns, (words[i].at - streams[i].data()) / kBytesOfTurn);
      if (turns <= 0) break;
      for (; turns > 0; --turns, done += Lookups) {
        std::byte* const here = to + done;
        for (unsigned lookup = 0; lookup < Lookups; ++lookup)
          for (std::size_t i = 0; i < kLiteralStreams; ++i) {
            const Entry entry = entries[words[i].bits >> shift];
            words[i].bits <<= entry & 63;
            here[i * each + lookup] = static_cast<std::byte>(entry >> 8);
          }
        for (MarkedWord& word : words) word.refill();
      }
    }
    for (std::size_t i = 0; i < kLiteralStreams; ++i)
      left_bits[i] = 8 * (words[i].at - streams[i].data()) + 64 - words[i].taken();
    return done;
  });
}

bool ZstdLiteralsTable::restore(std::span<const std::byte> data, bool four_streams,
                                std::span<std::byte> to) const {
  if (!four_streams) return ZstdWords::is_marked(data) && restore_rest(data, stream_bits(data), to);
  const std::size_t each = (to.size() + kLiteralStreams - 1) / kLiteralStreams;
  if (data.size() < kStreamSizesBytes || to.size() < kStreamSizesBytes ||
      (kLiteralStreams - 1) * each > to.size())
    return false;
  Streams streams;
  std::array<std::int64_t, kLiteralStreams> left_bits;
  std::span<const std::byte> rest = data.subspan(kStreamSizesBytes);
  for (std::size_t i = 0; i < kLiteralStreams; ++i) {
    const std::size_t bytes = i + 1 == kLiteralStreams ? rest.size() : zstd_number(data.subspan(2 * i, 2));
    if (bytes > rest.size() || !ZstdWords::is_marked(rest.first(bytes))) return false;
    streams[i] = rest.first(bytes);
    left_bits[i] = stream_bits(streams[i]);
    rest = rest.subspan(bytes);
  }
  const std::size_t last = to.size() - (kLiteralStreams - 1) * each;
  constexpr unsigned kUsualBits = 11;
  const std::size_t done =
      bits_ <= kUsualBits
          ? restore_turns<kWordBits / kUsualBits>(streams, each, last, to.data(), left_bits)
          : restore_turns<kWordBits / (kUsualBits + 1)>(streams, each, last, to.data(), left_bits);
  for (std::size_t i = 0; i < kLiteralStreams; ++i) {
    const std::size_t count = i + 1 == kLiteralStreams ? last : each;
    if (!restore_rest(streams[i], left_bits[i], to.subspan(i * each + done, count - done))) return false;
  }
  return true;
}

}  // namespace hemstitch
