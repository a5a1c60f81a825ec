// Streams of DEFLATE, block by block: codes are chosen first, then tokens of what these can say; and the wrappers around streams.
#include <algorithm>
#include <array>
#include <string>

#include "choices.hpp"
#include "format/checksum.hpp"
#include "format/deflate/block/deflate_codes.hpp"
#include "format/deflate/block/deflate_symbols.hpp"
#include "valid_data.hpp"
#include "writers.hpp"

namespace hemstitch::testing {
namespace {

struct PrefixCode {
  std::vector<std::uint8_t> lengths;
  std::vector<std::uint16_t> codes;  // turned, to be written from the lowest bit on
  std::vector<std::uint32_t> used;   // the symbols that have a code

  explicit PrefixCode(std::vector<std::uint8_t> of) : lengths(std::move(of)), codes(lengths.size()) {
    deflate_canonical_codes(lengths.data(), static_cast<std::uint32_t>(lengths.size()), codes.data());
    for (std::uint32_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol] != 0) used.push_back(symbol);
  }
  void put(BitWriter& to, std::uint32_t symbol) const { to.put(codes[symbol], lengths[symbol]); }
};

// A code of `count` of the symbols below `alphabet`, with all that are `needed`. One alone has one bit, which leaves a half unused.
PrefixCode random_code(Choices& choices, std::size_t alphabet, std::size_t count,
                       std::vector<std::size_t> needed, unsigned most_bits) {
  std::vector<std::uint8_t> lengths(alphabet);
  std::vector<bool> has(alphabet);
  for (const std::size_t symbol : needed) has[symbol] = true;
  while (needed.size() < count) {
    const std::size_t symbol = choices.below(alphabet);
    if (has[symbol]) continue;
    has[symbol] = true;
    needed.push_back(symbol);
  }
  std::vector<unsigned> made{1};
  if (count != 1) made = random_code_lengths(choices, count, most_bits);
  for (std::size_t i = needed.size(); i-- > 0;) {
    const std::size_t other = choices.below(i + 1);
    std::swap(needed[i], needed[other]);
    lengths[needed[i]] = static_cast<std::uint8_t>(made[i]);
  }
  return PrefixCode(std::move(lengths));
}

const PrefixCode& fixed_litlens() {
  static const PrefixCode code([] {
    std::vector<std::uint8_t> lengths(kDeflateFixedLitlenCount);
    for (std::uint32_t symbol = 0; symbol < lengths.size(); ++symbol)
      lengths[symbol] = static_cast<std::uint8_t>(deflate_fixed_litlen_bits(symbol));
    return lengths;
  }());
  return code;
}
const PrefixCode& fixed_distances() {
  static const PrefixCode code(std::vector<std::uint8_t>(
      kDeflateFixedDistanceCount, static_cast<std::uint8_t>(kDeflateFixedDistanceBits)));
  return code;
}

class DeflateGenerator {
 public:
  // `content` begins with what stands before the stream, `history_bytes` of it, to which matches may refer.
  DeflateGenerator(Choices& choices, Bytes& content, std::size_t history_bytes, std::size_t window_bytes,
                   std::size_t content_bytes)
      : choices_(choices),
        content_(content),
        begin_(content.size() - history_bytes),
        window_bytes_(window_bytes),
        left_(content_bytes) {}

  Bytes make() {
    const bool many = choices_.one_in(40);  // of little in each
    for (std::size_t blocks = many ? 300 : 1 + choices_.up_to(7); blocks > 0; --blocks) {
      const std::size_t most = many                 ? std::min<std::size_t>(left_, choices_.below(4))
                               : choices_.one_in(4) ? left_
                                                    : choices_.up_to(left_);
      const std::size_t before = content_.size();
      make_block(blocks == 1, most);
      left_ -= content_.size() - before;
    }
    // What follows the last code in its byte means nothing.
    put_padding();
    return bits_.bytes();
  }

 private:
  void put_padding() {
    const auto used = static_cast<unsigned>(bits_.bit_count() % 8);
    bits_.put(choices_.one_in(2) ? 0 : choices_.below(128), (8 - used) % 8);
  }

