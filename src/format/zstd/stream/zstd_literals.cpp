#include "format/zstd/stream/zstd_literals.hpp"

#include <algorithm>
#include <cstring>

#include "format/zstd/restore/zstd_bits.hpp"
#include "format/zstd/stream/zstd_words.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kLiteralStreams = 4, kStreamSizesBytes = 6;
constexpr unsigned kLookups = 4;  // of 12 bits at most, from the 57 bits of a word
constexpr std::ptrdiff_t kBytesOfLookups = 7;

}  // namespace

struct ZstdLiteralsTable::Stream {
  ZstdWords words;
  std::byte* to = nullptr;
  std::byte* end = nullptr;
};

void ZstdLiteralsTable::make(const ZstdHuffman& table, bool pairs) {
  bits_ = table.most_bits;
  std::ranges::copy(table.entries, singles_.begin());
  const std::size_t size = std::size_t{1} << bits_;
  for (std::size_t i = 0; i < size; ++i) {
    const ZstdHuffman::Entry first = singles_[i];
    const ZstdHuffman::Entry second = singles_[i << first.bits & (size - 1)];
    Entry entry = first.bits | 1U << 8 | static_cast<Entry>(first.symbol) << 16;
    if (pairs && first.bits + second.bits <= static_cast<int>(bits_))
      entry = static_cast<Entry>(first.bits + second.bits) | 2U << 8 |
              static_cast<Entry>(first.symbol) << 16 | static_cast<Entry>(second.symbol) << 24;
    entries_[i] = entry;
  }
}

template <std::size_t Count>
bool ZstdLiteralsTable::restore_streams(std::array<Stream, Count>& streams) const {
  return with_fast_shifts([&]() __attribute__((always_inline)) {
    const unsigned bits = bits_;
    const Entry* const entries = entries_.data();
    std::array<Stream, Count> in = streams;
    for (;;) {
      // So often, no stream ends before its turn is over.
      std::ptrdiff_t turns = INT32_MAX;
      for (const Stream& stream : in)
        turns = std::min({turns, stream.words.bytes_before() / kBytesOfLookups,
                          (stream.end - stream.to) / std::ptrdiff_t{2 * kLookups}});
      if (turns <= 0) break;
      for (; turns > 0; --turns) {
        for (unsigned i = 0; i < kLookups; ++i)
          for (Stream& stream : in) {
            const Entry entry = entries[stream.words.peek(bits)];
            const auto symbols = static_cast<std::uint16_t>(entry >> 16);
            std::memcpy(stream.to, &symbols, sizeof symbols);
            stream.words.skip(entry & 0xFF);
            stream.to += entry >> 8 & 0xFF;
          }
        for (Stream& stream : in) stream.words.refill();
      }
    }
    for (Stream& stream : in) {
      while (stream.to < stream.end && stream.words.left() > 0) {
        const ZstdHuffman::Entry entry = singles_[stream.words.peek(bits)];
        *stream.to++ = static_cast<std::byte>(entry.symbol);
        stream.words.skip(entry.bits);
        stream.words.refill();
      }
      if (stream.to != stream.end || stream.words.left() != 0) return false;
    }
    return true;
  });
}

bool ZstdLiteralsTable::restore(std::span<const std::byte> data, bool four_streams,
                                std::span<std::byte> to) const {
  if (!four_streams) {
    if (!ZstdWords::is_marked(data)) return false;
    std::array<Stream, 1> streams{{{ZstdWords(data), to.data(), to.data() + to.size()}}};
    return restore_streams(streams);
  }
  const std::size_t each = (to.size() + kLiteralStreams - 1) / kLiteralStreams;
  if (data.size() < kStreamSizesBytes || to.size() < kStreamSizesBytes ||
      (kLiteralStreams - 1) * each > to.size())
    return false;
  std::array<Stream, kLiteralStreams> streams;
  std::span<const std::byte> rest = data.subspan(kStreamSizesBytes);
  for (std::size_t i = 0; i < kLiteralStreams; ++i) {
    const bool last = i + 1 == kLiteralStreams;
    const std::size_t bytes = last ? rest.size() : zstd_number(data.subspan(2 * i, 2));
    const std::size_t count = last ? to.size() : each;
    if (bytes > rest.size() || !ZstdWords::is_marked(rest.first(bytes))) return false;
    streams[i] = {ZstdWords(rest.first(bytes)), to.data(), to.data() + count};
    rest = rest.subspan(bytes);
    to = to.subspan(count);
  }
  return restore_streams(streams);
}

}  // namespace hemstitch