  void make_block(bool last, std::size_t most) {
    const std::size_t type = choices_.below(5);
    bits_.put(last ? 1 : 0, 1);
    if (type == 0) {
      bits_.put(static_cast<unsigned>(DeflateBlockType::kStored), 2);
      put_padding();
      const std::size_t bytes = choices_.up_to(std::min<std::size_t>(most, kDeflateMostStoredBytes));
      const Bytes content = choices_.bytes(bytes);
      bits_.put(bytes, 16);
      bits_.put(~bytes, 16);
      for (const std::byte byte : content) bits_.put(static_cast<unsigned>(byte), 8);
      append(content_, content);
    } else if (type == 1) {
      bits_.put(static_cast<unsigned>(DeflateBlockType::kFixed), 2);
      put_tokens(fixed_litlens(), fixed_distances(), most);
    } else {
      bits_.put(static_cast<unsigned>(DeflateBlockType::kDynamic), 2);
      const PrefixCode litlens =
          random_code(choices_, kDeflateLitlenCount, 1 + choices_.up_to(kDeflateLitlenCount - 1),
                      {kDeflateEndOfBlock}, kDeflateMaxCodeBits);
      const PrefixCode distances = random_code(
          choices_, kDeflateDistanceCount, choices_.up_to(kDeflateDistanceCount), {}, kDeflateMaxCodeBits);
      put_header(litlens, distances);
      put_tokens(litlens, distances, most);
    }
  }

  void put_header(const PrefixCode& litlens, const PrefixCode& distances) {
    // Zeros at the end of each list may be left out, all or some of them.
    const auto count_of = [&](const PrefixCode& code, std::size_t least) {
      const std::size_t used = code.used.empty() ? 0 : code.used.back() + std::size_t{1};
      return choices_.between(std::max(least, used), code.lengths.size());
    };
    const std::size_t litlen_count = count_of(litlens, kDeflateFirstLengthSymbol),
                      distance_count = count_of(distances, 1);
    std::vector<std::uint8_t> lengths(litlens.lengths.begin(),
                                      litlens.lengths.begin() + static_cast<std::ptrdiff_t>(litlen_count));
    lengths.insert(lengths.end(), distances.lengths.begin(),
                   distances.lengths.begin() + static_cast<std::ptrdiff_t>(distance_count));
    const std::vector<DeflateLengthItem> items = random_items(lengths);

    std::vector<std::size_t> needed;
    for (const DeflateLengthItem& item : items) needed.push_back(item.symbol);
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    // This code must be complete.
    const std::size_t count =
        choices_.between(std::max<std::size_t>(2, needed.size()), std::size_t{kDeflatePrecodeCount});
    const PrefixCode precode =
        random_code(choices_, kDeflatePrecodeCount, count, needed, kDeflateMaxPrecodeBits);
    std::size_t precode_count = kDeflatePrecodeCount;
    while (precode_count > 4 && precode.lengths[kDeflatePrecodeOrder[precode_count - 1]] == 0)
      --precode_count;
    precode_count = choices_.between(precode_count, kDeflatePrecodeCount);

    bits_.put(litlen_count - kDeflateFirstLengthSymbol, 5);
    bits_.put(distance_count - 1, 5);
    bits_.put(precode_count - 4, 4);
    for (std::size_t i = 0; i < precode_count; ++i) bits_.put(precode.lengths[kDeflatePrecodeOrder[i]], 3);
    for (const DeflateLengthItem& item : items) {
      precode.put(bits_, item.symbol);
      bits_.put(item.extra, deflate_item_extra_bits(item.symbol));
    }
  }

  // Repeats of any length that fits, across the border of the two lists too; zeros also as repeats of the one before.
  std::vector<DeflateLengthItem> random_items(const std::vector<std::uint8_t>& lengths) {
    std::vector<DeflateLengthItem> items;
    const bool alone = choices_.one_in(6);  // without repeats
    for (std::size_t at = 0; at < lengths.size();) {
      std::size_t run = 1;
      while (at + run < lengths.size() && lengths[at + run] == lengths[at]) ++run;
      const auto repeat = [&](std::uint32_t symbol, std::size_t least, std::size_t most) {
        const std::size_t some = choices_.between(least, std::min(most, run));
        items.push_back({static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(some - least)});
        at += some;
      };
      const bool zero = lengths[at] == 0;
      const std::size_t way = alone ? 3 : choices_.below(4);
      if (way == 0 && run >= 3 && at > 0 && lengths[at - 1] == lengths[at])
        repeat(kDeflateRepeatLast, 3, 6);
      else if (way <= 1 && zero && run >= 3)
        repeat(kDeflateRepeatZero, 3, 10);
      else if (way <= 2 && zero && run >= 11)
        repeat(kDeflateRepeatZeroLong, 11, 138);
      else
        items.push_back({lengths[at++], 0});
    }
    return items;
  }

  void put_tokens(const PrefixCode& litlens, const PrefixCode& distances, std::size_t most) {
    std::size_t tokens = choices_.one_in(8) ? 0 : choices_.one_in(8) ? most : choices_.up_to(600);
    for (; tokens > 0 && most > 0; --tokens) {
      // Of the symbols that have codes: any of them, or a length.
      std::uint32_t symbol = choices_.one_of(litlens.used);
      if (choices_.one_in(2) && litlens.used.back() > kDeflateEndOfBlock)
        symbol =
            litlens.used[litlens.used.size() - 1 -
                         choices_.below(static_cast<std::size_t>(
                             litlens.used.end() - std::upper_bound(litlens.used.begin(), litlens.used.end(),
                                                                   kDeflateEndOfBlock)))];
      if (symbol < kDeflateEndOfBlock) {
        litlens.put(bits_, symbol);
        content_.push_back(static_cast<std::byte>(symbol));
        --most;
      } else if (symbol > kDeflateEndOfBlock) {
        most -= put_match(litlens, distances, symbol, most);
      }
    }
    litlens.put(bits_, kDeflateEndOfBlock);
  }

  // Returns its length, or 0 where there is no room for it.
  std::size_t put_match(const PrefixCode& litlens, const PrefixCode& distances, std::uint32_t symbol,
                        std::size_t room) {
    if (symbol >= kDeflateLitlenCount || deflate_length_base(symbol) > room || distances.used.empty())
      return 0;
    const std::uint32_t distance_symbol = choices_.one_of(distances.used);
    const std::size_t most_distance = std::min(content_.size() - begin_, window_bytes_);
    if (distance_symbol >= kDeflateDistanceCount || deflate_distance_base(distance_symbol) > most_distance)
      return 0;
    // The last length but one can say the last one, too.
    const auto put_value = [&](const PrefixCode& code, std::uint32_t of, std::size_t base,
                               unsigned extra_bits, std::size_t most) {
      const std::size_t value =
          choices_.between(base, std::min(base + (std::size_t{1} << extra_bits) - 1, most));
      code.put(bits_, of);
      bits_.put(value - base, extra_bits);
      return value;
    };
    const std::size_t length =
        put_value(litlens, symbol, deflate_length_base(symbol), deflate_length_extra_bits(symbol), room);
    const std::size_t distance = put_value(distances, distance_symbol, deflate_distance_base(distance_symbol),
                                           deflate_distance_extra_bits(distance_symbol), most_distance);
    for (std::size_t i = 0; i < length; ++i) content_.push_back(content_[content_.size() - distance]);
    return length;
  }

  Choices& choices_;
  Bytes& content_;
  std::size_t begin_, window_bytes_, left_;
  BitWriter bits_;
};

std::size_t random_size(Choices& choices, std::size_t most) {
  return choices.one_in(4) ? most : choices.up_to(most);
}

// A stream without history, whose content is added to `content`.
Bytes stream_of(Choices& choices, Bytes& content, std::size_t most_content_bytes) {
  return DeflateGenerator(choices, content, 0, kDeflateWindowBytes, random_size(choices, most_content_bytes))
      .make();
}

// ---- gzip (RFC 1952) ----

Bytes random_name(Choices& choices) {
  Bytes name = choices.bytes(choices.up_to(300));
  std::erase(name, std::byte{0});
  name.push_back(std::byte{0});
  return name;
}

// `extra`: the subfields that there must be.
Bytes gzip_header(Choices& choices, const Bytes& extra) {
  enum Flags : unsigned { kText = 1, kChecksum = 2, kExtra = 4, kName = 8, kComment = 16 };
  auto flags = static_cast<unsigned>(choices.one_in(2) ? 0 : choices.below(32));
  if (!extra.empty()) flags |= kExtra;
  Bytes header;
  put_le(header, 0x08'8B1F, 3);
  put_le(header, flags, 1);
  put_le(header, choices.up_to(UINT32_MAX), 4);
  put_le(header, choices.below(1 << 16), 2);  // what the writer did, and its system
  if ((flags & kExtra) != 0) {
    Bytes fields = extra;
    const auto add = [&](bool first) {
      Bytes field = {static_cast<std::byte>('a' + choices.below(26)), std::byte{'x'}};
      const std::size_t bytes = choices.up_to(300);
      put_le(field, bytes, 2);
      append(field, choices.bytes(bytes));
      fields.insert(first ? fields.begin() : fields.end(), field.begin(), field.end());
    };
    for (std::size_t count = choices.up_to(3); count > 0; --count) add(choices.one_in(2));
    put_le(header, fields.size(), 2);
    append(header, fields);
  }
  if ((flags & kName) != 0) append(header, random_name(choices));
  if ((flags & kComment) != 0) append(header, random_name(choices));
  if ((flags & kChecksum) != 0) put_le(header, checksum_of(Checksum::kCrc32, header) & 0xFFFF, 2);
  return header;
}

Bytes gzip_trailer(std::span<const std::byte> content) {
  Bytes trailer;
  put_le(trailer, checksum_of(Checksum::kCrc32, content), 4);
  put_le(trailer, content.size(), 4);
  return trailer;
}

// The subfield that says how long the member is, which is known last.
Bytes bgzf_subfield(std::size_t member_bytes) {
  Bytes field = {std::byte{'B'}, std::byte{'C'}};
  put_le(field, 2, 2);
  put_le(field, member_bytes - 1, 2);
  return field;
}

}  // namespace

ValidData valid_deflate_stream(std::uint64_t seed, std::size_t most_content_bytes) {
  Choices choices(seed);
  ValidData made;
  if (choices.one_in(4)) made.dictionary = choices.bytes(1 + choices.up_to(kDeflateWindowBytes - 1));
  Bytes content = made.dictionary;
  made.data = DeflateGenerator(choices, content, made.dictionary.size(), kDeflateWindowBytes,
                               random_size(choices, most_content_bytes))
                  .make();
  made.content.assign(content.begin() + static_cast<std::ptrdiff_t>(made.dictionary.size()), content.end());
  return made;
}

ValidData valid_zlib_stream(std::uint64_t seed, std::size_t most_content_bytes) {
  constexpr unsigned kMostWindowLog = 15, kLeastWindowLog = 8;
  Choices choices(seed);
  ValidData made;
  const auto window_log = static_cast<unsigned>(choices.between(kLeastWindowLog, kMostWindowLog));
  const bool has_dictionary = choices.one_in(4);
  const std::size_t effort = choices.below(4);
  unsigned header = ((window_log - kLeastWindowLog) << 4 | 8) << 8 | static_cast<unsigned>(effort) << 6 |
                    (has_dictionary ? 1U << 5 : 0U);
  header += 31 - header % 31;
  put_le(made.data, header >> 8, 1);
  put_le(made.data, header & 0xFF, 1);
  const auto put_adler = [&](std::span<const std::byte> bytes) {
    const std::uint32_t sum = checksum_of(Checksum::kAdler32, bytes);
    for (unsigned shift = 32; shift > 0; shift -= 8) put_le(made.data, sum >> (shift - 8) & 0xFF, 1);
  };
  if (has_dictionary) {
    made.dictionary = choices.bytes(1 + choices.up_to(40'000));
    put_adler(made.dictionary);
  }
  Bytes content = made.dictionary;
  append(made.data, DeflateGenerator(choices, content, made.dictionary.size(), std::size_t{1} << window_log,
                                     random_size(choices, most_content_bytes))
                        .make());
  made.content.assign(content.begin() + static_cast<std::ptrdiff_t>(made.dictionary.size()), content.end());
  put_adler(made.content);
  return made;
}

ValidData valid_gzip_file(std::uint64_t seed, std::size_t most_content_bytes) {
  Choices choices(seed);
  ValidData made;
  const bool many = choices.one_in(20);  // small ones
  for (std::size_t members = many ? 100 : 1 + choices.up_to(5); members > 0; --members) {
    Bytes content;
    const std::size_t left = most_content_bytes - made.content.size();
    const std::size_t most = many ? std::min<std::size_t>(left, choices.below(20)) : left;
    append(made.data, gzip_header(choices, {}));
    append(made.data, stream_of(choices, content, most));
    append(made.data, gzip_trailer(content));
    append(made.content, content);
  }
  return made;
}

ValidData valid_bgzf_file(std::uint64_t seed, std::size_t most_content_bytes) {
  constexpr std::size_t kMostMemberBytes = 1 << 16;
  Choices choices(seed);
  ValidData made;
  for (std::size_t members = choices.up_to(8); members > 0; --members) {
    Bytes content;
    const std::size_t left = most_content_bytes - made.content.size();
    const Bytes stream = stream_of(choices, content, std::min(left, kMostMemberBytes));
    const Choices before = choices;
    const std::size_t bytes = gzip_header(choices, bgzf_subfield(1)).size() + stream.size() + 8;
    if (bytes > kMostMemberBytes) continue;
    choices = before;  // the same header again, with the size
    append(made.data, gzip_header(choices, bgzf_subfield(bytes)));
    append(made.data, stream);
    append(made.data, gzip_trailer(content));
    append(made.content, content);
  }
  constexpr unsigned char kEnd[] = {31, 139, 8,  4, 0, 0, 0, 0, 0, 255, 6, 0, 66, 67,
                                    2,  0,   27, 0, 3, 0, 0, 0, 0, 0,   0, 0, 0,  0};
  append(made.data, std::as_bytes(std::span(kEnd)));
  return made;
}

}  // namespace hemstitch::testing
